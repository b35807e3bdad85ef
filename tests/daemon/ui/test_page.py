"""The page over HTTP: what its visitor gets, and that nobody else gets anything."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.daemon.ui.served import Served, Visitor


@pytest.fixture
def served() -> Iterator[Served]:
    running = Served()
    yield running
    running.stop()


@pytest.fixture
def visitor(served: Served) -> Visitor:
    return Visitor(served)


def test_the_link_opens_the_page_once(served: Served) -> None:
    """The second to use it gets nothing, and the terminal tells of it."""
    Visitor(served)
    status, headers, body = served.ask("GET", f"/?token={served.token}")
    assert (status, body) == (403, b"")
    assert "set-cookie" not in headers and "location" not in headers
    served.serving.tell_of_tokens()
    assert "good once" in served.told[0]


@pytest.mark.parametrize(
    ("headers", "host"),
    [
        ({}, ""),
        ({"Cookie": "memsyncd-1=x"}, ""),
        ({"Origin": "https://evil.example"}, ""),
        ({"Sec-Fetch-Site": "cross-site"}, ""),
        ({}, "evil.example"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/?token=guess", "/api/overview", "/index.html", "/page.js"])
def test_whoever_has_no_token_gets_an_empty_403(
    served: Served, method: str, path: str, headers: dict[str, str], host: str
) -> None:
    """By every method, at every path; not even the name of what is here."""
    if path == "/?token=guess" and method != "GET":
        return
    status, answered, body = served.ask(method, path, headers, host=host)
    assert status in (403, 429)
    assert body == b""
    assert not {"access-control-allow-origin", "server", "set-cookie", "memsyncd-protocol"} & answered.keys()


@pytest.mark.parametrize(
    ("headers", "host"),
    [
        ({"Origin": "https://evil.example"}, ""),
        ({"Origin": "null"}, ""),
        ({"Sec-Fetch-Site": "cross-site"}, ""),
        ({"Sec-Fetch-Site": "same-site"}, ""),
        ({"Cookie": ""}, ""),
        ({}, "evil.example"),
        ({}, "127.0.0.1"),
    ],
)
def test_the_cookie_alone_does_not_open_it_for_another_site(
    visitor: Visitor, headers: dict[str, str], host: str
) -> None:
    """Neither under another name nor from another origin."""
    for name in ("", "page.js", "api/overview"):
        status, _, body = visitor.served.ask("GET", visitor.root + name, {**visitor.headers, **headers}, host=host)
        assert (status, body) == (403, b"")


def test_a_call_that_acts_needs_the_pages_own_token(visitor: Visitor) -> None:
    """And nothing is done without it."""
    for more in ({"Memsyncd-Token": ""}, {"Memsyncd-Token": "x" * 43}, {"Origin": "http://localhost:1"}):
        status, _, body = visitor.post("api/discard", b'{"id": "x"}', **more)
        assert (status, body) == (403, b"")
    assert visitor.served.answers.asked == []
    assert visitor.post("api/discard", b'{"id": "x"}')[0] == 200
    assert visitor.served.answers.asked == [("discard", "x")]


def test_everything_is_private_to_the_page(visitor: Visitor) -> None:
    """Nothing is kept, framed, sniffed or loaded from elsewhere, and no script stands in the page itself."""
    for name in ("", "page.js", "style.css", "icon.svg", "api/overview"):
        status, headers, _ = visitor.get(name)
        assert (status, headers["cache-control"], headers["x-content-type-options"]) == (200, "no-store", "nosniff")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    page = visitor.get("")[2].decode()
    assert "<script>" not in page and "style=" not in page and "://" not in page.replace('href="icon.svg"', "")
    assert "{{TOKEN}}" not in page and len(visitor.acting) == 43
    assert "SameSite=Strict" in visitor.set_cookie and "HttpOnly" in visitor.set_cookie
    assert f"Path={visitor.root}" in visitor.set_cookie


@pytest.mark.parametrize(
    "name",
    [
        "../page.py",
        "..%2fpage.py",
        "static/page.js",
        "./page.js",
        "/etc/passwd",
        "page.js%00",
        "index.html",
        "api/",
        "api/../page.js",
        "api/nothing",
        "api",
    ],
)
def test_no_path_leads_anywhere_else(visitor: Visitor, name: str) -> None:
    """What is not in the table is not there."""
    status, _, body = visitor.get(name)
    assert (status, body) == (404, b"")


@pytest.mark.parametrize(
    ("method", "name"), [("POST", ""), ("POST", "api/overview"), ("PUT", "api/forget"), ("DELETE", "page.js")]
)
def test_a_method_that_is_not_meant_is_not_there(visitor: Visitor, method: str, name: str) -> None:
    """Also for the visitor."""
    acting = {"Origin": f"http://127.0.0.1:{visitor.served.port}", "Memsyncd-Token": visitor.acting}
    assert visitor.served.ask(method, visitor.root + name, {**visitor.headers, **acting}, b"")[0] == 404


@pytest.mark.parametrize(
    ("name", "body", "more", "status"),
    [
        ("api/forget", b'{"memory": "m", "yes": true}', {}, 200),
        ("api/forget", b'{"cwd": "/w", "yes": true}', {}, 400),
        ("api/forget", b"[]", {}, 400),
        ("api/forget", b"{", {}, 400),
        ("api/pin", b'{"namespace": "n", "key": "k", "value": "v"}', {}, 200),
        ("api/pin", b'{"namespace": "n"}', {"Content-Type": "text/plain"}, 415),
        ("api/search", b'{"query": "x", "top_k": 20}', {}, 200),
        ("api/retry", b'{"id": ""}', {}, 400),
        ("api/retry", b'{"id": 5}', {}, 400),
        ("api/retry", b'{"id": "a/b"}', {}, 200),
    ],
)
def test_what_the_page_asks_for_is_checked(
    visitor: Visitor, name: str, body: bytes, more: dict[str, str], status: int
) -> None:
    """A body of the right kind with what the call knows, and no more; never a whole project's forgetting."""
    answered, _, said = visitor.post(name, body, **more)
    assert answered == status
    assert (status == 200) == (visitor.served.answers.asked != [])
    assert json.loads(said)


def test_what_the_daemon_refuses_is_told_as_a_sentence(visitor: Visitor) -> None:
    """With the status it calls for."""
    status, _, body = visitor.get("api/namespaces")
    assert (status, json.loads(body)) == (503, {"error": "The daemon is not running."})
    assert visitor.get("api/history?minutes=1441")[0] == 400
    assert visitor.get("api/jobs?state=lost")[0] == 400
    assert json.loads(visitor.get("api/jobs?state=dead")[2]) == {"state": "dead"}


def test_what_is_too_large_is_not_taken(visitor: Visitor) -> None:
    """Neither a body nor a header."""
    assert visitor.post("api/pin", b'{"value": "' + b"x" * 1_100_000 + b'"}')[0] == 413
    assert visitor.get("", **{"X-Long": "y" * 40_000})[0] == 431
    assert visitor.served.answers.asked == []


def test_after_a_few_wrong_tokens_none_is_looked_at(served: Served) -> None:
    """And the terminal is told."""
    answers = [served.ask("GET", f"/?token=guess{number}") for number in range(6)]
    assert [status for status, _, _ in answers] == [403] * 5 + [429]
    assert all(body == b"" for _, _, body in answers)
    assert served.ask("GET", f"/?token={served.token}")[0] == 429
    served.serving.tell_of_tokens()
    assert "wrong tokens" in served.told[0]


def test_it_is_on_loopback_alone(served: Served) -> None:
    """On both of its addresses, at one port, so that nobody else can answer under `localhost`."""
    addresses = {listener.getsockname()[0] for listener in served.serving.listeners}
    assert addresses <= {"127.0.0.1", "::1"} and "127.0.0.1" in addresses
    assert {listener.getsockname()[1] for listener in served.serving.listeners} == {served.port}


def test_a_connection_too_many_is_closed(served: Served) -> None:
    """And those that are open are served on."""
    held = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
    try:
        held[-1].settimeout(60)
        assert held[-1].recv(1) == b""
    finally:
        for each in held:
            each.close()
