"""Flushes of packets that another program, or an earlier life of ours, left half done (facts 2.10, 2.22, 2.24)."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from jobs.delivery import MAX_ATTEMPTS
from memsyncd.evidence.event import PacketStatus
from memsyncd.platforms.platform import Batch, ExtractionState
from tests.fakes.scripted_platform import Committed
from tests.jobs.delivering import Delivering, fresh


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


NOT_OURS = Batch("", 0, (), "ada", "team-tool", "", "s", {})
"""A batch that a plugin posted: nothing in it tells whose it is."""


def rewrite(d: Delivering, **columns: object) -> None:
    with closing(sqlite3.connect(d.path)) as connection:
        for column, value in columns.items():
            connection.execute(f"UPDATE flushes SET {column} = ?", (value,))
        connection.commit()


def reserved(d: Delivering) -> None:
    """Reserve a packet and leave it without a job."""
    d.exchange()
    assert d.evidence.prepare("s", "session-end", list) is not None


@pytest.mark.parametrize("state", [ExtractionState.SUCCEEDED, ExtractionState.FAILED, ExtractionState.MISSING])
def test_a_legacy_row_with_one_bare_event(delivering: Delivering, state: ExtractionState) -> None:
    """Succeeded closes it without a post; failed or missing posts everything again (facts 2.24)."""
    reserved(delivering)
    rewrite(delivering, semantic_event_id="old-1", status="semantic-queued")
    if state is not ExtractionState.MISSING:
        delivering.platform.committed.append(Committed("old-1", NOT_OURS, state))
    delivering.restart()
    delivering.run(60.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED
    assert delivering.platform.count("add") == (0 if state is ExtractionState.SUCCEEDED else 1)


def test_slots_that_a_plugin_filled_have_an_end_of_their_wait(delivering: Delivering) -> None:
    """An extraction whose post is not ours runs out of time as well, and the session goes on (facts 2.22, 2.10)."""
    reserved(delivering)
    delivering.platform.committed.append(Committed("evt-1", NOT_OURS, ExtractionState.RUNNING))
    rewrite(delivering, semantic_event_id=json.dumps(["evt-1"]), status="semantic-queued")
    delivering.restart()
    delivering.run(130.0)
    assert delivering.packet().attempts == 1
    assert delivering.packet().status == PacketStatus.TIMEOUT
    delivering.run(3_600.0)
    assert delivering.packet().status == PacketStatus.GAVE_UP
    assert delivering.platform.count("add") == 0


def test_a_packet_left_with_all_its_attempts_is_given_up_without_a_request(delivering: Delivering) -> None:
    """A sixth try is none: the packet is closed as a plugin would (facts 2.10)."""
    reserved(delivering)
    rewrite(delivering, attempts=MAX_ATTEMPTS, status="error", error="refused")
    delivering.restart()
    delivering.run(10.0)
    assert delivering.platform.count("add") == 0
    assert (delivering.packet().status, delivering.packet().attempts) == (PacketStatus.GAVE_UP, MAX_ATTEMPTS)
