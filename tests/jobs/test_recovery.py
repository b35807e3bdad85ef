"""What the evidence calls for and the queue does not have is queued again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jobs.job import JobState
from jobs.recovery import FOREIGN_GRACE_SECONDS, asked_by_person, is_abandoned, is_seen_to, reconcile, session_over
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import Packet, PacketStatus
from memsyncd.platforms.platform import ExtractionState
from tests.jobs.delivering import SPOOL, Delivering, fresh


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


def lose_the_queue(d: Delivering) -> None:
    d.close()
    for file in d.directory.glob("queue.sqlite3*"):
        file.unlink()
    d.open()


def test_a_lost_queue_is_made_again_from_the_evidence(delivering: Delivering) -> None:
    """Every open packet gets its flush back, goes on where it stood and is not sent twice (never-again 17)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(5.0)
    lose_the_queue(delivering)
    delivering.platform.end()
    delivering.run(10.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED
    assert delivering.platform.count("add") == 1


def test_nothing_is_queued_twice(delivering: Delivering) -> None:
    """A second look finds every job where it should be."""
    delivering.exchange()
    delivering.evidence.prepare("s", "session-end", list)
    assert reconcile(SPOOL, delivering.evidence, delivering.delivery) == 1
    assert reconcile(SPOOL, delivering.evidence, delivering.delivery) == 0


def test_a_closed_packet_calls_for_nothing(delivering: Delivering) -> None:
    """Delivered and given-up packets are left alone."""
    delivering.exchange()
    packet = delivering.evidence.prepare("s", "session-end", list)
    assert packet is not None
    delivering.evidence.close_packet(packet.packet_id, PacketStatus.GAVE_UP, error="refused")
    assert reconcile(SPOOL, delivering.evidence, delivering.delivery) == 0


def test_a_store_that_is_only_read_calls_for_nothing(tmp_path: Path) -> None:
    """Packets of an unknown form stay their owner's."""
    with closing(sqlite3.connect(tmp_path / "evidence.sqlite3")) as connection:
        connection.execute("CREATE TABLE flushes(packet_id TEXT, status TEXT)")
        connection.execute("INSERT INTO flushes VALUES ('p', 'prepared')")
        connection.commit()
    made = Delivering(tmp_path, own=False)
    assert made.live_jobs() == []
    made.close()


@pytest.mark.parametrize(
    ("age", "numeric", "abandoned"),
    [(10.0, False, False), (FOREIGN_GRACE_SECONDS + 1, False, True), (10.0, True, False), (400.0, True, True)],
)
def test_a_plugins_packet_is_taken_up_once_its_worker_is_surely_gone(
    delivering: Delivering, age: float, numeric: bool, abandoned: bool
) -> None:
    """Five minutes without a move, whichever way the plugin writes its times (facts 1.12)."""
    moment = delivering.hands.wall_now - age
    packet = Packet(
        "p", "r", "a", "s", "idle", 1, 2, "prepared", updated_at=str(moment) if numeric else rfc3339(moment)
    )
    assert is_abandoned(packet, delivering.delivery) is abandoned


def test_a_plugins_packet_is_not_taken_up_because_the_machine_slept(delivering: Delivering) -> None:
    """Its worker slept as well and goes on: two that deliver it would send it twice (never-again 152)."""
    packet = Packet("p", "r", "a", "s", "idle", 1, 2, "prepared", updated_at=rfc3339(delivering.hands.wall_now - 10))
    assert not is_abandoned(packet, delivering.delivery)
    delivering.hands.sleep(8 * 3_600.0)
    assert not is_abandoned(packet, delivering.delivery)
    delivering.hands.move(FOREIGN_GRACE_SECONDS)
    assert is_abandoned(packet, delivering.delivery)


def test_a_packet_without_a_readable_time_counts_as_abandoned(delivering: Delivering) -> None:
    """An old file has no such column; its packets must not lie for ever."""
    assert is_abandoned(Packet("p", "r", "a", "s", "idle", 1, 2, "error"), delivering.delivery)


def test_the_end_of_a_session_is_queued_once(delivering: Delivering) -> None:
    """The same end told twice is one request, a later end is another."""
    assert not session_over(SPOOL, "s", "idle", delivering.delivery)
    delivering.exchange()
    assert not is_seen_to(SPOOL, "s", delivering.delivery)
    assert session_over(SPOOL, "s", "idle", delivering.delivery)
    assert not session_over(SPOOL, "s", "idle", delivering.delivery)
    assert is_seen_to(SPOOL, "s", delivering.delivery)
    delivering.exchange(2)
    assert session_over(SPOOL, "s", "process-gone", delivering.delivery)
    reasons = {job.payload["reason"] for job in delivering.live_jobs()}
    assert reasons == {"idle", "session-end"}


def test_a_person_may_ask_again_and_again(delivering: Delivering) -> None:
    """Each `flush` is a request of its own."""
    for key in ("a", "b"):
        delivering.exchange()
        for name in asked_by_person(SPOOL, ["s", "other"], key, delivering.delivery):
            delivering.run(10.0)
            assert delivering.job(name).state is JobState.DONE
    assert len(delivering.packets()) == 2


@pytest.mark.parametrize("by_person", [True, False])
def test_an_end_reaches_past_a_compaction(delivering: Delivering, by_person: bool) -> None:
    """What follows a session start belongs to the end that came after it, also behind an earlier packet."""
    delivering.exchange()
    delivering.store.prepare("s", "manual", list)
    delivering.say("session_start", source="compact")
    delivering.exchange(2)
    if by_person:
        asked_by_person(SPOOL, ["s"], "k", delivering.delivery)
    else:
        session_over(SPOOL, "s", "idle", delivering.delivery)
    delivering.run(10.0)
    assert delivering.store.unflushed("s") == ()


def test_an_end_told_while_its_spool_is_away_is_none(delivering: Delivering) -> None:
    """A scan finds the session again once the spool is back."""
    assert not session_over("gone", "s", "idle", delivering.delivery)


def test_a_packet_whose_evidence_was_away_is_taken_up_again(delivering: Delivering) -> None:
    """A flush that found no packet is done; when the evidence is back and the packet open, it is opened again."""
    delivering.exchange()
    delivering.ask()
    while not delivering.packets():
        delivering.step()
    packet = delivering.packet()
    evidence, delivering.store = delivering.store, EmptyStore()
    delivering.run(1.0)
    assert delivering.flush_of(packet).state is JobState.DONE
    delivering.store = evidence
    assert reconcile(SPOOL, delivering.store, delivering.delivery) == 1
    delivering.run(1_000.0)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]


def test_evidence_begun_anew_has_packets_of_its_own(delivering: Delivering) -> None:
    """The ids of a new file's events are above those of the lost one: its packets are never taken for delivered."""
    for number in (1, 2):
        delivering.exchange(number)
        delivering.ask()
        delivering.run(100.0)
        delivering.close()
        for path in delivering.directory.glob("evidence.sqlite3*"):
            path.unlink()
        delivering.hands.move(1.0)
        delivering.open()
    assert delivering.platform.delivered() == ["question 1", "answer 1", "question 2", "answer 2"]


class EmptyStore:
    """A store whose file is away for a moment: it knows nothing."""

    read_only = False
    own = True

    def __getattr__(self, _: str) -> Any:
        return lambda *_: None
