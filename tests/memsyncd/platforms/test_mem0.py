"""Mem0Platform against the fake of the hosted API, over real sockets."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms import http_client
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.network import Network
from memsyncd.platforms.platform import (
    Accepted,
    Batch,
    Busy,
    Cancelled,
    ExtractionState,
    Found,
    KeyRefused,
    Message,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    Query,
    QuotaExceeded,
    Rejected,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY, FakeMem0

BATCH = Batch(
    packet_id="p-1",
    number=0,
    messages=[Message("user", "Releases are cut from main only"), Message("assistant", "Noted.")],
    user_id="ana",
    app_id="shop",
    agent_id="shop-1a2b",
    run_id="session-1",
    metadata={"memsyncd_packet": "p-1", "memsyncd_batch": 0, "dirs": ["billing", "billing/src"]},
)


Connect = Callable[..., Mem0Platform]


class Key:
    """A key source whose key can be changed."""

    def __init__(self, key: str = KEY) -> None:
        self.key = key

    def current(self) -> str:
        return self.key


@pytest.fixture
def fake() -> Iterator[FakeMem0]:
    with FakeMem0() as running:
        yield running


@pytest.fixture
def connect(fake: FakeMem0) -> Iterator[Connect]:
    opened: list[Mem0Platform] = []

    def open_platform(seconds: float = 60.0, key: Key | None = None) -> Mem0Platform:
        """Reach the fake under a name that is not loopback's, so that the setting for time-outs applies."""
        opened.append(
            Mem0Platform(
                f"http://api.example.org:{fake.port}",
                key or Key(),
                HttpSettings(timeout_seconds=seconds),
                Clock(),
                proxies=dict,
                resolve=lambda _, port: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))],
            )
        )
        return opened[-1]

    yield open_platform
    for platform in opened:
        platform.close()


@pytest.fixture
def platform(connect: Connect) -> Mem0Platform:
    return connect()


def find(platform: Mem0Platform, packet: str = "p-1", batch: int = 0) -> Found | None:
    return platform.find(packet, batch, user_id="ana", app_id="shop")


def test_delivers_a_batch_and_finds_its_memory(fake: FakeMem0, platform: Mem0Platform) -> None:
    """An add is answered with an event id, the event succeeds with its count, and a search finds the memory."""
    accepted = platform.add(BATCH)
    extraction = platform.extraction(accepted.event_id)
    assert (extraction.state, extraction.memories) == (ExtractionState.SUCCEEDED, 1)
    assert extraction.metadata["memsyncd_packet"] == "p-1"
    memories = platform.search(Query("where are releases cut from", "ana", "shop", ["shop-1a2b"]))
    assert [memory.memory for memory in memories] == ["Releases are cut from main only"]
    assert memories[0].score is not None
    assert fake.accepted_batches() == [("p-1", 0, "session-1")]


def test_follows_an_extraction_through_its_states(fake: FakeMem0, platform: Mem0Platform) -> None:
    """Pending and running are open; a failed extraction says why; an unknown id is missing."""
    fake.extraction_polls = 3
    event_id = platform.add(BATCH).event_id
    states = [platform.extraction(event_id).state for _ in range(3)]
    assert states == [ExtractionState.PENDING, ExtractionState.RUNNING, ExtractionState.SUCCEEDED]
    fake.extraction_polls = 0
    fake.script("add", behave.failing_extraction("model overloaded"))
    failed = platform.extraction(platform.add(BATCH).event_id)
    assert (failed.state, failed.error) == (ExtractionState.FAILED, "model overloaded")
    assert platform.extraction("evt-unknown").state is ExtractionState.MISSING


def test_escapes_ids_in_paths(fake: FakeMem0, platform: Mem0Platform) -> None:
    """An id with slashes, question marks or dots cannot reach another route."""
    for odd in ("../../v1/ping", "a/b?c#d", "..", ".", "", "ü\ud800"):
        assert platform.extraction(odd).state is ExtractionState.MISSING
        assert platform.delete(odd) is False
    assert fake.requests("ping") == []
    assert all(request.path.count("/") == 4 for request in fake.requests())


@pytest.mark.parametrize(
    ("behaviour", "error", "may_have_arrived"),
    [
        (behave.busy(503), Busy, True),
        (behave.busy(500), Busy, True),
        (behave.busy(408), Busy, True),
        (behave.busy(429), Busy, False),
        (behave.refuse_key(401), KeyRefused, False),
        (behave.refuse_key(403), KeyRefused, False),
        (behave.quota(402), QuotaExceeded, False),
        (behave.quota(429), QuotaExceeded, False),
        (behave.quota(413), QuotaExceeded, False),
        (behave.reject(400), Rejected, False),
        (behave.reject(404), Rejected, False),
        (behave.reject(409), Rejected, False),
        (behave.reject(413, "Payload too large"), Rejected, False),
        (behave.reject(422), Rejected, False),
        (behave.html(200), NotUnderstood, True),
        (behave.html(404), NotUnderstood, True),
        (behave.redirect("/v1/ping/"), NotUnderstood, True),
        (behave.answer(200, b""), NotUnderstood, True),
        (behave.answer(200, [1, 2]), NotUnderstood, True),
        (behave.answer(200, {"detail": "usage limit"}), NotUnderstood, True),
        (behave.cut(), NoAnswer, True),
        (behave.commit_and_cut(), NoAnswer, True),
        (behave.half_an_answer(), NoAnswer, True),
    ],
)
def test_maps_each_refusal_once(
    fake: FakeMem0,
    platform: Mem0Platform,
    behaviour: behave.Behaviour,
    error: type[PlatformError],
    may_have_arrived: bool,
) -> None:
    """Each kind of refusal is its own error, tells whether the batch may have arrived, and leaves the client usable."""
    fake.script("add", behaviour)
    with pytest.raises(PlatformError) as raised:
        platform.add(BATCH)
    assert type(raised.value) is error
    assert raised.value.may_have_arrived is may_have_arrived
    assert KEY not in str(raised.value)
    assert len(fake.requests("add")) == 1, "a write is never sent again by itself"
    assert platform.add(BATCH).event_id


def test_an_add_without_an_event_id_is_neither_success_nor_error(fake: FakeMem0, platform: Mem0Platform) -> None:
    """An object that names no event is accepted without an id; results without an id are finished work."""
    fake.script(
        "add", behave.answer(200, {"message": "ok"}), behave.answer(200, {"results": [{"id": "m", "event": "ADD"}]})
    )
    assert platform.add(BATCH) == Accepted("")
    assert platform.add(BATCH) == Accepted("", finished=True, memories=1)


@pytest.mark.parametrize("behaviour", [behave.hang(), behave.drip(0.05), behave.commit_and_answer_late(30)])
def test_a_slow_server_does_not_hold_a_worker(fake: FakeMem0, connect: Connect, behaviour: behave.Behaviour) -> None:
    """Silence, an answer a byte at a time, and a late one all end after the call's time, counted to the last byte."""
    platform = connect(seconds=1.5)
    fake.script("add", behaviour)
    started = time.monotonic()
    with pytest.raises(NoAnswer):
        platform.add(BATCH)
    assert time.monotonic() - started < 15


def test_a_setting_for_time_outs_does_not_apply_to_loopback(fake: FakeMem0) -> None:
    """A platform on this machine gets a write's own time, whatever the setting for the network says (CONTRACT)."""
    platform = Mem0Platform(fake.url, Key(), HttpSettings(timeout_seconds=0.05), Clock())
    fake.script("add", behave.commit_and_answer_late(0.3))
    assert platform.add(BATCH).event_id
    platform.close()


def test_a_server_that_is_down_is_unreachable_and_comes_back(fake: FakeMem0, platform: Mem0Platform) -> None:
    """No connection means nothing was sent; the same client works once the server listens again."""
    platform.ping()
    fake.refuse_connections()
    with pytest.raises(Unreachable) as raised:
        platform.add(BATCH)
    assert not raised.value.may_have_arrived
    fake.accept_connections()
    assert platform.ping().email == "nobody@example.org"


def test_a_question_survives_a_kept_connection_that_died(fake: FakeMem0, platform: Mem0Platform) -> None:
    """A read whose kept connection was closed under it is sent again on a new one; a read on a new one is not."""
    platform.ping()
    fake.script("ping", behave.cut())
    assert platform.ping().org_id == "org-fake"
    assert len(fake.requests("ping")) == 3
    platform.drop_connections()
    fake.script("ping", behave.cut())
    with pytest.raises(NoAnswer):
        platform.ping()


def test_uses_one_connection_until_told_to_drop_it(fake: FakeMem0, platform: Mem0Platform) -> None:
    """Calls one after the other share a connection; after drop_connections the next one opens another."""
    for _ in range(5):
        platform.ping()
    assert fake.connections == 1
    platform.drop_connections()
    platform.ping()
    assert fake.connections == 2


def test_many_threads_share_the_client(fake: FakeMem0, platform: Mem0Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen threads get their own answers and no more connections than calls may be in the air."""
    monkeypatch.setattr(http_client, "CONNECT_SECONDS", 60.0)  # they wait for a place as long
    fake.latency = 0.002

    def deliver(number: int) -> bool:
        batch = replace(
            BATCH, packet_id=f"p-{number}", metadata={"memsyncd_packet": f"p-{number}", "memsyncd_batch": 0}
        )
        accepted = platform.add(batch)
        return platform.extraction(accepted.event_id).metadata["memsyncd_packet"] == f"p-{number}"

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(deliver, range(100)))
    assert len({packet for packet, _, _ in fake.accepted_batches()}) == 100
    assert fake.connections <= 8


def test_cancel_ends_every_call_at_once(fake: FakeMem0, connect: Connect) -> None:
    """Calls that hang, calls that drip and calls that wait for their turn all end as cancelled; so do later ones."""
    platform = connect(seconds=60)
    fake.always("add", behave.hang())
    fake.always("events", behave.drip(0.05))
    ended: list[str] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except PlatformError as error:
            ended.append(type(error).__name__)

    calls = [lambda: platform.add(BATCH)] * 7 + [lambda: next(platform.extractions())] + [platform.ping] * 2
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    fake.wait_for(lambda f: len(f.requests("add")) == 7)
    started = time.monotonic()
    platform.cancel()
    for thread in threads:
        thread.join(60)
    assert time.monotonic() - started < 15
    assert ended.count(Cancelled.__name__) >= 8
    with pytest.raises(Cancelled):
        platform.ping()


def test_the_key_is_read_for_each_request(fake: FakeMem0, connect: Connect) -> None:
    """A refused key recovers as soon as the source gives another; an empty or impossible one never goes out."""
    key = Key("wrong")
    platform = connect(key=key)
    with pytest.raises(KeyRefused):
        platform.ping()
    key.key = f"  {KEY}\n"
    assert platform.ping()
    sent = len(fake.requests())
    for impossible in ("", "  ", "two\r\nlines: x", "schlüssel"):
        key.key = impossible
        with pytest.raises(KeyRefused) as raised:
            platform.ping()
        assert not impossible.strip() or impossible not in str(raised.value)
    assert len(fake.requests()) == sent


def test_a_key_source_that_fails_needs_a_person(connect: Connect) -> None:
    """Whatever a key source raises is a refused key that names the error's kind and not its words."""

    class Broken:
        def current(self) -> str:
            raise OSError("secret" + "-words")

    with pytest.raises(KeyRefused, match="OSError") as raised:
        connect(key=Broken()).ping()
    assert "secret" not in str(raised.value)


def test_no_error_tells_the_key(fake: FakeMem0, connect: Connect) -> None:
    """A platform that repeats the key in its refusal does not bring it into our error, nor into what it chains."""
    secret = "sk-" + "x" * 20
    platform = connect(key=Key(secret))
    for behaviour in (
        behave.reject(400, f"bad {secret}"),
        behave.answer(401, {"detail": f"Token {secret} is invalid"}),
    ):
        fake.script("ping", behaviour)
        with pytest.raises(PlatformError) as raised:
            platform.ping()
        assert secret not in repr(raised.value)
        assert secret not in str(raised.value.__cause__)
    assert secret not in repr(platform)


def test_finds_a_batch_whose_answer_was_lost(fake: FakeMem0, platform: Mem0Platform) -> None:
    """After a committed add without an answer the event is found, and only for that packet and batch."""
    fake.script("add", behave.commit_and_cut())
    with pytest.raises(NoAnswer):
        platform.add(BATCH)
    assert find(platform) == Found("evt-000001", memories=1)
    assert find(platform, batch=1) is None
    assert find(platform, packet="p-2") is None


def test_finds_nothing_after_an_add_that_never_arrived(fake: FakeMem0, platform: Mem0Platform) -> None:
    """Where nothing was committed the look says so, after both places were searched."""
    fake.script("add", behave.cut())
    with pytest.raises(NoAnswer):
        platform.add(BATCH)
    assert find(platform) is None
    assert [len(fake.requests(route)) for route in ("events", "list")] == [1, 1]


@pytest.mark.parametrize("status", [404, 405])
def test_finds_a_batch_by_its_memories_where_no_listing_is(fake: FakeMem0, platform: Mem0Platform, status: int) -> None:
    """A platform without an event listing is asked for memories with the packet's metadata."""
    platform.extraction(platform.add(BATCH).event_id)
    fake.always("events", behave.answer(status, {"detail": "Not found."}))
    assert find(platform) == Found(memories=1)
    assert find(platform, batch=1) is None


def test_finds_a_batch_on_a_later_page(fake: FakeMem0, platform: Mem0Platform) -> None:
    """The listing is followed page by page to an older event."""
    platform.add(BATCH)
    for number in range(250):
        platform.add(replace(BATCH, metadata={"memsyncd_packet": f"other-{number}", "memsyncd_batch": 0}))
    assert find(platform) == Found("evt-000001", memories=1)
    assert len(fake.requests("events")) == 3


def test_stops_looking_past_the_time_of_posting(fake: FakeMem0, connect: Connect) -> None:
    """With the time of posting known, a page that is older by more than the clocks may differ ends the listing."""
    platform = connect()
    for number in range(150):
        platform.add(replace(BATCH, metadata={"memsyncd_packet": f"other-{number}", "memsyncd_batch": 0}))
    posted_at = time.time() + 2 * 3600
    assert platform.find("p-1", 0, user_id="ana", app_id="shop", posted_at=posted_at) is None
    assert len(fake.requests("events")) == 1


def test_prefers_an_extraction_that_did_not_fail(fake: FakeMem0, platform: Mem0Platform) -> None:
    """Of two events for one batch the one that did not fail is found; a failed one only where there is no other."""
    fake.script("add", behave.failing_extraction())
    platform.add(BATCH)
    assert find(platform) == Found("evt-000001")
    fake.script("add", behave.NORMAL, behave.failing_extraction())
    good = platform.add(BATCH).event_id
    platform.add(BATCH)
    found = find(platform)
    assert found is not None
    assert found.event_id == good


def test_lists_extractions_lazily(fake: FakeMem0, platform: Mem0Platform) -> None:
    """A page is asked for only when the caller goes on to it."""
    for _ in range(101):
        platform.add(BATCH)
    pages = platform.extractions()
    first = next(pages)
    assert len(first) == 100
    assert len(fake.requests("events")) == 1
    assert sum(len(page) for page in pages) == 1


def test_goes_on_in_shorter_pages_where_a_page_is_too_long(fake: FakeMem0, platform: Mem0Platform) -> None:
    """A page beyond the bound is asked for again in tens, from where the listing was; a short one is an error."""
    for _ in range(105):
        platform.add(BATCH)
    too_long = behave.answer(200, b" " * (17 * 1024 * 1024))
    fake.script("events", behave.NORMAL, too_long)
    assert [len(page) for page in platform.extractions()] == [100, 5]
    assert fake.requests("events")[-1].query == {"page": "11", "page_size": "10"}
    fake.script("events", too_long, too_long)
    with pytest.raises(NotUnderstood):
        find(platform)


def test_keeps_no_cookies(fake: FakeMem0, platform: Mem0Platform) -> None:
    """A cookie that an answer sets is neither kept nor sent."""
    fake.script("ping", behave.answer(200, {"status": "ok"}, {"Set-Cookie": "a=b; Path=/"}))
    platform.ping()
    platform.ping()
    assert "cookie" not in fake.requests()[-1].headers


def test_never_follows_a_listing_to_another_place(fake: FakeMem0, platform: Mem0Platform) -> None:
    """A next page on another host, or one that was read already, ends the listing: the key goes to no stranger."""
    with FakeMem0() as stranger:
        item = {"id": "e", "status": "SUCCEEDED"}
        fake.script("events", behave.answer(200, {"results": [item], "next": f"{stranger.url}/v1/events/?page=2"}))
        assert len(list(platform.extractions())) == 1
        assert stranger.requests() == []
    fake.always("events", behave.answer(200, {"results": [item], "next": "/v1/events/?page=7"}))
    assert len(list(platform.extractions())) == 2


def test_search_tries_once_more_without_a_connection_but_not_after_an_error(
    fake: FakeMem0, platform: Mem0Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that got no connection is tried again after a quarter second; one that was refused is not (facts 7.14)."""
    fake.script("search", behave.busy(503))
    with pytest.raises(Busy):
        platform.search(Query("question", "ana", "shop"))
    assert len(fake.requests("search")) == 1
    fake.refuse_connections()
    started = time.monotonic()
    with pytest.raises(Unreachable):
        platform.search(Query("question", "ana", "shop"))
    assert time.monotonic() - started >= 0.25
    monkeypatch.setattr(Network, "pause", lambda _network, _seconds: fake.accept_connections())
    assert platform.search(Query("question", "ana", "shop")) == []


def test_deletes_a_memory_once(fake: FakeMem0, platform: Mem0Platform) -> None:
    """Deleting says whether there was something; an empty answer to a delete is fine."""
    platform.extraction(platform.add(BATCH).event_id)
    identity = fake.memories()[0]["id"]
    assert platform.delete(identity) is True
    assert platform.delete(identity) is False
    fake.script("delete", behave.answer(204, b""))
    assert platform.delete("any") is True


def test_reads_a_packed_answer_within_its_bound(fake: FakeMem0, platform: Mem0Platform) -> None:
    """An answer in gzip is unpacked; what unpacks to more than the bound, is torn, or is packed otherwise is not understood."""
    good = gzip.compress(b'{"status": "ok", "user_email": "packed@example.org"}')
    bomb = gzip.compress(b" " * (17 * 1024 * 1024))
    packed = {"Content-Encoding": "gzip"}
    fake.script("ping", behave.answer(200, good, packed))
    assert platform.ping().email == "packed@example.org"
    cases = [(bomb, packed, NotUnderstood), (b"no gzip", packed, NotUnderstood), (good[:-9], packed, NoAnswer)]
    for body, headers, error in [*cases, (good, {"Content-Encoding": "br"}, NotUnderstood)]:
        fake.script("ping", behave.answer(200, body, headers))
        with pytest.raises(error):
            platform.ping()


def test_an_endless_answer_is_not_read(fake: FakeMem0, platform: Mem0Platform) -> None:
    """More than 16 MB is no answer that is understood."""
    fake.always("events", behave.answer(200, b"[" + b" " * (17 * 1024 * 1024) + b"]"))
    with pytest.raises(NotUnderstood, match="16 MB"):
        next(platform.extractions())


def test_refuses_a_url_that_is_none() -> None:
    """A base URL that is no http URL is refused when the platform is made, not at the first call."""
    for url in ("ftp://example.org", "example.org", "http://", "http://[", "http://a b"):
        with pytest.raises(ValueError, match="URL"):
            Mem0Platform(url, Key(), HttpSettings(), Clock())


def test_names_its_destination_without_credentials() -> None:
    """The destination is the kind and the URL, and a user or password in the URL is in neither."""
    platform = Mem0Platform("https://user:" + "x" * 4 + "@api.example.org/base/?x=1", Key(), HttpSettings(), Clock())
    assert platform.destination == "mem0 https://api.example.org/base"
    platform.close()


def test_serves_below_a_path(fake: FakeMem0) -> None:
    """A base URL with a path puts every route below it."""
    platform = Mem0Platform(f"{fake.url}/gateway/", Key(), HttpSettings(), Clock())
    with pytest.raises(Rejected):
        platform.ping()
    assert fake.requests()[0].path == "/gateway/v1/ping/"
    platform.close()
