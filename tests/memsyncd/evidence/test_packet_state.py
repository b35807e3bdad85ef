"""Reserving packets and keeping how far each has come (facts, section 2)."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from memsyncd.evidence.deleting import Whose
from memsyncd.evidence.event import Event, NewEvent, Packet, PacketStatus, Post, Scope
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.store import EvidenceStore
from memsyncd.packets import checkpoint

PROMPT, ANSWER = "user_prompt", "assistant_stop"
NewEventMaker = Callable[..., NewEvent]


@pytest.fixture(name="packet")
def packet_fixture(store: EvidenceStore, new_event: NewEventMaker) -> Packet:
    """Reserve a packet of one exchange."""
    store.append([new_event(PROMPT, "q"), new_event(ANSWER, "a")])
    packet = store.prepare("s-1", "periodic", list)
    assert packet is not None
    return packet


def _again(store: EvidenceStore, packet: Packet) -> Packet:
    found = store.packet(packet.packet_id)
    assert found is not None
    return found


def test_the_id_follows_from_the_events(store: EvidenceStore, packet: Packet, scope: Scope) -> None:
    """A packet's id is made of repository, session, first and last event (facts 2.5)."""
    first, last = store.packet_events(packet.packet_id)
    name = f"{scope.repo_id}\0s-1\0{first.id}\0{last.id}"
    assert packet.packet_id == hashlib.sha256(name.encode()).hexdigest()[:32]
    assert (packet.event_start, packet.event_end) == (first.id, last.id)
    assert (packet.status, packet.reason, packet.attempts, packet.slots) == ("prepared", "periodic", 0, ())
    assert (packet.app_id, packet.repo_id, packet.created_at) == (
        scope.app_id,
        scope.repo_id,
        "2026-11-30T00:53:20.000Z",
    )
    assert [event.flush_id for event in (first, last)] == [packet.packet_id] * 2


def test_only_the_chosen_events_are_taken(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """What was not chosen stays for the next packet (facts 2.7, 3.5)."""
    for number in range(7):
        store.append([new_event(PROMPT, f"q{number}"), new_event(ANSWER, f"a{number}")])
    packet = store.prepare("s-1", "periodic", lambda events: checkpoint.select(events, forced=False))
    assert packet is not None
    assert len(store.packet_events(packet.packet_id)) == 10
    assert [event.payload["text"] for event in store.unflushed("s-1")] == ["q5", "a5", "q6", "a6"]


def test_nothing_chosen_no_packet(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Where nothing is due or nothing is known there is no packet, and no row of one (facts 3.4)."""
    store.append([new_event(PROMPT, "q")])
    assert store.prepare("s-1", "periodic", lambda events: checkpoint.select(events, forced=False)) is None
    assert store.prepare("nobody", "manual", list) is None
    assert store.counts()["packets"] == 0


def test_a_choice_that_fails_leaves_nothing(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Nothing is left in a transaction after a choice that raised (facts 2.6)."""
    store.append([new_event(PROMPT, "q")])

    def choose(_: object) -> Sequence[Event]:
        raise RuntimeError("no choice")

    with pytest.raises(RuntimeError):
        store.prepare("s-1", "idle", choose)
    assert store.append([new_event(ANSWER, "a")]).inserted == 1
    assert len(store.unflushed("s-1")) == 2


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("periodic", "session-end", "session-end"),
        ("periodic", "periodic", "periodic"),
        ("idle", "session-end", "idle"),
        ("session-end", "periodic", "session-end"),
    ],
)
def test_an_open_packet_comes_first(
    store: EvidenceStore, new_event: NewEventMaker, first: str, second: str, reason: str
) -> None:
    """The open packet is returned with its own events; only a periodic reason is promoted (facts 2.8, 2.12)."""
    store.append([new_event(PROMPT, "q")])
    packet = store.prepare("s-1", first, list)
    assert packet is not None
    store.append([new_event(ANSWER, "a")])
    again = store.prepare("s-1", second, list)
    assert again == replace(packet, reason=reason)
    assert _again(store, packet).reason == reason
    assert len(store.packet_events(packet.packet_id)) == 1
    assert store.counts()["packets"] == 1


@pytest.mark.parametrize("status", list(PacketStatus))
def test_which_statuses_are_open(
    store: EvidenceStore, new_event: NewEventMaker, packet: Packet, status: PacketStatus
) -> None:
    """Only succeeded, explicitly stored and given up are closed, and what another machine delivers is not open here; in
    flight is prepared and queued (facts 2.3, 2.4)."""
    store.close_packet(packet.packet_id, status)
    store.append([new_event(PROMPT, "q2")])
    closed = status in ("semantic-succeeded", "explicitly-stored", "gave-up", "shared")
    assert _again(store, packet).is_open is not closed
    assert (store.open_packet("s-1") is None) is closed
    assert len(store.open_packets()) == (0 if closed else 1)
    assert store.sessions_with_unflushed()[0].in_flight is (status in ("prepared", "semantic-queued"))
    following = store.prepare("s-1", "idle", list)
    assert following is not None
    assert (following.packet_id != packet.packet_id) is closed


def test_sessions_have_packets_of_their_own(store: EvidenceStore, new_event: NewEventMaker, packet: Packet) -> None:
    """An open packet holds up its own session only (facts 2.8)."""
    store.append([new_event(PROMPT, "q", "s-2")])
    other = store.prepare("s-2", "idle", list)
    assert other is not None
    assert [each.packet_id for each in store.open_packets()] == [packet.packet_id, other.packet_id]


def test_slots_are_saved_one_by_one(store: EvidenceStore, packet: Packet) -> None:
    """After each answer the slot is filled and the packet queued; a crash between loses the unposted (facts 2.19)."""
    store.begin_post(packet.packet_id, 0, 10.0)
    assert store.posts(packet.packet_id) == [Post(packet.packet_id, 0, 10.0)]
    assert _again(store, packet).status == "prepared"
    store.accept_post(packet.packet_id, 0, "evt-1", batches=2, at=11.0)
    store.begin_post(packet.packet_id, 1, 12.0)
    assert (_again(store, packet).slots, _again(store, packet).status) == (("evt-1", ""), "semantic-queued")
    assert store.posts(packet.packet_id) == [
        Post(packet.packet_id, 0, 10.0, "evt-1", 11.0),
        Post(packet.packet_id, 1, 12.0),
    ]


def test_a_refused_post_is_forgotten(store: EvidenceStore, packet: Packet) -> None:
    """A request that was certainly not taken leaves no trace to look for."""
    store.begin_post(packet.packet_id, 0, 10.0)
    store.refuse_post(packet.packet_id, 0)
    assert store.posts(packet.packet_id) == []


def test_a_failed_batch_alone_is_posted_again(store: EvidenceStore, packet: Packet) -> None:
    """The first of two fails: its slot alone is empty, its post forgotten, one attempt counted (facts 2.21)."""
    for batch, event_id in enumerate(("evt-1", "evt-2")):
        store.begin_post(packet.packet_id, batch, 10.0)
        store.accept_post(packet.packet_id, batch, event_id, batches=2, at=11.0)
    store.forget_slot(packet.packet_id, 0)
    assert store.fail_packet(packet.packet_id, "semantic-failed", "why") == 1
    found = _again(store, packet)
    assert (found.slots, found.attempts, found.status, found.error) == (("", "evt-2"), 1, "semantic-failed", "why")
    assert [post.batch for post in store.posts(packet.packet_id)] == [1]
    store.forget_slot(packet.packet_id, 0)
    assert _again(store, packet).slots == ("", "evt-2")
    store.begin_post(packet.packet_id, 0, 20.0)
    store.accept_post(packet.packet_id, 0, "evt-3", batches=2, at=21.0)
    assert _again(store, packet).slots == ("evt-3", "evt-2")


def test_a_timeout_keeps_every_slot(store: EvidenceStore, packet: Packet) -> None:
    """Out of time, all ids stay and only the wait begins anew (facts 2.22)."""
    for batch, event_id in enumerate(("evt-1", "evt-2")):
        store.begin_post(packet.packet_id, batch, 10.0)
        store.accept_post(packet.packet_id, batch, event_id, batches=2, at=11.0)
    store.fail_packet(packet.packet_id, "semantic-timeout", "")
    store.restart_wait(packet.packet_id, 99.0)
    assert _again(store, packet).slots == ("evt-1", "evt-2")
    assert [(post.started_at, post.waiting_since) for post in store.posts(packet.packet_id)] == [(10.0, 99.0)] * 2


def test_five_attempts_and_newer_evidence(store: EvidenceStore, new_event: NewEventMaker, packet: Packet) -> None:
    """Attempts rise with each failure; once given up the packet's events stay its own and newer ones flow (facts 2.9
    to 2.11)."""
    statuses = ["error", "semantic-failed", "semantic-timeout", "semantic-missing", "error"]
    assert [store.fail_packet(packet.packet_id, status, "x") for status in statuses] == [1, 2, 3, 4, 5]
    store.close_packet(packet.packet_id, PacketStatus.GAVE_UP, error="x")
    assert store.prepare("s-1", "manual", list) is None
    assert len(store.packet_events(packet.packet_id)) == 2
    store.append([new_event(PROMPT, "new"), new_event(ANSWER, "newer")])
    newer = store.prepare("s-1", "idle", list)
    assert newer is not None
    assert newer.attempts == 0
    assert _again(store, packet).attempts == 5
    assert store.counts()["packets"] == 2


def test_a_person_reopens(store: EvidenceStore, packet: Packet) -> None:
    """A packet given up is open again with all its attempts, and still knows what may have arrived."""
    store.begin_post(packet.packet_id, 0, 10.0)
    for _ in range(5):
        store.fail_packet(packet.packet_id, "error", "x")
    store.close_packet(packet.packet_id, PacketStatus.GAVE_UP, error="x")
    store.reopen_packet(packet.packet_id)
    found = _again(store, packet)
    assert (found.status, found.attempts, found.is_open) == ("error", 0, True)
    assert store.posts(packet.packet_id) == [Post(packet.packet_id, 0, 10.0)]


def test_success_forgets_the_posts(store: EvidenceStore, packet: Packet) -> None:
    """A delivered packet keeps its slots and no posts, and counts no attempt (facts 2.9)."""
    store.begin_post(packet.packet_id, 0, 10.0)
    store.accept_post(packet.packet_id, 0, "evt-1", batches=1, at=11.0)
    store.close_packet(packet.packet_id, PacketStatus.SUCCEEDED)
    found = _again(store, packet)
    assert (found.status, found.slots, found.attempts, found.error) == ("semantic-succeeded", ("evt-1",), 0, "")
    with store._database.reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM memsyncd_posts").fetchone()[0] == 0


def test_errors_are_cut_and_clean(store: EvidenceStore, packet: Packet) -> None:
    """An error's text is cut at 1,000 characters and holds no half ones (facts 2.34)."""
    store.fail_packet(packet.packet_id, "error", "\ud800" + "x" * 2000)
    assert _again(store, packet).error == "\ufffd" + "x" * 999


def test_an_unknown_packet(store: EvidenceStore) -> None:
    """Calls about a packet that is no more (forgotten meanwhile) change nothing and fail nobody."""
    store.begin_post("none", 0, 1.0)
    store.accept_post("none", 0, "evt", 1, 1.0)
    store.refuse_post("none", 0)
    store.forget_slot("none", 0)
    store.restart_wait("none", 1.0)
    store.close_packet("none", "error")
    store.reopen_packet("none")
    assert store.fail_packet("none", "error", "x") == 0
    assert store.packet("none") is None
    assert store.packet_to_send("none") is None
    assert store.packet_events("none") == ()
    assert store.posts("none") == []


def test_the_request_stays_the_same(
    store: EvidenceStore, new_event: NewEventMaker, packet: Packet, scope: Scope
) -> None:
    """Branch and commit of a packet's request are those of its reservation, wherever the work went since (DESIGN,
    promise 3)."""
    store.append([new_event(PROMPT, "q", scope=replace(scope, branch="feature/x", head_sha="def"))])
    store.begin_post(packet.packet_id, 0, 10.0)
    store.fail_packet(packet.packet_id, "error", "x")
    assert store.packet_to_send(packet.packet_id)[1] == scope
    moved = store.scope("s-1")
    assert moved is not None
    assert moved.branch == "feature/x"


def test_the_operation_log(store: EvidenceStore) -> None:
    """A line is kept of each try (facts 2.35)."""
    assert store.record_operation(Operation("flush-retry", "s-1", item_count=3, success=False, error="x" * 2000))
    with store._database.reading() as connection:
        row = connection.execute("SELECT operation, session_id, item_count, success, error FROM operations").fetchone()
    assert row == ("flush-retry", "s-1", 3, 0, "x" * 1000)


def test_what_a_shared_queue_has_taken_is_listed_until_its_end_is_known(store: EvidenceStore, packet: Packet) -> None:
    """It holds up nothing of its session, is not pruned as delivered, and is forgotten as one under way."""
    assert not store.shared_packets(10)
    store.close_packet(packet.packet_id, PacketStatus.SHARED)
    assert [each.packet_id for each in store.shared_packets(10)] == [packet.packet_id]
    assert store.is_all_sent(packet)
    assert not store.delivered("9999", 10)
    assert store.belongings(Whose(session_id="s-1")).open_packets == [packet.packet_id]
    store.close_packet(packet.packet_id, PacketStatus.SUCCEEDED)
    assert not store.shared_packets(10)
