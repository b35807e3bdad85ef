"""Checkpoints of a plugin's spool, whose own worker may be at the same packet (facts 1.12, 1.23, 1.24)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jobs.job import JobState
from tests.jobs.delivering import Delivering

PLUGIN_TABLES = """
CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, app_id TEXT, session_id TEXT, created_at TEXT, kind TEXT,
    payload_json TEXT, flush_id TEXT);
CREATE TABLE flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, app_id TEXT, session_id TEXT, reason TEXT,
    event_start INTEGER, event_end INTEGER, status TEXT, episode_event_id TEXT, semantic_event_id TEXT, error TEXT,
    attempts INTEGER DEFAULT 0, created_at TEXT, updated_at TEXT);
INSERT INTO events(repo_id, app_id, session_id, kind, payload_json, flush_id) VALUES
    ('r', 'a', 's', 'user_prompt', '{"text": "question 1"}', 'p1'),
    ('r', 'a', 's', 'assistant_stop', '{"text": "answer 1"}', 'p1');
INSERT INTO flushes VALUES ('p1', 'r', 'a', 's', 'periodic', 1, 2, 'prepared', '', '', '', 0,
    '2027-01-15T08:00:00Z', '2027-01-15T08:00:00Z');
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Iterator[Delivering]:
    """Serve a plugin's store with a packet that was prepared just now."""
    with closing(sqlite3.connect(tmp_path / "evidence.sqlite3")) as connection:
        connection.executescript(PLUGIN_TABLES)
    made = Delivering(tmp_path, own=False)
    yield made
    made.close()


def test_a_plugins_packet_in_flight_is_left_to_its_worker_for_a_while(plugins: Delivering) -> None:
    """`wait_for_inflight` waits up to the extraction wait, then the packet is taken over (facts 1.24)."""
    job = plugins.ask(handoff="h", wait_for_inflight=True)
    plugins.run(115.0)
    assert plugins.platform.calls == []
    assert "another program" in plugins.job(job).reason
    plugins.run(30.0)
    assert plugins.platform.count("add") == 1
    assert plugins.job(job).state is JobState.DONE


def test_a_plugins_packet_that_its_worker_delivers_meanwhile_is_not_sent(plugins: Delivering) -> None:
    """The wait ends with the flight."""
    job = plugins.ask(handoff="h", wait_for_inflight=True)
    plugins.run(10.0)
    with closing(sqlite3.connect(plugins.path)) as connection:
        connection.execute("UPDATE flushes SET status = 'semantic-succeeded'")
        connection.commit()
    plugins.run(5.0)
    assert plugins.job(job).state is JobState.DONE
    assert plugins.platform.calls == []


def test_a_handoff_without_that_wish_is_the_packets_own(plugins: Delivering) -> None:
    """A plugin reserves the packet and hands it off: it is ours to deliver at once (facts 1.23)."""
    plugins.ask(handoff="h", reason="periodic")
    plugins.run(5.0)
    assert plugins.platform.count("add") == 1


def test_a_person_does_not_take_a_packet_from_a_plugins_worker(plugins: Delivering) -> None:
    """`flush` waits for a packet in flight until it has not moved for 300 s (facts 1.12)."""
    plugins.ask(reason="manual")
    plugins.run(290.0)
    assert plugins.platform.count("add") == 0
    plugins.run(30.0)
    assert plugins.platform.count("add") == 1
