"""A real daemon that delivers to a Mem0 server of one's own."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server


@pytest.fixture
def server() -> Iterator[FakeMem0Server]:
    with FakeMem0Server() as fake:
        yield fake


@pytest.fixture
def own(home: Home, server: FakeMem0Server) -> Home:
    """Give a home on that server, its cooldowns a second long, where the only requests are those of deliveries."""
    home.environ |= {
        "MEMSYNCD_PLATFORM_KIND": "mem0-server",
        "MEM0_API_URL": server.url,
        "MEM0_API_KEY": SERVER_KEY,
        "MEMSYNCD_PLATFORM_MAX_COOLDOWN_SECONDS": "1",
        "MEMSYNCD_RETRY_FIRST_DELAY_SECONDS": "0.1",
        "MEMSYNCD_RECALL_ENABLED": "false",
    }
    return home


def one_session(home: Home, name: str = "s1") -> None:
    home.exchange(name, 0, prompt="Which package manager does the web client use?", answer="It uses pnpm.")
    home.end(name)


def delivered_once(server: FakeMem0Server, batches: int = 1) -> bool:
    count = Counter((packet, number) for packet, number, _ in server.accepted_batches())
    assert not count or max(count.values()) == 1
    return len(count) == batches


def test_a_session_is_delivered_confirmed_and_found(own: Home, server: FakeMem0Server) -> None:
    """The answer to the add is the confirmation: no question follows, and a search finds the memory."""
    own.start()
    one_session(own)
    own.until(lambda: delivered_once(server) and own.is_quiet(), "not delivered")
    own.until(lambda: not list((own.spool() / "pending").iterdir()), "the handoff was kept")
    own.until(lambda: not own.status()["problems"], "something is wrong")
    status = own.status()
    assert (status["platform"]["kind"], status["platform"]["url"]) == ("mem0-server", server.url)
    assert status["platform"]["ok"] is True
    assert {server.route_of(request)[0] for request in server.requests()} == {"add"}
    asked = {"query": "package manager of the web client", "cwd": str(own.project)}
    found = own.client.post("/search", asked)
    assert (found["succeeded"], found["source"]) == (True, "mem0-server")
    assert [memory["memory"] for memory in found["memories"]] == ["Which package manager does the web client use?"]


def test_after_a_lost_answer_a_batch_is_looked_for_before_it_is_sent_again(own: Home, server: FakeMem0Server) -> None:
    """One that the server stored, though nobody heard of it, is found by its metadata and not sent twice; one that
    never arrived is sent again after the look, which is in both places."""
    server.script("add", behave.commit_and_cut())
    own.start()
    one_session(own)
    own.until(lambda: delivered_once(server) and own.is_quiet(), "not delivered")
    own.until(lambda: not list((own.spool() / "pending").iterdir()), "the handoff was kept")
    assert len(server.requests("add")) == 1
    assert server.requests("list")
    before = [len(server.requests(route)) for route in ("add", "list", "search")]
    server.script("add", behave.cut())
    one_session(own, "s2")
    own.until(lambda: delivered_once(server, 2) and own.is_quiet(), "not delivered")
    after = [len(server.requests(route)) for route in ("add", "list", "search")]
    assert [now - then for now, then in zip(after, before, strict=True)] == [2, 1, 1]


def test_a_server_without_authentication_needs_no_key(own: Home, server: FakeMem0Server) -> None:
    """Nothing is sent in the key's place, and nothing is told as missing."""
    server.keys = None
    del own.environ["MEM0_API_KEY"]
    own.start()
    one_session(own)
    own.until(lambda: delivered_once(server) and own.is_quiet(), "not delivered")
    own.until(lambda: not own.status()["problems"], "something is wrong")
    assert all("x-api-key" not in request.headers for request in server.requests())


def test_without_an_address_the_daemon_does_not_start(own: Home) -> None:
    """It says what to set, and services do not start it again."""
    del own.environ["MEM0_API_URL"]
    done = own.run("run", "--once")
    assert done.returncode == 78
    assert "platform.url" in done.stderr
