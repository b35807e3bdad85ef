"""What becomes of a batch of events (facts 2.14, 3.9 to 3.11, 5.30 to 5.32)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memsyncd.evidence.event import Appended, NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore

PROMPT, ANSWER, TOOL = "user_prompt", "assistant_stop", "tool_result"
NewEventMaker = Callable[..., NewEvent]


def _texts(store: EvidenceStore, session_id: str = "s-1") -> list[str]:
    return [event.payload["text"] for event in store.unflushed(session_id)]


def test_a_batch_is_stored_in_order(store: EvidenceStore, new_event: NewEventMaker, scope: Scope) -> None:
    """Events come back in the order of recording with everything that was stored."""
    appended = store.append([new_event(PROMPT, "q"), new_event(TOOL, "t"), new_event(ANSWER, "a", "s-2")])
    assert appended == Appended(3, 0, frozenset({"s-1", "s-2"}), frozenset({"s-2"}))
    first, second = store.unflushed("s-1")
    assert (first.kind, first.payload, first.session_id) == (PROMPT, {"text": "q"}, "s-1")
    assert (first.repo_id, first.app_id, first.flush_id) == (scope.repo_id, scope.app_id, None)
    assert first.created_at == "2026-11-30T10:00:00.000Z"
    assert first.id < second.id
    assert store.last_event("s-1") == second
    assert store.last_event("nobody") is None


def test_a_handoff_twice_is_stored_once(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """After a crash between commit and unlink the same handoff adds nothing, also if it held several events."""
    events = [new_event(TOOL, text, handoff_id="h-1") for text in ("a", "b", "c")]
    assert store.append(events).inserted == 3
    assert store.append(events) == Appended(0, 3, frozenset(), frozenset())
    assert _texts(store) == ["a", "b", "c"]


def test_half_of_a_batch_known(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """A batch in which some is known stores the rest."""
    known = new_event(PROMPT, "q")
    store.append([known])
    assert store.append([known, new_event(ANSWER, "a")]) == Appended(1, 1, frozenset({"s-1"}), frozenset({"s-1"}))
    assert _texts(store) == ["q", "a"]


@pytest.mark.parametrize(
    ("first", "second", "stored"),
    [
        (("k", "s-1"), ("k", "s-1"), 1),
        (("k", "s-1"), ("k2", "s-1"), 2),
        (("k", "s-1"), ("k", "s-2"), 2),
        (("", "s-1"), ("", "s-1"), 2),
    ],
)
def test_duplicate_keys(
    store: EvidenceStore, new_event: NewEventMaker, first: tuple[str, str], second: tuple[str, str], stored: int
) -> None:
    """Two deliveries of one event are one, by their key within the session; without a key they are two (never-again
    89, facts 3.11)."""
    events = [new_event(PROMPT, "same", session_id, duplicate_key=key) for key, session_id in (first, second)]
    assert store.append(events).inserted == stored


@pytest.mark.parametrize("one_batch", [True, False])
@pytest.mark.parametrize(
    ("kinds", "stored"),
    [
        ([(ANSWER, "a"), (ANSWER, "a")], 1),
        ([(ANSWER, "a"), (TOOL, "t"), (ANSWER, "a")], 2),
        ([(ANSWER, "a"), (ANSWER, "b"), (ANSWER, "a")], 2),
        ([(ANSWER, "a"), (PROMPT, "q"), (ANSWER, "a")], 3),
        ([(ANSWER, "a"), (PROMPT, "q"), (ANSWER, "a"), (ANSWER, "a")], 3),
        ([(PROMPT, "q"), (PROMPT, "q")], 2),
    ],
)
def test_repeated_answers(
    store: EvidenceStore, new_event: NewEventMaker, kinds: list[tuple[str, str]], stored: int, one_batch: bool
) -> None:
    """An identical answer is ignored until a new prompt comes, whatever lies in between; prompts never are (facts
    3.9, 3.11)."""
    events = [new_event(kind, text) for kind, text in kinds]
    batches = [events] if one_batch else [[event] for event in events]
    assert sum(store.append(batch).inserted for batch in batches) == stored


def test_an_answer_repeated_over_a_flush(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """A whole flush between two identical answers changes nothing (facts 3.9)."""
    store.append([new_event(PROMPT, "q"), new_event(ANSWER, "a")])
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    store.close_packet(packet.packet_id, "semantic-succeeded")
    assert store.append([new_event(ANSWER, "a")]).answered == frozenset()
    assert store.append([new_event(PROMPT, "q"), new_event(ANSWER, "a")]).inserted == 2


def test_the_same_answer_elsewhere(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """The same answer in another session is recorded (facts 3.10)."""
    assert store.append([new_event(ANSWER, "a"), new_event(ANSWER, "a", "s-2")]).inserted == 2


def test_answers_without_text_are_told_by_their_transcript(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Two answers without text are two if their transcripts differ."""
    payloads = [{"text": "", "transcript_messages": [{"role": "assistant", "content": text}]} for text in "aba"]
    assert store.append([new_event(ANSWER, payload=payload) for payload in payloads]).inserted == 2


def test_the_scope_is_pinned_by_the_first_event(store: EvidenceStore, new_event: NewEventMaker, scope: Scope) -> None:
    """Later events keep repository, root and directory; branch and commit follow the work (facts 5.30, 5.31)."""
    moved = replace(scope, directory="docs", root="/w/other", branch="feature/x", head_sha="def456")
    store.append([new_event(PROMPT, "q"), new_event(TOOL, "t", scope=moved)])
    store.append([new_event(TOOL, "u", scope=replace(moved, branch="feature/y"))])
    assert store.scope("s-1") == replace(scope, branch="feature/y", head_sha="def456")


def test_a_visit_elsewhere_moves_nothing(store: EvidenceStore, new_event: NewEventMaker, scope: Scope) -> None:
    """An event from another repository belongs to the session's own, whose branch stays (facts 5.30, 5.31)."""
    store.append([new_event(PROMPT, "q")])
    store.append([new_event(TOOL, "t", scope=Scope("local:/tmp/x", "x", branch="wild"))])
    assert store.scope("s-1") == scope
    assert {event.repo_id for event in store.unflushed("s-1")} == {scope.repo_id}


@pytest.mark.parametrize("session_id", ["unknown-session", ""])
def test_the_placeholder_session(store: EvidenceStore, new_event: NewEventMaker, session_id: str) -> None:
    """Hooks without a session are recorded, pinned nowhere and never delivered (facts 2.14, 5.32)."""
    here, there = Scope("repo-a", "a"), Scope("repo-b", "b")
    store.append([new_event(PROMPT, "q", session_id, scope=here), new_event(PROMPT, "r", session_id, scope=there)])
    last = store.last_event(session_id)
    assert last is not None
    assert last.repo_id == "repo-b"
    assert store.prepare(session_id, "manual", list) is None
    assert store.sessions_with_unflushed() == []


def test_half_characters_are_stored_clean(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Lone surrogates in any text neither stop the batch nor come back (never-again 113)."""
    scope = Scope("repo\udc80", "app", root="/w/\udcff")
    event = new_event(PROMPT, "bad \udc80 \ud83d\ude00", "s\udc80", scope=scope, duplicate_key="k\ud800")
    assert store.append([event]).inserted == 1
    (stored,) = store.unflushed("s\udc80")
    assert stored.payload == {"text": "bad \ufffd 😀"}
    found = store.scope("s\udc80")
    assert found is not None
    assert (found.repo_id, found.root) == ("repo\ufffd", "/w/\ufffd")
    assert store.prepare("s\udc80", "idle", list) is not None


def test_nothing_of_a_failed_batch_is_stored(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """A batch is one transaction: if one event cannot be stored none is."""
    with pytest.raises(TypeError):
        store.append([new_event(PROMPT, "q"), new_event(TOOL, payload={"text": object()})])
    assert store.unflushed("s-1") == ()
    assert store.scope("s-1") is None


def test_an_empty_batch(store: EvidenceStore) -> None:
    """Nothing to store is nothing stored."""
    assert store.append([]) == Appended(0, 0, frozenset(), frozenset())


def test_ids_never_come_back(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """After the newest events were deleted their ids stay used, for packet ids follow from them (facts 2.5)."""
    store.append([new_event(PROMPT, "q")])
    (event,) = store.unflushed("s-1")
    with store._database.writing() as connection:
        connection.execute("DELETE FROM events")
    store.append([new_event(PROMPT, "r")])
    assert store.unflushed("s-1")[0].id > event.id


def test_long_sessions_are_read_in_pages(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Unflushed evidence is read a page at a time, whole, and also what comes while it is being read."""
    store.append([new_event(TOOL, str(number)) for number in range(600)])
    reading = store.iterate_unflushed("s-1")
    first = next(reading)
    store.append([new_event(TOOL, "600")])
    assert [first.payload["text"], *(event.payload["text"] for event in reading)] == [str(n) for n in range(601)]


def test_sessions_with_unflushed_evidence(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Each session tells its first, last and number of events, and whether a packet of it is under way."""
    store.append([new_event(PROMPT, "q", "s-1"), new_event(PROMPT, "q", "s-2", created_at="2026-11-30T11:00:00.000Z")])
    store.append([new_event(ANSWER, "a", "s-1", created_at="2026-11-30T12:00:00.000Z")])
    one, two = store.sessions_with_unflushed()
    assert (one.session_id, one.events, one.in_flight, one.harness) == ("s-1", 2, False, "claude-code")
    assert (one.last_event_at, two.last_event_at) == ("2026-11-30T12:00:00.000Z", "2026-11-30T11:00:00.000Z")
    assert (one.first_event_id, one.last_event_id) == tuple(event.id for event in store.unflushed("s-1"))
    packet = store.prepare("s-1", "idle", lambda events: [next(iter(events))])
    assert packet is not None
    one, two = store.sessions_with_unflushed()
    assert (one.session_id, two.session_id, two.events, two.in_flight) == ("s-2", "s-1", 1, True)
    store.fail_packet(packet.packet_id, "semantic-failed", "x")
    assert [activity.in_flight for activity in store.sessions_with_unflushed()] == [False, False]


def test_counts(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """The counts tell events, those in no packet, and packets by their end; they are never stale."""
    store.append([new_event(PROMPT, "q", f"s-{number}") for number in range(3)])
    assert store.counts() == {
        "events": 3,
        "unflushed": 3,
        "packets": 0,
        "packets_open": 0,
        "packets_shared": 0,
        "packets_gave_up": 0,
    }
    packets = [packet for number in range(3) if (packet := store.prepare(f"s-{number}", "idle", list))]
    store.close_packet(packets[0].packet_id, "semantic-succeeded")
    store.close_packet(packets[1].packet_id, "gave-up", error="x")
    assert store.counts() == {
        "events": 3,
        "unflushed": 0,
        "packets": 3,
        "packets_open": 1,
        "packets_shared": 0,
        "packets_gave_up": 1,
    }
