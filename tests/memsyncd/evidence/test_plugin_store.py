"""Serving a plugin's evidence store in place, whatever its age (facts 2.x, 16.6; issue 2, last section)."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence import database, errors
from memsyncd.evidence.event import NewEvent, Post, Scope
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.store import EvidenceStore

NOW = 1_796_000_000.0

EVENTS = "CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, app_id TEXT, session_id TEXT, created_at TEXT, kind TEXT, payload_json TEXT, flush_id TEXT)"
SCOPES = "CREATE TABLE session_scopes(session_id TEXT PRIMARY KEY, repo_id TEXT, app_id TEXT, root TEXT, branch TEXT, head_sha TEXT, created_at TEXT, directory TEXT)"
FLUSHES = "CREATE TABLE flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, app_id TEXT, session_id TEXT, reason TEXT, event_start INTEGER, event_end INTEGER, status TEXT, episode_event_id TEXT, semantic_event_id TEXT, error TEXT, attempts INTEGER DEFAULT 0, created_at TEXT, updated_at TEXT)"
OPERATIONS = "CREATE TABLE operations(id INTEGER PRIMARY KEY, created_at TEXT, repo_id TEXT, session_id TEXT, operation TEXT, duration_ms REAL, success INTEGER, item_count INTEGER)"
TODAY = (EVENTS, SCOPES, FLUSHES, OPERATIONS)

OLD_FLUSHES = "CREATE TABLE flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, session_id TEXT, reason TEXT, event_start INTEGER, event_end INTEGER, status TEXT, semantic_event_id TEXT)"
OLD_SCOPES = "CREATE TABLE session_scopes(session_id TEXT PRIMARY KEY, repo_id TEXT, app_id TEXT, root TEXT, branch TEXT, head_sha TEXT)"
OLD_EVENTS = "CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, session_id TEXT, kind TEXT, payload_json TEXT, flush_id TEXT)"


class Plugin:
    """The plugin's own program, writing to its file beside us."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *statements: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """Execute and commit; return the rows of the last statement."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            for statement in statements:
                rows = connection.execute(statement, values).fetchall()
            connection.commit()
            return rows

    def event(
        self,
        kind: str,
        text: str,
        session: str = "s-1",
        repo: str = "repo",
        created_at: object = "2026-11-30T10:00:00+00:00",
    ) -> None:
        """Record an event into whatever columns there are."""
        columns = {
            "repo_id": repo,
            "app_id": "app",
            "session_id": session,
            "created_at": created_at,
            "kind": kind,
            "payload_json": json.dumps({"text": text}),
        }
        present = {row[1] for row in self.run("PRAGMA table_info(events)")}
        known = {column: value for column, value in columns.items() if column in present}
        self.run(
            f"INSERT INTO events({', '.join(known)}) VALUES ({', '.join('?' * len(known))})",
            values=tuple(known.values()),
        )


@pytest.fixture(name="plugin")
def plugin_fixture(tmp_path: Path) -> Plugin:
    """Return a plugin that has made no tables yet."""
    return Plugin(tmp_path / "evidence.sqlite3")


@pytest.fixture(name="serve")
def serve_fixture(plugin: Plugin, counters: Counters) -> Iterator[Callable[..., EvidenceStore]]:
    """Return what opens the plugin's file after it ran the given statements."""
    opened: list[EvidenceStore] = []

    def serve(*statements: str) -> EvidenceStore:
        plugin.run(*statements)
        opened.append(
            EvidenceStore.open(
                plugin.path,
                own=False,
                clock=Clock(wall=lambda: NOW),
                project_id_of=lambda app_id, repo_id: f"{app_id}@{repo_id}",
                counters=counters,
            )
        )
        return opened[-1]

    yield serve
    for store in opened:
        store.close()


Serve = Callable[..., EvidenceStore]


def test_no_file_is_made(tmp_path: Path) -> None:
    """A plugin's file that is not there is not created."""
    path = tmp_path / "evidence.sqlite3"
    with pytest.raises(FileNotFoundError):
        EvidenceStore.open(path, own=False, clock=Clock())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tables", [TODAY, (OLD_EVENTS, OLD_SCOPES, OLD_FLUSHES), (OLD_EVENTS, OLD_FLUSHES)])
def test_a_packet_of_any_age(plugin: Plugin, serve: Serve, tables: tuple[str, ...]) -> None:
    """Files of today and of yesterday are read, reserved from, posted and closed in place; no column is added."""
    store = serve(*tables)
    for kind, text in (("session_start", ""), ("user_prompt", "q"), ("assistant_stop", "a")):
        plugin.event(kind, text)
    plugin.event("user_prompt", "elsewhere", repo="other")
    plugin.event("assistant_stop", "b")
    assert not store.read_only
    packet = store.prepare("s-1", "session-end", list)
    assert packet is not None
    assert [event.payload["text"] for event in store.packet_events(packet.packet_id)] == [
        "",
        "q",
        "a",
        "b",
    ]  # facts 2.7
    store.begin_post(packet.packet_id, 0, 1.0)
    store.accept_post(packet.packet_id, 0, "evt-1", batches=2, at=2.0)
    assert [store.fail_packet(packet.packet_id, "semantic-failed", "why") for _ in range(2)] == [1, 2]
    found = store.packet(packet.packet_id)
    assert found is not None
    assert (found.attempts, found.slots, found.status) == (2, ("evt-1", ""), "semantic-failed")
    assert store.open_packet("s-1") == found
    assert plugin.run("SELECT status, semantic_event_id, event_start, event_end FROM flushes") == [
        ("semantic-failed", '["evt-1", ""]', 1, 5)
    ]
    assert plugin.run("SELECT COUNT(*) FROM events WHERE flush_id IS NULL") == [(1,)]
    store.close_packet(packet.packet_id, "semantic-succeeded")
    assert store.open_packets() == []
    assert (
        plugin.run("SELECT sql FROM sqlite_master WHERE name = 'flushes'")[0][0]
        == tables[-1 if "operations" not in tables[-1] else 2]
    )
    assert store.scope("s-1") == Scope("repo", found.app_id, f"{found.app_id}@repo")


def test_more_columns_than_we_know(plugin: Plugin, serve: Serve) -> None:
    """Columns of a newer plugin with a default are left to it."""
    store = serve(
        EVENTS, SCOPES, FLUSHES.replace("updated_at TEXT", "updated_at TEXT, lane TEXT NOT NULL DEFAULT 'x', note TEXT")
    )
    plugin.run("ALTER TABLE events ADD COLUMN mood TEXT")
    plugin.event("user_prompt", "q")
    assert store.prepare("s-1", "idle", list) is not None
    assert plugin.run("SELECT lane, note FROM flushes") == [("x", None)]


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ((), "no table events"),
        ((EVENTS,), "no table flushes"),
        ((FLUSHES,), "no table events"),
        ((EVENTS.replace("flush_id", "batch_id"), FLUSHES), "no column flush_id in events"),
        ((EVENTS, FLUSHES.replace("semantic_event_id", "job_id")), "no column semantic_event_id in flushes"),
        ((EVENTS, FLUSHES.replace("updated_at TEXT", "owner TEXT NOT NULL")), "column owner of flushes"),
    ],
)
def test_an_unknown_form_is_read_only(
    plugin: Plugin, serve: Serve, new_event: Callable[..., NewEvent], tables: tuple[str, ...], told: str
) -> None:
    """A schema we do not know is served read-only and said so; not a byte of it is written (issue 2)."""
    store = serve("PRAGMA user_version", *tables)
    content = plugin.path.read_bytes()
    assert store.read_only
    assert told in store.problem
    for write in (
        lambda: store.prepare("s-1", "idle", list),
        lambda: store.begin_post("p", 0, 1.0),
        lambda: store.close_packet("p", "error"),
        lambda: store.record_operation(Operation("flush")),
        lambda: store.append([new_event("user_prompt", "q")]),
    ):
        with pytest.raises(errors.ReadOnlyStore):
            write()
    assert plugin.path.read_bytes() == content


def test_odd_ids_are_an_unknown_form(plugin: Plugin, serve: Serve) -> None:
    """Event ids that are no whole numbers are an unknown form."""
    plugin.run(EVENTS.replace("id INTEGER PRIMARY KEY", "id TEXT"), FLUSHES)
    plugin.run("INSERT INTO events(id, session_id, kind, payload_json) VALUES ('uuid', 's', 'k', '{}')")
    store = serve("SELECT 1")
    assert store.read_only
    assert "whole numbers" in store.problem


def test_an_upgrade_while_served(plugin: Plugin, serve: Serve) -> None:
    """When the plugin completes its file the store becomes writable by itself."""
    store = serve(EVENTS)
    assert store.read_only
    plugin.run(OLD_FLUSHES)
    plugin.event("user_prompt", "q")
    assert len(store.unflushed("s-1")) == 1
    assert (store.read_only, store.problem) == (False, "")
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    plugin.run("ALTER TABLE flushes ADD COLUMN attempts INTEGER DEFAULT 0")
    assert store.fail_packet(packet.packet_id, "error", "x") == 1
    assert plugin.run("SELECT attempts FROM flushes") == [(1,)]


def test_the_plugin_keeps_no_events_of_ours(serve: Serve, new_event: Callable[..., NewEvent]) -> None:
    """Events of a plugin's spool are written by the plugin alone."""
    with pytest.raises(errors.ReadOnlyStore):
        serve(*TODAY).append([new_event("user_prompt", "q")])


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("2026-11-30T10:00:00+00:00", "2026-11-30T10:00:00+00:00"),
        (1_796_000_000, "2026-11-30T00:53:20.000Z"),
        (1_796_000_000.25, "2026-11-30T00:53:20.250Z"),
        (1_796_000_000_250, "2026-11-30T00:53:20.250Z"),
        ("1796000000.25", "2026-11-30T00:53:20.250Z"),
        (1e300, ""),
        (None, ""),
        ("yesterday", "yesterday"),
    ],
)
def test_times_of_any_form(plugin: Plugin, serve: Serve, stored: object, told: str) -> None:
    """Times may be text, seconds or milliseconds; what is none is no error."""
    store = serve(EVENTS.replace("created_at TEXT", "created_at"), FLUSHES)
    plugin.event("user_prompt", "q", created_at=stored)
    assert store.unflushed("s-1")[0].created_at == told
    assert store.sessions_with_unflushed()[0].last_event_at == told


@pytest.mark.parametrize(("declared", "written"), [("TEXT", "2026-11-30T00:53:20.000Z"), ("REAL", NOW)])
def test_times_are_written_as_the_plugin_does(plugin: Plugin, serve: Serve, declared: str, written: object) -> None:
    """A file whose times are numbers gets numbers from us, one with text gets text."""
    plugin.run(
        *(
            table.replace("created_at TEXT", f"created_at {declared}").replace(
                "updated_at TEXT", f"updated_at {declared}"
            )
            for table in TODAY
        )
    )
    plugin.event("user_prompt", "q", created_at=1.0 if declared == "REAL" else "2026-11-30T10:00:00Z")
    store = serve("SELECT 1")
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    assert packet.created_at == "2026-11-30T00:53:20.000Z"
    assert store.record_operation(Operation("flush"))
    assert plugin.run("SELECT created_at, updated_at FROM flushes") == [(written, written)]
    assert plugin.run("SELECT created_at FROM operations") == [(written,)]


def test_no_operation_log(serve: Serve) -> None:
    """A file without an operation log gets none."""
    assert not serve(EVENTS, FLUSHES).record_operation(Operation("flush"))


def test_unreadable_payloads(plugin: Plugin, serve: Serve, counters: Counters) -> None:
    """A payload that is no JSON object makes an empty one, is counted, and delays no neighbour (never-again 21)."""
    store = serve(*TODAY)
    plugin.event("user_prompt", "q")
    for payload in ("{torn", "[1]", None, b"\xff"):
        plugin.run(
            "INSERT INTO events(repo_id, session_id, kind, payload_json) VALUES ('repo', 's-1', 'tool_result', ?)",
            values=(payload,),
        )
    plugin.event("assistant_stop", "a")
    assert [event.payload for event in store.unflushed("s-1")] == [{"text": "q"}, {}, {}, {}, {}, {"text": "a"}]
    assert counters.snapshot() == {"evidence_payloads_unreadable": 4}


def test_bytes_that_are_no_utf8(plugin: Plugin, serve: Serve) -> None:
    """Text that is no UTF-8 is read with a mark in place of what cannot be."""
    store = serve(*TODAY)
    plugin.run(
        "INSERT INTO events(repo_id, session_id, kind, payload_json) VALUES ('repo', 's-1', 'user_prompt', CAST(x'7b2274657874223a2261ff227d' AS TEXT))"
    )
    assert store.unflushed("s-1")[0].payload == {"text": "a\ufffd"}


LEGACY = "INSERT INTO flushes(packet_id, repo_id, session_id, reason, event_start, event_end, status, semantic_event_id) VALUES ('p', 'repo', 's-1', 'idle', 1, 2, 'semantic-timeout', ?)"


@pytest.mark.parametrize(
    ("stored", "slots", "bare"),
    [
        ("evt-1", ("evt-1",), True),
        ("0a1b-2c", ("0a1b-2c",), True),
        ("12345", ("12345",), True),
        ('["evt-1", ""]', ("evt-1", ""), False),
        ('["evt-1", null]', ("evt-1", ""), False),
        ("[]", (), False),
        ("", (), False),
        (None, (), False),
    ],
)
def test_slots_of_any_age(plugin: Plugin, serve: Serve, stored: object, slots: tuple[str, ...], bare: bool) -> None:
    """Old rows hold one bare event id, read as slots of one (facts 2.19, 2.24)."""
    plugin.run(*TODAY)
    plugin.run(LEGACY, values=(stored,))
    store = serve("SELECT 1")
    (packet,) = store.open_packets()
    assert (packet.slots, packet.bare_slot, packet.status) == (slots, bare, "semantic-timeout")


def test_a_bare_slot_that_failed(plugin: Plugin, serve: Serve) -> None:
    """When the extraction of a bare slot failed everything is posted again (facts 2.24)."""
    plugin.run(*TODAY)
    plugin.run(LEGACY, values=("evt-1",))
    store = serve("SELECT 1")
    store.restart_wait("p", 5.0)
    assert store.posts("p") == [Post("p", 0, 5.0, "evt-1", 5.0)]
    store.forget_slot("p", 0)
    packet = store.packet("p")
    assert packet is not None
    assert (packet.slots, packet.bare_slot, store.posts("p")) == ((), False, [])


def test_slots_a_plugin_filled(plugin: Plugin, serve: Serve) -> None:
    """Slots the plugin filled have no post until their wait begins; one it filled anew replaces ours (facts 2.22)."""
    plugin.run(*TODAY)
    plugin.run(LEGACY, values=('["evt-1", "", "evt-3"]',))
    store = serve("SELECT 1")
    assert store.posts("p") == ()
    store.restart_wait("p", 5.0)
    assert [(post.batch, post.event_id, post.waiting_since) for post in store.posts("p")] == [
        (0, "evt-1", 5.0),
        (2, "evt-3", 5.0),
    ]
    plugin.run("UPDATE flushes SET semantic_event_id = '[\"evt-9\"]'")
    store.restart_wait("p", 6.0)
    assert store.posts("p")[0].event_id == "evt-9"


def test_the_plugin_closes_it_first(plugin: Plugin, serve: Serve) -> None:
    """What the plugin does to a packet meanwhile is seen at once."""
    store = serve(*TODAY)
    plugin.event("user_prompt", "q")
    assert store.sessions_with_unflushed()[0].events == 1
    assert store.counts()["packets"] == 0
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    plugin.run("UPDATE flushes SET status = 'semantic-succeeded'")
    plugin.event("user_prompt", "r")
    assert store.open_packet("s-1") is None
    assert store.counts()["packets_open"] == 0
    assert [event.payload["text"] for event in store.unflushed("s-1")] == ["r"]
    assert store.sessions_with_unflushed()[0].events == 1


def test_events_out_of_order(plugin: Plugin, serve: Serve) -> None:
    """Events come in the order of recording, which is that of rowid, not of their own ids."""
    store = serve(EVENTS.replace("id INTEGER PRIMARY KEY", "id INTEGER"), FLUSHES)
    for number in (5, 3, 9):
        plugin.run(
            "INSERT INTO events(id, repo_id, session_id, kind, payload_json) VALUES (?, 'repo', 's-1', 'user_prompt', '{}')",
            values=(number,),
        )
    assert [event.id for event in store.unflushed("s-1")] == [5, 3, 9]
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    assert (packet.event_start, packet.event_end) == (5, 9)
    assert [event.id for event in store.packet_events(packet.packet_id)] == [5, 3, 9]


def test_a_table_without_rowid(plugin: Plugin, serve: Serve) -> None:
    """A table without rowids is read in the order of its ids."""
    store = serve(EVENTS + " WITHOUT ROWID", FLUSHES)
    for number in (5, 3):
        plugin.run(
            "INSERT INTO events(id, repo_id, session_id, kind, payload_json) VALUES (?, 'repo', 's-1', 'user_prompt', '{}')",
            values=(number,),
        )
    assert [event.id for event in store.unflushed("s-1")] == [3, 5]
    assert store.sessions_with_unflushed()[0].events == 2
    assert store.prepare("s-1", "idle", list) is not None


def test_the_journal_mode_is_the_plugins(plugin: Plugin, serve: Serve) -> None:
    """A plugin's file keeps its journal mode; our table comes with the first write only."""
    plugin.run(*TODAY)
    with closing(sqlite3.connect(plugin.path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    store = EvidenceStore.open(plugin.path, own=False, clock=Clock())
    store.checkpoint()
    store.counts()
    with closing(sqlite3.connect(plugin.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'memsyncd%'").fetchone() == (0,)
    store.close()


def test_the_plugin_begins_a_new_file(plugin: Plugin, serve: Serve) -> None:
    """When the plugin sets its file aside and begins a new one, that one is served (facts 16.5)."""
    store = serve(*TODAY)
    plugin.event("user_prompt", "old")
    assert len(store.unflushed("s-1")) == 1
    for name in (plugin.path, *plugin.path.parent.glob("evidence.sqlite3-*")):
        name.rename(f"{name}.corrupt-1")
    with pytest.raises(errors.StoreUnavailable):
        store.unflushed("s-1")
    plugin.run(*TODAY)
    plugin.event("user_prompt", "new")
    assert [event.payload["text"] for event in store.unflushed("s-1")] == ["new"]
    assert store.prepare("s-1", "idle", list) is not None


def test_a_packet_the_plugin_prepared(plugin: Plugin, serve: Serve) -> None:
    """Of a packet the plugin prepared, branch and commit are kept from our first request on (DESIGN, promise 3)."""
    store = serve(*TODAY)
    plugin.event("user_prompt", "q")
    plugin.run("INSERT INTO session_scopes VALUES ('s-1', 'repo', 'app', '/w', 'main', 'abc', '', 'src')")
    plugin.run(LEGACY, values=(None,))
    store.begin_post("p", 0, 1.0)
    plugin.run("UPDATE session_scopes SET branch = 'other', head_sha = 'def'")
    assert store.packet_to_send("p")[1] == Scope("repo", "app", "app@repo", "/w", "main", "abc", "src")
    moved = store.scope("s-1")
    assert moved is not None
    assert (moved.branch, moved.head_sha) == ("other", "def")


def test_a_packet_without_its_events(plugin: Plugin, serve: Serve) -> None:
    """A packet whose session is known no more still says where it belongs."""
    plugin.run(*TODAY)
    plugin.run(LEGACY, values=(None,))
    assert serve("SELECT 1").packet_to_send("p")[1] == Scope("repo", "", "@repo")


def test_a_file_that_may_not_be_written(plugin: Plugin) -> None:
    """Where SQLite falls back to reading without a word, that is noticed."""
    plugin.run(*TODAY)
    for mode, expected in (("ro", False), ("rw", True)):
        with closing(
            sqlite3.connect(f"{plugin.path.as_uri()}?mode={mode}", uri=True, isolation_level=None)
        ) as connection:
            assert database._is_writable(connection) is expected
