"""Who may ask the page anything."""

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.status_socket.http_message import Request
from daemon.ui.guard import WINDOW_SECONDS, WRONG_TOKENS, Guard, Secrets, Verdict
from tests.clocks import HandClock

PORT = 40_123
HOST = {"host": f"127.0.0.1:{PORT}"}
PAGE = "/place/"
COOKIE = {"cookie": f"memsyncd-{PORT}=cookie"}
BROWSER = {**HOST, **COOKIE, "sec-fetch-site": "same-origin"}
ACTING = {**BROWSER, "origin": f"http://127.0.0.1:{PORT}", "memsyncd-token": "acting"}


def guard(hands: HandClock | None = None) -> Guard:
    texts = iter(("token", "cookie", "place", "acting"))
    return Guard(Secrets.made(lambda: next(texts)), PORT, (hands or HandClock()).clock().monotonic)


def enter(given: str, headers: Mapping[str, str] = HOST, method: str = "GET") -> Request:
    return Request(method, "/", f"token={given}", headers=headers)


def test_the_token_is_good_once_and_brings_the_cookie() -> None:
    """For the page's own paths, out of scripts' reach, and never sent along from elsewhere."""
    one = guard()
    assert one.verdict(enter("token")) is Verdict.ENTER
    assert one.cookie == f"memsyncd-{PORT}=cookie; Path=/place/; HttpOnly; SameSite=Strict"
    assert one.verdict(enter("token")) is Verdict.REFUSED
    assert one.used_again == 1


@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        (Request("GET", PAGE, headers=BROWSER), Verdict.PAGE),
        (Request("GET", f"{PAGE}api/jobs", headers={**HOST, **COOKIE}), Verdict.PAGE),
        (Request("GET", PAGE, headers={**BROWSER, "sec-fetch-site": "none"}), Verdict.PAGE),
        (Request("GET", f"{PAGE}api/jobs", headers={**BROWSER, "sec-fetch-site": "none"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "sec-fetch-site": "cross-site"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "sec-fetch-site": "same-site"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "origin": "http://127.0.0.1:1"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "origin": "null"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "host": f"localhost:{PORT}"}), Verdict.PAGE),
        (Request("GET", PAGE, headers={**BROWSER, "host": f"[::1]:{PORT}"}), Verdict.PAGE),
        (Request("GET", PAGE, headers={**BROWSER, "host": f"evil.example:{PORT}"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**BROWSER, "host": "127.0.0.1"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers=HOST), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**HOST, "cookie": f"memsyncd-{PORT}=wrong"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**HOST, "cookie": "memsyncd-1=cookie"}), Verdict.REFUSED),
        (Request("GET", PAGE, headers={**HOST, "cookie": f"a=b; memsyncd-{PORT}=cookie"}), Verdict.PAGE),
        (Request("GET", "/elsewhere/", headers=BROWSER), Verdict.REFUSED),
        (Request("GET", "http://127.0.0.1/place/", headers=BROWSER), Verdict.REFUSED),
        (Request("POST", f"{PAGE}api/forget", headers=ACTING), Verdict.PAGE),
        (Request("POST", f"{PAGE}api/forget", headers=BROWSER), Verdict.REFUSED),
        (Request("POST", f"{PAGE}api/forget", headers={**ACTING, "memsyncd-token": "cookie"}), Verdict.REFUSED),
        (Request("POST", f"{PAGE}api/forget", headers={**ACTING, "origin": "http://localhost:1"}), Verdict.REFUSED),
        (
            Request("POST", f"{PAGE}api/forget", headers={k: v for k, v in ACTING.items() if k != "origin"}),
            Verdict.REFUSED,
        ),
        (Request("POST", f"{PAGE}api/forget", headers={**ACTING, "sec-fetch-site": "none"}), Verdict.REFUSED),
        (Request("OPTIONS", f"{PAGE}api/forget", headers=BROWSER), Verdict.REFUSED),
    ],
)
def test_every_sign_of_another_site_refuses_by_itself(request_: Request, verdict: Verdict) -> None:
    """Name, origin, cookie, path and token: each is enough to keep somebody out."""
    one = guard()
    assert one.verdict(enter("token")) is Verdict.ENTER
    assert one.verdict(request_) is verdict


@pytest.mark.parametrize(
    "request_",
    [
        enter("token", {**HOST, "sec-purpose": "prefetch"}),
        enter("token", {**HOST, "purpose": "prefetch"}),
        enter("token", {**HOST, "x-purpose": "preview"}),
        enter("token", {**HOST, "x-moz": "prefetch"}),
        enter("token", {**HOST, "sec-fetch-site": "cross-site"}),
        enter("token", {"host": f"evil.example:{PORT}"}),
        enter("token", method="HEAD"),
        enter("token", {**HOST, "origin": "http://evil.example"}, method="POST"),
        enter(""),
        Request("GET", "/", headers=HOST),
    ],
)
def test_the_token_is_used_up_by_its_reader_alone(request_: Request) -> None:
    """Not by what a browser fetches ahead, nor by another site that sends it."""
    one = guard()
    assert one.verdict(request_) is Verdict.REFUSED
    assert one.verdict(enter("token")) is Verdict.ENTER


def test_wrong_tokens_are_looked_at_a_few_times_a_minute() -> None:
    """The right one is good again afterwards, for it was not looked at either."""
    hands = HandClock()
    one = guard(hands)
    for _ in range(WRONG_TOKENS):
        assert one.verdict(enter("guess")) is Verdict.REFUSED
    assert one.verdict(enter("token")) is Verdict.TOO_MANY
    hands.move(WINDOW_SECONDS)
    assert one.verdict(enter("token")) is Verdict.ENTER


@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE"]),
    path=st.sampled_from(["/", PAGE, "/place", "/place/../", "//place/", "/%70lace/", "/Place/"])
    | st.text(max_size=20),
    headers=st.dictionaries(
        st.sampled_from(["host", "origin", "cookie", "sec-fetch-site", "memsyncd-token"]),
        st.sampled_from(
            [HOST["host"], f"http://{HOST['host']}", "none", "same-origin", f"memsyncd-{PORT}=", "acting", "é"]
        )
        | st.text(max_size=20),
    ),
)
def test_nobody_without_token_or_cookie_gets_in(method: str, path: str, headers: dict[str, str]) -> None:
    """Whatever else they know."""
    assert guard().verdict(Request(method, path, "token=guess", headers=headers)) is Verdict.REFUSED


def test_the_four_secrets_are_four() -> None:
    """Who learns one has no other."""
    numbers = itertools.count()
    made = Secrets.made(lambda: str(next(numbers)))
    assert len({made.token, made.cookie, made.place, made.acting}) == 4
