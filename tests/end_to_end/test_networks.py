"""A real daemon on a network that changes, behind a login page, and behind a proxy with certificates of its own."""

import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.app import TICK_SECONDS
from daemon.intake.ingest_thread import SCAN_SECONDS
from jobs.queue.policy import PAGE_SECONDS
from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.fakes.intercepting_proxy import InterceptingProxy, intercepting_proxy
from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server

pytestmark = pytest.mark.usefixtures("uncounted")

HOST = "api.example.org"

BUSY_SECONDS = 8.0
"""What a busy machine may add. It is less than what would be waited without that which is tested."""


def one_session(home: Home, name: str = "s1") -> None:
    home.exchange(name, 0)
    home.end(name)


def batches_once(home: Home) -> int:
    assert home.api is not None
    count = Counter((packet, number) for packet, number, _ in home.api.accepted_batches())
    assert not count or max(count.values()) == 1
    return len(count)


def problem(home: Home, code: str) -> str:
    return next((each["message"] + each["remedy"] for each in home.status()["problems"] if each["code"] == code), "")


@pytest.fixture
def network(hosted: Home) -> Path:
    """Give the file that says on which network the daemon is."""
    return on_a_network(hosted)


def on_a_network(home: Home) -> Path:
    path = home.root / "network"
    path.write_text("192.168.1.20")
    home.program = [sys.executable, str(Path(__file__).with_name("other_network.py")), str(path)]
    return path


def move(network: Path, address: str) -> None:
    part = network.with_suffix(".part")
    part.write_text(address)
    part.replace(network)


def test_behind_a_login_page_nothing_is_taken_for_success_and_the_next_network_is_tried_at_once(
    hosted: Home, network: Path
) -> None:
    """Every request meets a page with 200. It is told for what it is, no attempt is used up, and on another network the
    work goes on before the wait for this one is over."""
    api = hosted.api
    assert api is not None
    api.always("add", behave.html())
    hosted.start()
    one_session(hosted)
    hosted.until(lambda: "login page" in problem(hosted, "not-understood"), "no problem told")
    api.always("add", None)
    move(network, "10.0.0.7")
    hosted.until(lambda: batches_once(hosted) == 1 and hosted.is_quiet(), "not delivered")
    before, then = api.requests("add")[-2:]
    assert then.at - before.at < PAGE_SECONDS
    hosted.until(lambda: not problem(hosted, "not-understood") + problem(hosted, "offline"), "it is told still")
    assert all(job["attempts"] == 0 for job in hosted.client.get("/jobs")["jobs"])


def test_after_a_login_on_the_same_network_the_work_goes_on_within_two_scans(hosted: Home) -> None:
    """A page with 200 for everything. It got one request with the key and was then asked a small question without one,
    a scan later; when it is gone what waits is delivered, each once and without an attempt used up."""
    api = hosted.api
    assert api is not None
    hosted.environ["MEMSYNCD_QUEUE_WORKERS"] = "1"
    api.always("*", behave.html())
    hosted.start()
    for number in range(3):
        one_session(hosted, f"s{number}")
    hosted.until(lambda: "Log in to the network" in problem(hosted, "login-page"), "no problem told")
    first, second = api.requests()
    assert api.with_key() == [first]
    assert [second.body, second.at - first.at >= SCAN_SECONDS] == [b"", True]
    api.always("*", None)
    logged_in = time.monotonic()
    hosted.until(lambda: batches_once(hosted) == 3 and hosted.is_quiet(), "not delivered")
    assert time.monotonic() - logged_in < 2 * SCAN_SECONDS + BUSY_SECONDS
    hosted.until(lambda: not problem(hosted, "login-page") + problem(hosted, "not-understood"), "it is told still")
    assert all(job["attempts"] == 0 for job in hosted.client.get("/jobs")["jobs"])


def test_a_call_that_was_in_the_air_when_the_laptop_moved_is_given_up_at_once(home: Home) -> None:
    """A server of one's own took the request, and its answer has no way back: nobody waits for the two minutes that it
    may take. It is looked for before anything is sent again, and no attempt is used up."""
    network = on_a_network(home)
    with FakeMem0Server() as server:
        home.environ |= {"MEMSYNCD_PLATFORM_KIND": "mem0-server", "MEM0_API_URL": server.url}
        home.environ |= {"MEM0_API_KEY": SERVER_KEY}
        server.script("add", behave.commit_and_answer_late(math.inf))
        home.start()
        one_session(home)
        server.wait_for(lambda fake: len(fake.requests("add")) == 1, 60)
        moved = time.monotonic()
        move(network, "10.0.0.7")
        home.until(lambda: server.requests("list") and home.is_quiet(), "not looked for")
        assert time.monotonic() - moved < 2 * SCAN_SECONDS + BUSY_SECONDS
        assert [len(server.requests("add")), len(server.accepted_batches())] == [1, 1]
        home.until(lambda: not list((home.spool() / "pending").iterdir()), "the handoff was kept")
        assert all(job["attempts"] == 0 for job in home.client.get("/jobs")["jobs"])


def test_a_laptop_that_comes_back_to_a_network_delivers_within_two_rounds(hosted: Home, network: Path) -> None:
    """Hours without one have made the waits between two tries long; what came meanwhile goes, each once."""
    api = hosted.api
    assert api is not None
    hosted.start()
    api.refuse_connections()
    move(network, "")
    for number in range(3):
        one_session(hosted, f"s{number}")
    hosted.until(lambda: problem(hosted, "offline"), "no problem told")
    hosted.until(lambda: failures(hosted) >= 3, "the waits did not grow")  # the next is 20 s
    api.accept_connections()
    moved = time.monotonic()
    move(network, "192.168.1.20")
    hosted.until(lambda: batches_once(hosted) == 3 and hosted.is_quiet(), "not delivered")
    assert time.monotonic() - moved < 2 * TICK_SECONDS + BUSY_SECONDS
    hosted.until(lambda: not problem(hosted, "not-understood") + problem(hosted, "offline"), "it is told still")


def failures(home: Home) -> int:
    return max((int(each["failures"]) for each in home.status()["destinations"]), default=0)


@pytest.fixture
def proxied(hosted: Home) -> Iterator[tuple[Home, InterceptingProxy]]:
    assert hosted.api is not None
    hosted.environ |= {"MEM0_API_URL": f"https://{HOST}"}
    hosted.environ.pop("NO_PROXY", None)
    directory = hosted.root / "proxy"
    directory.mkdir()
    try:
        with intercepting_proxy(directory, HOST, hosted.api.port) as proxy:
            yield hosted, proxy
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs an openssl command that makes certificates")


@pytest.mark.parametrize("way", ["settings", "environment"])
def test_a_proxy_with_certificates_of_its_own(proxied: tuple[Home, InterceptingProxy], way: str) -> None:
    """Without its authority the certificate is named, and not the network; with it everything is delivered through the
    proxy, and what waited is sent once."""
    home, proxy = proxied
    home.environ["HTTPS_PROXY"] = proxy.url
    home.start()
    one_session(home)
    home.until(lambda: f"the certificate of {HOST} is not trusted" in problem(home, "offline"), "not told")
    assert "http.ca_file" in problem(home, "offline")
    home.stop()
    assert batches_once(home) == 0
    if way == "settings":
        del home.environ["HTTPS_PROXY"]
        settings = f'[http]\nproxy = "{proxy.url}"\nca_file = "{proxy.authority}"\n'
        home.places.config_file.write_text(settings)
    else:
        home.environ["SSL_CERT_FILE"] = str(proxy.authority)
    home.start()
    home.until(lambda: batches_once(home) == 1 and home.is_quiet(), "not delivered")
    assert set(proxy.asked) == {f"CONNECT {HOST}:443 HTTP/1.1"}
    home.until(lambda: not problem(home, "offline"), "it is told still")
