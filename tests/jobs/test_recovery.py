"""What the evidence calls for and the queue does not have is queued again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jobs.job import JobState
from jobs.recovery import FOREIGN_GRACE_SECONDS, asked_by_person, is_abandoned, reconcile, session_over
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


def test_a_packet_without_a_readable_time_counts_as_abandoned(delivering: Delivering) -> None:
    """An old file has no such column; its packets must not lie for ever."""
    assert is_abandoned(Packet("p", "r", "a", "s", "idle", 1, 2, "error"), delivering.delivery)


def test_the_end_of_a_session_is_queued_once(delivering: Delivering) -> None:
    """The same end told twice is one request, a later end is another."""
    assert session_over(SPOOL, "s", "e1", "idle", delivering.delivery)
    assert not session_over(SPOOL, "s", "e1", "idle", delivering.delivery)
    assert session_over(SPOOL, "s", "e2", "process-gone", delivering.delivery)
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
