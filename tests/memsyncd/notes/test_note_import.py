"""Bringing the old server's files over."""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from memsyncd.notes.importing import ImportedFiles, import_old_notes
from memsyncd.notes.note import Arrival
from memsyncd.notes.store import NoteStore
from tests.clocks import HandClock

MOMENT = "2026-11-30T10:00:00Z"
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture(name="source")
def source_fixture(tmp_path: Path) -> Path:
    """Return the old directory, empty."""
    source = tmp_path / ".agent-memory"
    source.mkdir()
    return source


def entry(key: Any = "k", value: Any = "v", **more: Any) -> dict[str, Any]:
    return {
        "key": key, "value": value, "created_at": MOMENT, "accessed_at": MOMENT, "expires_at": None, "access_count": 2,
        **more,
    }  # fmt: skip


def write(source: Path, name: str, content: Any) -> None:
    (source / name).write_text(content if isinstance(content, str) else json.dumps(content))


def bring(store: NoteStore, source: Path) -> ImportedFiles:
    return import_old_notes(store, source, source.parent / "aside")


def test_notes_come_over_with_their_times(store: NoteStore, source: Path) -> None:
    """Each file is a namespace; the server's own figures are none."""
    write(source, "default.json", [entry(), entry("timed", expires_at=4_000_000_000.5)])
    write(source, "shop.json", [entry(value="other")])
    write(source, "_meta.json", {"total_entries": 3, "namespace_count": 2})
    outcome = bring(store, source)
    assert (outcome.files, outcome.arrivals, outcome.not_read) == (3, {Arrival.BROUGHT: 3}, 0)
    note = store.recall("default", "k")
    assert (note.value, note.access_count, note.created_at) == ("v", 2, 1_796_032_800_000)
    assert store.recall("default", "timed").expires_at == 4_000_000_000_500
    assert store.recall("shop", "k").value == "other"


def test_a_second_import_brings_nothing_twice(store: NoteStore, source: Path, hands: HandClock) -> None:
    """What was changed or forgotten here since, or has run out, stays so; what was written there since comes."""
    write(source, "default.json", [entry(key) for key in ("same", "changed", "forgotten", "timed", "newer", "cleared")])
    write(source, "gone.json", [entry()])
    bring(store, source)
    hands.move(10)
    store.remember("default", "changed", "here")
    store.forget("default", "forgotten")
    store.clear("gone")
    store.remember("default", "timed", "v", ttl_seconds=5)
    hands.move(10)
    store.sweep(hands.wall_now, 100)
    later = "2027-01-02T00:00:00Z"
    write(
        source,
        "default.json",
        [
            entry("same"),
            entry("changed", "there"),
            entry("forgotten"),
            entry("timed"),
            entry("newer", "w", created_at=later),
        ],
    )
    assert bring(store, source).arrivals == {
        Arrival.UNCHANGED: 1,
        Arrival.OLDER: 1,
        Arrival.FORGOTTEN: 3,
        Arrival.UPDATED: 1,
    }
    assert store.recall("default", "changed").value == "here"
    assert store.recall("default", "newer").value == "w"


def test_the_source_is_only_read(store: NoteStore, source: Path) -> None:
    """Every file is as it was, by content, time and mode."""
    write(source, "default.json", [entry(), {"value": "no key"}])
    write(source, "broken.json", '[{"key": "k", "val')

    def seen() -> dict[str, tuple[str, int, int]]:
        return {
            path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_mode)
            for path in source.iterdir()
        }

    before = seen()
    bring(store, source)
    assert seen() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty"),
        ("\0\0\0", "is empty"),
        ('[{"key": "k", "val', "is not JSON"),
        ('{"k": "v"}', "is not a list of entries"),
        ("5", "is not a list of entries"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_is_set_aside_whole_and_named(
    store: NoteStore, source: Path, content: str, reason: str
) -> None:
    """Its copy is private and made once; its neighbours come over."""
    write(source, "bad.json", content)
    write(source, "good.json", [entry()])
    first, second = bring(store, source), bring(store, source)
    (named,) = first.named
    assert (named.file, named.place, named.reason) == ("bad.json", None, reason)
    assert named.copy is not None
    assert named.copy.read_text() == content
    assert stat.S_IMODE(named.copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(named.copy.parent.stat().st_mode) == 0o700
    assert first.arrivals == {Arrival.BROUGHT: 1}
    assert second.named == first.named
    assert len(list(named.copy.parent.iterdir())) == 1


def test_bytes_that_are_no_text_are_set_aside(store: NoteStore, source: Path) -> None:
    """They are kept byte for byte."""
    (source / "bad.json").write_bytes(b"[\xff\xfe]")
    (named,) = bring(store, source).named
    assert named.reason == "is not text in UTF-8"
    assert named.copy is not None
    assert named.copy.read_bytes() == b"[\xff\xfe]"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("text", "is not an object"),
        ({"value": "v"}, "has no key that is text"),
        (entry(5), "has no key that is text"),
        (entry(""), "key must not be blank"),
        (entry(value=None), "has no value"),
        (entry(value="  "), "value must not be blank"),
        (entry(expires_at="soon"), "has an expires_at that is not a time"),
        (entry(expires_at=float("nan")), "has an expires_at that is not a time"),
        (entry(expires_at=True), "has an expires_at that is not a time"),
        (entry("k\ud800"), "key holds half a character (a surrogate alone), which cannot be stored"),
    ],
)
def test_a_bad_entry_costs_no_other(store: NoteStore, source: Path, bad: Any, reason: str) -> None:
    """It is named by its place and kept aside with the reason."""
    write(source, "default.json", [entry("one"), bad, entry("two")])
    outcome = bring(store, source)
    assert outcome.arrivals == {Arrival.BROUGHT: 2}
    (named,) = outcome.named
    assert (named.file, named.place, named.reason) == ("default.json", 2, reason)
    assert named.copy is not None
    kept = json.loads(named.copy.read_text())
    assert (kept["place"], kept["reason"]) == (2, reason)


def test_what_is_set_aside_of_an_entry_has_no_secret(store: NoteStore, source: Path) -> None:
    """Secrets and private spans go from its copy too; in the source they are anyway."""
    write(source, "default.json", [{"value": f"{SECRET} <private>mine</private> rest"}])
    (named,) = bring(store, source).named
    assert named.copy is not None
    kept = named.copy.read_text()
    assert SECRET not in kept
    assert "mine" not in kept
    assert "rest" in kept


def test_values_are_cleaned_and_converted_on_their_way_in(store: NoteStore, source: Path) -> None:
    """Secrets are replaced; a value that was no text comes as JSON. Both are counted."""
    write(source, "default.json", [entry("a", f"uses {SECRET}"), entry("b", {"port": 80}), entry("c", 5)])
    outcome = bring(store, source)
    assert (outcome.cleaned, outcome.converted) == (1, 2)
    assert store.recall("default", "a").value == "uses [REDACTED]"
    assert store.recall("default", "b").value == '{"port": 80}'


def test_expired_notes_are_counted_not_brought(store: NoteStore, source: Path, hands: HandClock) -> None:
    """As are those whose expiry is written as text."""
    write(source, "default.json", [entry(expires_at=hands.wall_now - 1), entry("j", expires_at="2026-01-01T00:00:00Z")])
    assert bring(store, source).arrivals == {Arrival.EXPIRED: 2}
    assert store.stats().total == 0


def test_an_entry_without_a_date_never_replaces_a_note(store: NoteStore, source: Path) -> None:
    """It comes where there is none, dated by its file."""
    os.utime(source)
    write(source, "default.json", [{"key": "new", "value": "v"}, {"key": "here", "value": "there", "created_at": "?"}])
    os.utime(source / "default.json", (1_700_000_000, 1_700_000_000))
    store.remember("default", "here", "here")
    assert bring(store, source).arrivals == {Arrival.BROUGHT: 1, Arrival.OLDER: 1}
    assert store.recall("default", "new").created_at == 1_700_000_000_000
    assert store.recall("default", "here").value == "here"


def test_a_namespace_stored_over_the_servers_figures_comes_too(store: NoteStore, source: Path) -> None:
    """A list in `_meta.json` is notes (defect 6)."""
    write(source, "_meta.json", [entry()])
    bring(store, source)
    assert store.recall("_meta", "k").value == "v"


def test_what_is_no_file_of_notes_is_left_out_and_named(store: NoteStore, source: Path) -> None:
    """Other names are told as ignored; a directory or a pipe by a file's name is not waited for."""
    write(source, "notes.txt", "hello")
    (source / "dir.json").mkdir()
    os.mkfifo(source / "pipe.json")
    outcome = bring(store, source)
    assert outcome.ignored == ["notes.txt"]
    assert [named.file for named in outcome.named] == ["dir.json", "pipe.json"]
    assert outcome.files == 0


def test_one_file_can_be_brought_alone(store: NoteStore, source: Path) -> None:
    """Its name is the namespace."""
    write(source, "shop.json", [entry()])
    write(source, "other.json", [entry()])
    assert bring(store, source / "shop.json").arrivals == {Arrival.BROUGHT: 1}
    assert [each.namespace for each in store.namespaces()] == ["shop"]


def test_a_directory_that_is_not_there_is_an_error(store: NoteStore, source: Path) -> None:
    """Nothing is never told as an import of nothing."""
    with pytest.raises(OSError, match="none"):
        bring(store, source / "none")
