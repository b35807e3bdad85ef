"""What every platform does alike, whatever is behind it: one suite, run against each.

The hosted platform and the self-hosted server are fakes that follow the facts, over real sockets.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memsyncd.platforms.platform import (
    Busy,
    Cancelled,
    ExtractionState,
    KeyRefused,
    Message,
    NoAnswer,
    NotUnderstood,
    Platform,
    PlatformError,
    Query,
    QuotaExceeded,
    Rejected,
    Unreachable,
)
from tests.fakes import mem0_behaviours as behave
from tests.memsyncd.platforms.grounds import (
    BATCH,
    QUERY,
    REMOTE,
    SHORT_SECONDS,
    STATEMENT,
    Remote,
    confirmed,
    find,
    ground,
    packet,
    texts,
)


@pytest.fixture(params=["local", *REMOTE])
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Platform]:
    with ground(request.param, tmp_path) as ready:
        yield ready


@pytest.fixture(params=REMOTE)
def remote(request: pytest.FixtureRequest) -> Iterator[Remote]:
    with REMOTE[request.param]() as ready:
        yield ready


@pytest.fixture(params=REMOTE)
def hasty(request: pytest.FixtureRequest) -> Iterator[Remote]:
    """Give one that waits for no write longer than SHORT_SECONDS."""
    with REMOTE[request.param](SHORT_SECONDS) as ready:
        yield ready


# Everywhere.


def test_a_batch_goes_its_whole_way(platform: Platform) -> None:
    """Accepted, confirmed with its memory, found by a question, found by its packet, and deleted once."""
    assert confirmed(platform, platform.add(BATCH)) == 1
    (memory,) = platform.search(QUERY)
    assert memory.memory == STATEMENT
    assert memory.metadata["memsyncd_packet"] == "p-1"
    assert memory.created_at
    found = find(platform)
    assert found is not None
    assert found.memories == 1
    assert platform.delete(memory.id) is True
    assert platform.delete(memory.id) is False
    assert platform.search(QUERY) == []


def test_an_accepted_batch_is_finished_or_listed(platform: Platform) -> None:
    """Whoever lists the extractions sees every one that is to be asked for, with its verdict."""
    accepted = platform.add(BATCH)
    listed = {event.event_id: event.state for page in platform.extractions() for event in page}
    assert listed == ({} if accepted.finished else {accepted.event_id: ExtractionState.SUCCEEDED})


def test_a_batch_is_found_by_its_own_packet_and_number_only(platform: Platform) -> None:
    """Another packet's and another batch's are none of it."""
    confirmed(platform, platform.add(BATCH))
    assert find(platform) is not None
    assert find(platform, name="p-2") is None
    assert find(platform, number=1) is None


def test_nothing_new_is_success(platform: Platform) -> None:
    """Talk that holds nothing to remember is confirmed with no memories (never-again 106)."""
    assert confirmed(platform, platform.add(packet("p-3", Message("assistant", "Done.")))) == 0


def test_an_unknown_extraction_is_missing(platform: Platform) -> None:
    """Also one whose id another platform gave."""
    for event_id in ("evt-unknown", "../../memories", ""):
        assert platform.extraction(event_id).state is ExtractionState.MISSING


@pytest.mark.parametrize("field", ["user_id", "app_id", "agent_id"])
def test_no_batch_is_sent_for_everybody(platform: Platform, field: str) -> None:
    """A wildcard is no identity, and a batch must have a user and a project (facts 2.15)."""
    with pytest.raises(Rejected, match="wildcard"):
        platform.add(replace(BATCH, **{field: "*"}))
    if field != "agent_id":
        with pytest.raises(Rejected):
            platform.add(replace(BATCH, **{field: " "}))
    assert platform.search(QUERY) == []


@pytest.mark.parametrize(
    "query",
    [
        replace(QUERY, user_id="*"),
        replace(QUERY, app_id="*"),
        replace(QUERY, agent_ids=["*"]),
        replace(QUERY, run_id="*"),
        replace(QUERY, user_id=""),
        replace(QUERY, scope="team"),
        replace(QUERY, category="anything"),
    ],
)
def test_no_question_reaches_beyond_its_scope(platform: Platform, query: Query) -> None:
    """Wildcards, a missing person, unknown scopes and categories are refused, not widened (facts 5.27, 5.29)."""
    with pytest.raises(Rejected):
        platform.search(query)


def test_scopes_narrow(platform: Platform) -> None:
    """Colleagues find what the project shares, in its directories; nobody finds another project's or session's."""
    confirmed(platform, platform.add(BATCH))
    colleague = replace(QUERY, user_id="bob")
    assert texts(platform.search(colleague)) == [STATEMENT]
    assert platform.search(replace(colleague, scope="mine")) == []
    assert texts(platform.search(replace(colleague, scope="dir", directory="billing/src"))) == [STATEMENT]
    assert platform.search(replace(colleague, scope="dir", directory="bill")) == []
    assert texts(platform.search(replace(QUERY, run_id="session-1"))) == [STATEMENT]
    assert platform.search(replace(QUERY, run_id="session-2")) == []
    assert platform.search(replace(QUERY, app_id="other")) == []


def test_no_more_are_found_than_were_asked_for(platform: Platform) -> None:
    """Each memory once, the best first."""
    tools = ("pnpm", "esbuild", "vitest", "playwright")
    for number, tool in enumerate(tools):
        confirmed(platform, platform.add(packet(f"q-{number}", Message("user", f"We use {tool} for the web client."))))
    found = platform.search(replace(QUERY, top_k=3))
    assert len({memory.id for memory in found}) == len(found) == 3
    scores = [memory.score for memory in found if memory.score is not None]
    assert scores == sorted(scores, reverse=True)


def test_a_destination_is_named_after_its_platform(platform: Platform) -> None:
    """By its kind, and its address where it has one; a ping goes there."""
    platform.ping()
    assert platform.destination.partition(" ")[0] == platform.kind
    assert platform.url in platform.destination


def test_after_a_cancel_every_call_ends_at_once(platform: Platform) -> None:
    """As at a stop of the daemon; closing afterwards is fine, also twice."""
    platform.drop_connections()
    platform.cancel()
    for call in (lambda: platform.add(BATCH), lambda: platform.search(QUERY), platform.ping):
        with pytest.raises(Cancelled):
            call()
    platform.close()
    platform.close()


# Over HTTP.


def test_a_wrong_key_is_refused_and_told_by_nobody(remote: Remote) -> None:
    """A person has to act; nothing was sent, and the key is in no error. The next request takes up a right one."""
    right, remote.key.key = remote.key.key, "wrong-" + "key"
    for call in (lambda: remote.platform.add(BATCH), remote.platform.ping, lambda: find(remote.platform)):
        with pytest.raises(KeyRefused) as raised:
            call()
        assert not raised.value.may_have_arrived
        assert remote.key.key not in str(raised.value)
    remote.key.key = right
    assert confirmed(remote.platform, remote.platform.add(BATCH)) == 1


@pytest.mark.parametrize(
    ("behaviour", "error", "retry_after", "may_have_arrived"),
    [
        (behave.busy(429, "7"), Busy, 7.0, False),
        (behave.busy(503, "2"), Busy, 2.0, True),
        (behave.busy(502), Busy, None, True),
        (behave.busy(408), Busy, None, True),
        (behave.refuse_key(403), KeyRefused, None, False),
        (behave.quota(402), QuotaExceeded, None, False),
        (behave.reject(400), Rejected, None, False),
        (behave.reject(422), Rejected, None, False),
        (behave.html(200), NotUnderstood, None, True),
        (behave.html(404), NotUnderstood, None, True),
        (behave.redirect("/elsewhere"), NotUnderstood, None, True),
        (behave.answer(200, b""), NotUnderstood, None, True),
        (behave.answer(200, [1, 2]), NotUnderstood, None, True),
        (behave.answer(200, {"detail": "usage limit"}), NotUnderstood, None, True),
        (behave.cut(), NoAnswer, None, True),
        (behave.half_an_answer(), NoAnswer, None, True),
    ],
)
def test_each_refusal_of_an_add_is_its_own_error(
    remote: Remote,
    behaviour: behave.Behaviour,
    error: type[PlatformError],
    retry_after: float | None,
    may_have_arrived: bool,
) -> None:
    """With the wait that was asked for, and whether the batch may be there; sent once, and then usable."""
    remote.fake.script("add", behaviour)
    with pytest.raises(PlatformError) as raised:
        remote.platform.add(BATCH)
    assert type(raised.value) is error
    assert raised.value.retry_after == retry_after
    assert raised.value.may_have_arrived is may_have_arrived
    assert len(remote.fake.requests("add")) == 1
    assert confirmed(remote.platform, remote.platform.add(packet("p-2", Message("user", "A later one.")))) == 1


@pytest.mark.parametrize("slow", [behave.hang(), behave.drip(0.05), behave.commit_and_answer_late(30)])
def test_no_slow_add_holds_a_worker(hasty: Remote, slow: behave.Behaviour) -> None:
    """Silence, an answer a byte at a time, and a late one end after the time that an add has there."""
    hasty.fake.script("add", slow)
    began = time.monotonic()
    with pytest.raises(NoAnswer):
        hasty.platform.add(BATCH)
    assert time.monotonic() - began < SHORT_SECONDS + 15.0


@pytest.mark.parametrize("route", ["*", "search"])
def test_a_page_for_people_is_no_answer_to_a_question(remote: Remote, route: str) -> None:
    """A captive portal's page is neither an empty result nor a batch that is not there (never-again 111)."""
    remote.fake.always(route, behave.html())
    with pytest.raises(NotUnderstood):
        remote.platform.search(QUERY)
    if route == "*":
        for call in (remote.platform.ping, lambda: find(remote.platform), lambda: remote.platform.delete("mem-1")):
            with pytest.raises(NotUnderstood):
                call()


def test_refused_connections_mean_that_nothing_was_sent(remote: Remote) -> None:
    """The same client works once somebody listens again."""
    remote.fake.refuse_connections()
    for call in (lambda: remote.platform.add(BATCH), lambda: find(remote.platform), remote.platform.ping):
        with pytest.raises(Unreachable) as raised:
            call()
        assert not raised.value.may_have_arrived
    remote.fake.accept_connections()
    assert confirmed(remote.platform, remote.platform.add(BATCH)) == 1


@pytest.mark.parametrize("unheard", [behave.commit_and_cut(), behave.commit_and_answer(502), behave.half_an_answer()])
def test_a_batch_whose_answer_never_came_is_found(remote: Remote, unheard: behave.Behaviour) -> None:
    """The look says that it is there, with its memories."""
    remote.fake.script("add", unheard)
    with pytest.raises(PlatformError) as raised:
        remote.platform.add(BATCH)
    assert raised.value.may_have_arrived
    found = find(remote.platform)
    assert found is not None
    assert found.memories == 1
    assert len(remote.fake.requests("add")) == 1


def test_a_batch_that_never_arrived_is_not_found(remote: Remote) -> None:
    """Then it may be sent again."""
    remote.fake.script("add", behave.cut())
    with pytest.raises(NoAnswer):
        remote.platform.add(BATCH)
    assert find(remote.platform) is None


def test_the_same_batch_is_the_same_request(remote: Remote) -> None:
    """After a restart too, and whatever order its metadata was put together in (DESIGN, promise 3)."""
    remote.platform.add(BATCH)
    remote.platform.add(replace(BATCH, metadata=dict(reversed(BATCH.metadata.items()))))
    first, second = remote.fake.requests("add")
    assert first.body == second.body


def test_no_id_leads_to_another_route(remote: Remote) -> None:
    """Slashes, question marks and dots in an id stay within it."""
    for odd in ("../../search", "a/b?c#d", "..", ".", "", "ü\ud800"):
        assert remote.platform.delete(odd) is False
    assert {remote.fake.route_of(request)[0] for request in remote.fake.requests()} == {"delete"}
