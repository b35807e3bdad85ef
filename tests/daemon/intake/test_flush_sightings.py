"""When a spool's hooks last asked for a flush."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from daemon.intake.flush_sightings import NOTED_SECONDS, FlushSightings
from memsyncd.clock import rfc3339
from memsyncd.evidence import flush_sightings
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.handoff import Handoff
from tests.daemon.intake.ingesting import Ingesting
from tests.memsyncd.evidence.test_plugin_store import TODAY


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def sightings(at: Ingesting) -> Mapping[str, str]:
    with closing(sqlite3.connect(at.spool.evidence)) as connection:
        return flush_sightings.read(connection)


def test_it_is_kept_by_its_reason_and_the_time_of_the_hook(at: Ingesting) -> None:
    """A handoff may have waited long for a daemon; one taken in later does not make it older."""
    begun = at.hands.wall_now
    at.prompt("q")
    at.scan()
    assert sightings(at) == {"": rfc3339(begun)}, "since then it is known that none came"
    at.hands.move(60.0)
    at.end(captured=begun + 30.0)
    at.scan()
    seen = {"": rfc3339(begun), "session-end": rfc3339(begun + 30.0)}
    assert sightings(at) == seen
    at.restart()
    at.end(captured=begun)
    at.drop("flush", envelope={"reason": "pre-compact"}, captured=begun + NOTED_SECONDS)
    at.scan()
    assert sightings(at) == {**seen, "pre-compact": rfc3339(at.hands.wall_now)}, "no hook runs in the future"


def test_it_is_kept_once_an_hour(at: Ingesting) -> None:
    """Days are asked for, and a handoff must not cost a transaction."""
    at.end()
    at.scan()
    first = sightings(at)
    at.hands.move(NOTED_SECONDS - 1.0)
    at.end()
    at.scan()
    assert sightings(at) == first
    at.hands.move(1.0)
    at.end()
    at.scan()
    assert sightings(at)["session-end"] == rfc3339(at.hands.wall_now)


def test_what_no_hook_asked_for_shows_nothing_of_hooks(at: Ingesting) -> None:
    """A person's flush, and the end that the daemon itself found."""
    at.drop("flush", envelope={"reason": "manual"})
    at.end(name="over-0123")
    at.scan()
    assert set(sightings(at)) == {flush_sightings.BEGUN}


def test_a_plugins_file_is_not_written_to(at: Ingesting, tmp_path: Path) -> None:
    """Its settings are the plugin's own."""
    path = tmp_path / "plugin.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        for statement in (*TODAY, "CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT, updated_at TEXT)"):
            connection.execute(statement)
    store = EvidenceStore.open(path, own=False, clock=at.hands.clock())
    ended = Handoff("1", "flush", {}, reason="session-end")
    FlushSightings(at.hands.clock()).note("codex-plugin", store, [ended])
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM settings").fetchall() == []
