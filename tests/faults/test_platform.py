"""A platform that hangs, crawls, lies, cuts, storms, redirects or answers people; certificates and names that are wrong."""

import time
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.faults.names import NAME, OwnNames, TlsFront, certificate
from tests.faults.seen import session, until_delivered, until_told, until_well


@pytest.fixture
def impatient(hosted: Home) -> Home:
    """Give a home whose destinations cool for a second."""
    hosted.environ["MEMSYNCD_PLATFORM_MAX_COOLDOWN_SECONDS"] = "1"
    return hosted


@pytest.mark.parametrize(
    ("trouble", "code", "words"),
    [
        (behave.hang(), "offline", "did not answer in time"),
        (behave.drip(0.4), "offline", "did not answer in time"),
        (behave.cut(), "offline", "broke before the whole answer"),
        (behave.busy(429), "busy", "429"),
        (behave.answer(200, {"status": "fine"}), "not-understood", "platform.url"),
        (behave.html(), "login-page", "login page"),
        (behave.redirect("/elsewhere"), "login-page", "platform.url"),
    ],
    ids=["hangs", "crawls", "cuts", "storms", "lies", "shows a page", "redirects"],
)
def test_a_platform_that(impatient: Home, trouble: behave.Behaviour, code: str, words: str) -> None:
    """It is told by its kind with what to do, and capture goes on; nothing is given up for it, and all is delivered
    once, soon after the platform is well."""
    home, api = impatient, impatient.api
    assert api is not None
    home.start()
    session(home, "before")
    until_delivered(home, "before")
    api.always("*", trouble)
    session(home, "waits")
    until_told(home, code, words)
    home.until(lambda: not any((home.spool() / "pending").glob("*.json")), "capture does not go on")
    api.always("*", None)
    until_delivered(home, "before", "waits")
    until_well(home, code)
    assert home.status()["jobs"]["dead"] == 0


def test_a_storm_is_not_answered_by_one(impatient: Home) -> None:
    """429 for all and everything: ten sessions wait, and one question a second goes out, not ten."""
    home, api = impatient, impatient.api
    assert api is not None
    home.start()
    api.always("*", behave.busy(429))
    for number in range(10):
        session(home, f"s{number}")
    began, asked = time.monotonic(), len(api.requests())
    until_told(home, "busy")
    home.until(lambda: len(api.requests()) > asked + 2, "nobody asks any more")
    assert len(api.requests()) - asked <= 3 + 2 * (time.monotonic() - began)
    api.always("*", None)
    until_delivered(home, *(f"s{number}" for number in range(10)))


def test_names_that_are_not_known(impatient: Home) -> None:
    """No name server: it says that it is the name, not the platform; with the name it goes on at the next probe."""
    home, api = impatient, impatient.api
    assert api is not None
    names = OwnNames(home)
    names.know(NAME)
    home.environ["MEM0_API_URL"] = f"http://{NAME}:{api.port}"
    home.start()
    session(home, "before")
    until_delivered(home, "before")
    names.forget()
    api.refuse_connections()
    session(home, "waits")
    until_told(home, "offline", f"the address of {NAME} is not known")
    api.accept_connections()
    names.know(NAME)
    until_delivered(home, "before", "waits")
    until_well(home, "offline")


def test_a_certificate_of_another_name(impatient: Home, tmp_path: Path) -> None:
    """Nothing is sent to whoever shows it, not even the key; it is called by its name, and the right one is taken."""
    home, api = impatient, impatient.api
    assert api is not None
    OwnNames(home).know(NAME)
    right, wrong = certificate(tmp_path, NAME), certificate(tmp_path, "other.example.test")
    (tmp_path / "both").write_bytes(right.read_bytes() + wrong.read_bytes())
    home.environ["MEMSYNCD_HTTP_CA_FILE"] = str(tmp_path / "both")
    with TlsFront(api.port, wrong) as front:
        home.environ["MEM0_API_URL"] = f"https://{NAME}:{front.port}"
        home.start()
        session(home, "waits")
        until_told(home, "offline", f"the certificate of {NAME} is not trusted", "http.ca_file")
        assert api.requests() == []
        front.show(right)
        until_delivered(home, "waits")
        until_well(home, "offline")
        home.stop()  # before the server goes, which would leave open what is only being opened
