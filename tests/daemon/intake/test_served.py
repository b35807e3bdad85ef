"""Which spools are served, and what becomes of those that vanish, return, break or change their form."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from daemon.intake.served import places_to_serve
from memsyncd.evidence.errors import StoreUnavailable
from tests.daemon.intake.ingesting import Ingesting


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def names(at: Ingesting) -> list[str]:
    return [spool.name for spool in at.served.spools()]


def refresh(at: Ingesting) -> list[str]:
    return [spool.name for spool in at.served.refresh(at.findings)]


def codes(at: Ingesting) -> list[str]:
    return [finding.code for finding in at.findings.all()]


def plugin(at: Ingesting, *statements: str) -> Path:
    path = at.root / ".mem0" / "codex-plugin"
    (path / "pending").mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path / "evidence.sqlite3")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


TABLES = (
    "CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, session_id TEXT, kind TEXT, payload_json TEXT, flush_id TEXT)",
    "CREATE TABLE flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, session_id TEXT, reason TEXT, event_start INTEGER, event_end INTEGER, status TEXT, semantic_event_id TEXT)",
)


def test_a_second_look_finds_nothing_new(at: Ingesting) -> None:
    """Only what was not served yet is reported, so that watching is not begun anew all the time."""
    assert refresh(at) == []
    (at.root / "spools" / "codex" / "pending").mkdir(parents=True)
    assert refresh(at) == ["codex"]
    assert refresh(at) == []


def test_a_deleted_spool_is_served_no_more(at: Ingesting) -> None:
    """Its store is closed, its problems go with it, and nothing is made where it was."""
    store = at.served.store("claude-code")
    at.findings.report("spool-read-only", str(at.spool_path), "gone")
    shutil.rmtree(at.spool_path)
    refresh(at)
    assert names(at) == []
    assert codes(at) == []
    assert not at.spool_path.exists()
    with pytest.raises(KeyError):
        at.served.store("claude-code")
    with pytest.raises(StoreUnavailable):
        store.counts()


def test_a_spool_made_again_is_new(at: Ingesting) -> None:
    """The directories watched are others now, so it counts as new; its store is the new one."""
    at.prompt("before")
    at.scan()
    shutil.rmtree(at.spool_path)
    (at.spool_path / "pending").mkdir(parents=True, mode=0o700)
    assert refresh(at) == ["claude-code"]
    at.prompt("after")
    at.scan()
    assert at.texts() == ["after"]
    assert (at.spool_path / "dead").is_dir()


def test_a_spool_that_is_a_file_is_told_of(at: Ingesting) -> None:
    """Nothing is removed, and it is served once it is a directory again."""
    shutil.rmtree(at.spool_path)
    at.spool_path.write_text("in the way")
    refresh(at)
    assert at.spool_path.read_text() == "in the way"
    at.spool_path.unlink()
    (at.spool_path / "pending").mkdir(parents=True, mode=0o700)
    refresh(at)
    at.prompt("back")
    at.scan()
    assert at.texts() == ["back"]
    assert codes(at) == []


def test_a_plugin_without_a_store_gets_none(at: Ingesting) -> None:
    """Its own program makes its store; until then its handoffs are left to it."""
    path = at.root / ".mem0" / "codex-plugin"
    (path / "pending").mkdir(parents=True)
    (path / "pending" / "x.json").write_text('{"hook_input": {}}')
    refresh(at)
    at.scan()
    assert not (path / "evidence.sqlite3").exists()
    assert (path / "pending" / "x.json").exists()
    plugin(at, *TABLES)
    refresh(at)
    at.scan()
    assert (path / "pending" / "x.running").exists()


def test_a_store_whose_form_changes_is_told_of_and_cleared_again(at: Ingesting) -> None:
    """A plugin that upgrades its file while it is served is shown as it is at present."""
    path = plugin(at, *TABLES)
    refresh(at)
    assert codes(at) == []
    with closing(sqlite3.connect(path / "evidence.sqlite3")) as other:
        other.execute("ALTER TABLE flushes RENAME TO packets")
        (name,) = [name for name in names(at) if name.startswith("codex@")]
        with pytest.raises(sqlite3.Error):
            at.served.store(name).open_packets()
        refresh(at)
        assert codes(at) == ["evidence-read-only"]
        other.execute("ALTER TABLE packets RENAME TO flushes")
        at.served.store(name).open_packets()
        refresh(at)
    assert codes(at) == []


def test_a_newer_store_is_taken_up_once_it_can_be_read(at: Ingesting) -> None:
    """The spool is set aside, the file untouched; what waits is taken in after the file is of a known version."""
    at.close()
    with closing(sqlite3.connect(at.spool_path / "evidence.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("CREATE TABLE later(a)")
        connection.commit()
    at.start()
    at.prompt("waits")
    at.scan()
    assert codes(at) == ["newer-evidence"]
    assert len(at.pending()) == 1
    for file in at.spool_path.glob("evidence.sqlite3*"):
        file.unlink()
    refresh(at)
    at.scan()
    assert at.texts() == ["waits"]
    assert codes(at) == []


def test_one_directory_under_two_names_is_one_spool(tmp_path: Path) -> None:
    """A configured path that is a link to a discovered spool does not make a second one of it."""
    path = tmp_path / ".mem0" / "codex-plugin"
    path.mkdir(parents=True)
    (tmp_path / "link").symlink_to(path)
    places = places_to_serve(tmp_path / "none", [(tmp_path / "link", "codex")], tmp_path, discover=True)
    assert [place.path for place in places] == [tmp_path / "link"]


def test_only_directories_of_plugins_are_discovered(tmp_path: Path) -> None:
    """Other things below `~/.mem0` are nobody's spool."""
    for name in ("codex-plugin", "cache", "kimi-plugin"):
        (tmp_path / ".mem0" / name).mkdir(parents=True)
    (tmp_path / ".mem0" / "file-plugin").write_text("")
    places = places_to_serve(tmp_path / "none", [], tmp_path, discover=True)
    assert [(place.harness, place.own) for place in places] == [("codex", False), ("kimi", False)]
