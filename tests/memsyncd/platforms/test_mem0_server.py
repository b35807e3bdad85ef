"""What is the self-hosted server's own, beyond the conformance suite: against its fake, over real sockets."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.mem0_server import MAX_ADD_SECONDS, Mem0ServerPlatform
from memsyncd.platforms.platform import Accepted, Busy, Found, KeyRefused, NotUnderstood, PlatformError, Rejected
from memsyncd.platforms.transport import HttpSettings
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_server import FakeMem0Server
from tests.memsyncd.platforms.grounds import (
    BATCH,
    QUERY,
    SHORT_SECONDS,
    STATEMENT,
    Key,
    Remote,
    find,
    packet,
    self_hosted,
    texts,
)


@pytest.fixture
def server() -> Iterator[Remote]:
    with self_hosted() as ready:
        yield ready


def test_an_add_is_confirmed_by_its_answer(server: Remote) -> None:
    """There is no event to ask for, so nothing is asked; the same once more is a success with nothing new."""
    assert server.platform.add(BATCH) == Accepted("", finished=True, memories=1)
    assert server.platform.add(BATCH) == Accepted("", finished=True, memories=0)
    assert list(server.platform.extractions()) == []
    assert [request.path for request in server.fake.requests()] == ["/memories", "/memories"]


@pytest.mark.parametrize(
    ("results", "memories"),
    [
        ([], 0),
        ([{"id": "m", "memory": "x", "event": "ADD"}, {"id": "n", "memory": "y", "event": "UPDATE"}], 2),
        ([{"id": "m", "memory": "x", "event": "NONE"}, {"id": "n", "memory": "y", "event": "DELETE"}], 0),
        ([{"id": "m", "memory": "x"}], 1),
    ],
)
def test_counts_what_was_made(server: Remote, results: list[dict[str, str]], memories: int) -> None:
    """What was looked at and left, or deleted, is no memory made."""
    server.fake.script("add", behave.answer(200, {"results": results}))
    assert server.platform.add(BATCH) == Accepted("", finished=True, memories=memories)


@pytest.mark.parametrize("answer", [{"event_id": "e", "status": "PENDING"}, {"results": None}, {"results": ["x"]}, []])
def test_an_answer_without_results_is_not_understood(server: Remote, answer: object) -> None:
    """Such as another kind of server's: it is neither success nor a failed attempt of the batch."""
    server.fake.script("add", behave.answer(200, answer))
    with pytest.raises(NotUnderstood):
        server.platform.add(BATCH)


def test_an_add_may_take_as_long_as_an_extraction() -> None:
    """A language model runs inside it; a question gets no longer for that."""
    with self_hosted(SHORT_SECONDS, extraction_seconds=60.0) as server:
        assert isinstance(server.fake, FakeMem0Server)
        server.fake.add_seconds = SHORT_SECONDS + 0.4
        assert server.platform.add(BATCH).memories == 1
        server.fake.always("delete", behave.hang())
        began = time.monotonic()
        with pytest.raises(PlatformError):
            server.platform.delete("mem-1")
        assert time.monotonic() - began < SHORT_SECONDS + 15.0


def test_no_add_takes_for_ever() -> None:
    """A day's wait for extractions is no day on one connection."""
    platform = Mem0ServerPlatform("http://127.0.0.1:1", Key(""), HttpSettings(), Clock(), extraction_seconds=86_400)
    assert platform._add_seconds == MAX_ADD_SECONDS
    platform.close()


def test_a_key_is_sent_in_the_servers_own_header_if_there_is_one(server: Remote) -> None:
    """A server without authentication is asked without; one with it refuses that."""
    server.platform.ping()
    server.key.key = ""
    with pytest.raises(KeyRefused):
        server.platform.ping()
    assert isinstance(server.fake, FakeMem0Server)
    server.fake.keys = None
    server.platform.ping()
    assert [request.headers.get("x-api-key") for request in server.fake.requests()] == ["given", None, None]


def test_a_key_source_that_fails_is_no_missing_key(server: Remote) -> None:
    """Nothing goes out without the key that was to be there, nor with one that no header can carry."""

    class Broken:
        def current(self) -> str:
            raise OSError("no such file")

    for source in (Broken(), Key("two\nlines")):
        platform = Mem0ServerPlatform(server.fake.url, source, HttpSettings(), Clock())
        with pytest.raises(KeyRefused):
            platform.ping()
        platform.close()
    assert server.fake.requests() == []


def test_no_path_ends_in_a_slash(server: Remote) -> None:
    """Also where the address in the settings does, and below a path."""
    for address in (f"{server.fake.url}/", f"{server.fake.url}/memory/"):
        platform = Mem0ServerPlatform(address, server.key, HttpSettings(), Clock())
        for call in (lambda: platform.add(BATCH), platform.ping, lambda: platform.delete("m")):  # noqa: B023  (called here)
            with contextlib.suppress(NotUnderstood):  # of the path below which the fake has nothing
                call()
        platform.close()
    paths = [request.path for request in server.fake.requests()]
    assert paths == ["/memories", "/memories", "/memories/m", *["/memory/memories"] * 2, "/memory/memories/m"]


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_of_another_kind_is_no_fault_of_the_batch(server: Remote, status: int) -> None:
    """A missing route cools the destination and says what to look at; no batch is given up for it."""
    server.fake.always("*", behave.answer(status, {"detail": "Not Found"}))
    for call in (lambda: server.platform.add(BATCH), lambda: server.platform.search(QUERY), server.platform.ping):
        with pytest.raises(NotUnderstood, match=r"platform\.url"):
            call()


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("provider_auth_failed", Busy, "own key"),
        ("provider_rate_limited", Busy, "slow down"),
        ("provider_timeout", Busy, "in time"),
        ("provider_unavailable", Busy, "language model"),
        ("datastore_unavailable", Busy, "database"),
        ("vector_store_unavailable", Busy, "vector store"),
        ("unknown", Busy, "busy"),
        (["odd"], Busy, "busy"),
        ("provider_bad_request", Rejected, "refused it"),
    ],
)
def test_trouble_behind_the_server_is_told(
    server: Remote, code: object, error: type[PlatformError], words: str
) -> None:
    """A 502 says what failed; only a request that the model itself refuses is that batch's own fault. In each case some
    of it may be stored, so it is looked for first."""
    body = {"detail": "upstream said no", "code": code, "request_id": "r-1"}
    server.fake.script("add", behave.answer(502, body, {"Retry-After": "9"}))
    with pytest.raises(error, match=words) as raised:
        server.platform.add(BATCH)
    assert "upstream said no" in raised.value.message
    assert raised.value.may_have_arrived
    assert raised.value.retry_after == (9.0 if error is Busy else None)


def test_a_batch_is_found_among_more_memories_than_a_listing_has(server: Remote) -> None:
    """Where the listing is cut, the packet's metadata finds it, however little it is like anything."""
    server.platform.add(BATCH)
    others = {"results": [{"id": f"m-{n}", "memory": "x", "metadata": {}} for n in range(1000)]}
    server.fake.always("list", behave.answer(200, others))
    assert find(server.platform) == Found(memories=1)
    assert find(server.platform, name="p-2") is None
    assert find(server.platform, number=1) is None


def test_a_store_that_takes_no_such_filters_leaves_the_listing(server: Remote) -> None:
    """Its refusal of the second question is no answer about the batch, and no fault of it."""
    server.fake.always("search", behave.reject(400, "unsupported filter"))
    assert find(server.platform) is None
    server.platform.add(BATCH)
    assert find(server.platform) == Found(memories=1)
    server.fake.always("list", behave.busy(503))
    with pytest.raises(Busy):
        find(server.platform)


def test_lanes_are_asked_one_by_one_and_joined(server: Remote) -> None:
    """One memory in two lanes is found once; if a lane fails, the whole question does."""
    server.platform.add(BATCH)
    server.platform.add(replace(packet("p-2"), user_id="bob", agent_id="shop-old"))
    query = replace(QUERY, agent_ids=["shop-1a2b", "shop-old"])
    assert texts(server.platform.search(query)) == [STATEMENT, STATEMENT]
    assert len(server.fake.requests("search")) == 3
    server.fake.script("search", behave.NORMAL, behave.busy(503))
    with pytest.raises(Busy):
        server.platform.search(query)


def test_names_with_blanks_are_ids_too(server: Remote) -> None:
    """A person's or a folder's name may have some, which the server refuses inside an id."""
    batch = replace(BATCH, user_id=" Ada King ", agent_id="local-my shop-1a2b")
    server.platform.add(batch)
    query = replace(QUERY, user_id="Ada King", agent_ids=["local-my shop-1a2b"])
    assert texts(server.platform.search(query)) == [STATEMENT]
    assert server.platform.find("p-1", 0, user_id="Ada King", app_id="shop") == Found(memories=1)
    assert server.fake.commits()[0]["user_id"] == "Ada%20King"
