"""Opening, modes, versions, damage and the log (facts 16.5, 16.6; never-again 48 to 52, 117)."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence import errors, schema
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore

NewEventMaker = Callable[..., NewEvent]
CLOCK = Clock(wall=lambda: 1_796_000_000.5)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _open(path: Path, counters: Counters | None = None) -> EvidenceStore:
    return EvidenceStore.open(path, own=True, clock=CLOCK, counters=counters)


def _damage(path: Path) -> bytes:
    """Overwrite the later half of the pages, so that the file opens and what lies further on cannot be read."""
    content = path.read_bytes()
    half = len(content) // 8192 * 4096
    damaged = content[:half] + b"\xa5" * (len(content) - half)
    path.write_bytes(damaged)
    return damaged


def test_files_are_private(own_path: Path, new_event: NewEventMaker) -> None:
    """The file, its log and its index are 0600 under any umask, also where they lay open before (16.4)."""
    before = os.umask(0)
    try:
        store = _open(own_path)
        store.append([new_event("user_prompt", "q")])
        files = [own_path, Path(f"{own_path}-wal"), Path(f"{own_path}-shm")]
        assert [_mode(file) for file in files] == [0o600] * 3
        for file in files:
            file.chmod(0o644)
        other = _open(own_path)
        assert [_mode(file) for file in files] == [0o600] * 3
        other.close()
        store.close()
    finally:
        os.umask(before)


def test_durability(store: EvidenceStore) -> None:
    """A store of ours is in WAL mode with full sync, a 10 s wait for locks and a bounded log (facts 16.6)."""
    with store._database.reading() as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "busy_timeout", "user_version", "journal_size_limit")
        }
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "busy_timeout": 10_000,
        "user_version": schema.VERSION,
        "journal_size_limit": 16 * 1024 * 1024,
    }


def test_what_was_stored_is_there_again(own_path: Path, new_event: NewEventMaker) -> None:
    """A store opened again has everything, packets and posts included."""
    store = _open(own_path)
    store.append([new_event("user_prompt", "q")])
    packet = store.prepare("s-1", "idle", list)
    assert packet is not None
    store.begin_post(packet.packet_id, 0, 5.0)
    expected = (store.open_packets(), store.posts(packet.packet_id), store.packet_events(packet.packet_id))
    store.close()
    again = _open(own_path)
    assert (again.open_packets(), again.posts(packet.packet_id), again.packet_events(packet.packet_id)) == expected
    again.close()


@pytest.mark.parametrize("place", ["file", "log"])
def test_a_newer_file_is_left_alone(own_path: Path, place: str) -> None:
    """A file from a newer version is refused with a sentence and byte-equal afterwards, also if only its log says
    so (CONTRACT, exit 78; never-again 52)."""
    _open(own_path).close()
    with closing(sqlite3.connect(own_path)) as connection:
        if place == "log":
            reader = sqlite3.connect(own_path)
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM events").fetchone()
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        if place == "file":
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = own_path.read_bytes()
        with pytest.raises(errors.NewerSchema, match="newer version"):
            _open(own_path)
        assert own_path.read_bytes() == content
        if place == "log":
            reader.close()


def test_no_file_is_a_newer_one_of_a_plugin(tmp_path: Path) -> None:
    """What a plugin does with `user_version` is its own affair."""
    path = tmp_path / "evidence.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    store = EvidenceStore.open(path, own=False, clock=CLOCK)
    assert store.read_only
    store.close()


def test_our_file_is_known_wherever_it_lies(own_path: Path, new_event: NewEventMaker) -> None:
    """A file of ours opened as if it were a plugin's takes events all the same: it carries our mark."""
    _open(own_path).close()
    store = EvidenceStore.open(own_path, own=False, clock=CLOCK)
    assert store.own
    assert store.append([new_event("user_prompt", "q")]).inserted == 1
    store.close()


@pytest.mark.parametrize("content", [b"no database at all " * 300, b"SQLite format 3\x00" + b"\xff" * 8000])
def test_a_damaged_file_is_set_aside_at_the_start(
    own_path: Path, new_event: NewEventMaker, counters: Counters, content: bytes
) -> None:
    """A file that is surely damaged is kept whole under another name and capture goes on (facts 16.5, 20.32)."""
    own_path.write_bytes(content)
    store = _open(own_path, counters)
    assert store.append([new_event("user_prompt", "q")]).inserted == 1
    copy = own_path.with_name("evidence.sqlite3.corrupt-1796000000")
    assert copy.read_bytes() == content
    assert copy.name in store.problem
    assert not store.read_only
    assert counters.snapshot() == {"evidence_stores_set_aside": 1}
    store.close()


def test_damage_found_later(own_path: Path, new_event: NewEventMaker, counters: Counters) -> None:
    """Damage met while recording sets the file aside, and the batch goes into the new one (facts 16.5, 20.32)."""
    store = _open(own_path)
    store.append([new_event("tool_result", "t" * 2000) for _ in range(400)])
    store.close()
    store = _open(own_path, counters)
    damaged = _damage(own_path)
    assert store.append([new_event("user_prompt", "q")]).inserted == 1
    assert [event.payload["text"] for event in store.unflushed("s-1")] == ["q"]
    assert own_path.with_name("evidence.sqlite3.corrupt-1796000000").read_bytes() == damaged
    assert "was damaged" in store.problem
    assert counters.snapshot() == {"evidence_stores_set_aside": 1}
    store.close()


def test_damage_found_by_a_read(own_path: Path, new_event: NewEventMaker) -> None:
    """A read that meets damage is an error, never an empty answer; the next one reads the new file (never-again 48)."""
    store = _open(own_path)
    store.append([new_event("tool_result", "t" * 2000) for _ in range(400)])
    store.close()
    store = _open(own_path)
    _damage(own_path)
    with pytest.raises(errors.CorruptStore):
        store.unflushed("s-1")
    assert store.counts()["events"] == 0
    store.close()


def test_only_three_copies_are_kept(own_path: Path, counters: Counters) -> None:
    """The newest three damaged copies are kept; dropping an older one is counted and told (never-again 49)."""
    for _ in range(5):
        own_path.write_bytes(b"no database " * 500)
        Path(f"{own_path}-wal").write_bytes(b"odd")
        store = _open(own_path, counters)
        store.close()
    copies = sorted(file.name for file in own_path.parent.glob("*.corrupt-*[0-9]"))
    assert copies == [f"evidence.sqlite3.corrupt-{1_796_000_000 + number}" for number in (2, 3, 4)]
    assert counters.snapshot() == {"evidence_corrupt_copies_dropped": 2, "evidence_stores_set_aside": 5}
    assert "1 older" in store.problem


def test_a_locked_file_is_not_damaged(own_path: Path, new_event: NewEventMaker) -> None:
    """A file that another program holds is busy, not damaged: nothing is set aside (never-again 43, 50)."""
    store = _open(own_path)
    with store._database.reading() as connection:
        connection.execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(own_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.StoreBusy):
            store.append([new_event("user_prompt", "q")])
        assert _patience(store) == 1_000  # the other files of a daemon must not wait ten seconds at every scan
        other.execute("ROLLBACK")
    assert store.append([new_event("user_prompt", "q")]).inserted == 1
    assert _patience(store) == 10_000
    assert list(own_path.parent.glob("*.corrupt-*")) == []
    store.close()


def _patience(store: EvidenceStore) -> int:
    """Return for how many milliseconds it waits for another program."""
    with store._database.reading() as connection:
        return int(connection.execute("PRAGMA busy_timeout").fetchone()[0])


def test_a_full_disk_is_named(own_path: Path, new_event: NewEventMaker) -> None:
    """No room is its own error; nothing of the batch is stored and the store works on once there is room
    (never-again 54)."""
    store = _open(own_path)
    with store._database.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    batch = [new_event("tool_result", "t" * 5000) for _ in range(20)]
    with pytest.raises(errors.StoreFull):
        store.append(batch)
    with store._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert store.append(batch).inserted == 20
    store.close()


def test_a_file_of_unknown_form_in_our_place(own_path: Path) -> None:
    """A database of another program in our place is an error with a sentence, and is not set aside."""
    with closing(sqlite3.connect(own_path)) as connection:
        connection.execute("CREATE VIEW events AS SELECT 1 AS id")
    with pytest.raises(errors.EvidenceError):
        _open(own_path)
    assert list(own_path.parent.glob("*.corrupt-*")) == []


def test_a_plugins_file_handed_over(own_path: Path, new_event: NewEventMaker) -> None:
    """A plugin's file that becomes ours gets our columns and keeps its rows."""
    with closing(sqlite3.connect(own_path)) as connection:
        connection.execute(
            "CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, app_id TEXT, session_id TEXT, created_at REAL, "
            "kind TEXT, payload_json TEXT, flush_id TEXT)"
        )
        connection.execute(
            "INSERT INTO events VALUES (7, 'r', 'a', 's-1', 1.0, 'user_prompt', '{\"text\": \"old\"}', NULL)"
        )
        connection.commit()
    store = _open(own_path)
    store.append([new_event("assistant_stop", "new", scope=Scope("r", "a"))])
    assert [event.payload["text"] for event in store.unflushed("s-1")] == ["old", "new"]
    store.close()


def test_the_log_is_cut_back(own_path: Path, new_event: NewEventMaker) -> None:
    """A checkpoint empties the log, and waits for nobody who reads (never-again 117)."""
    store = _open(own_path)
    log = Path(f"{own_path}-wal")
    store.append([new_event("tool_result", "t" * 5000) for _ in range(200)])
    assert log.stat().st_size > 500_000
    with closing(sqlite3.connect(own_path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM events").fetchone()
        store.append([new_event("tool_result", "t")])
        store.checkpoint()
    store.checkpoint()
    assert log.stat().st_size == 0
    store.close()


def test_integrity(own_path: Path, new_event: NewEventMaker) -> None:
    """A sound file has no complaint, a damaged one has; looking changes nothing."""
    store = _open(own_path)
    store.append([new_event("tool_result", "t" * 2000) for _ in range(400)])
    assert store.integrity() is None
    store.close()
    store = _open(own_path)
    damaged = _damage(own_path)
    assert store.integrity()
    assert own_path.read_bytes() == damaged
    store.close()


def test_a_closed_store(own_path: Path) -> None:
    """A call after the end is an error of the store's own tree."""
    store = _open(own_path)
    store.close()
    with pytest.raises(errors.StoreUnavailable):
        store.counts()


def test_many_threads(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Threads append and read through one store without an error, and all of it is there."""
    batches = [
        [new_event("tool_result", "t", f"s-{thread}") for _ in range(20)] for thread in range(4) for _ in range(10)
    ]
    failures: list[BaseException] = []

    def work(share: list[list[NewEvent]]) -> None:
        try:
            for batch in share:
                store.append(batch)
                store.sessions_with_unflushed()
                store.counts()
        except BaseException as error:  # noqa: BLE001  (told by the main thread)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(batches[share::4],)) for share in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.counts()["events"] == 800


@pytest.mark.parametrize("deed", ["removed", "renamed", "replaced"])
def test_a_file_that_lost_its_name(
    own_path: Path, new_event: NewEventMaker, counters: Counters, tmp_path: Path, deed: str
) -> None:
    """Evidence never goes into a file that was removed or replaced while it was served: it would be lost."""
    store = _open(own_path, counters)
    store.append([new_event("user_prompt", "old")])
    names = [own_path, Path(f"{own_path}-wal"), Path(f"{own_path}-shm")]
    for name in names:
        if deed == "removed":
            name.unlink()
        else:
            name.rename(f"{name}.old")
    if deed == "replaced":
        other = _open(own_path)
        other.append([new_event("user_prompt", "there")])
    store.append([new_event("user_prompt", "new")])
    assert "removed or replaced" in store.problem
    assert counters.snapshot() == {"evidence_stores_replaced": 1}
    store.close()
    if deed == "replaced":
        assert len(other.unflushed("s-1")) == 2
        other.close()
    again = _open(own_path)
    expected = ["there", "new"] if deed == "replaced" else ["new"]
    assert [event.payload["text"] for event in again.unflushed("s-1")] == expected
    again.close()


def test_a_directory_that_goes_and_comes(tmp_path: Path, new_event: NewEventMaker) -> None:
    """While the directory is away each call is an error; once it is back the store works by itself."""
    place = tmp_path / "spool"
    place.mkdir()
    store = _open(place / "evidence.sqlite3")
    store.append([new_event("user_prompt", "q")])
    place.rename(tmp_path / "away")
    for _ in range(2):
        with pytest.raises(errors.StoreUnavailable):
            store.append([new_event("assistant_stop", "a")])
    (tmp_path / "away").rename(place)
    assert store.append([new_event("assistant_stop", "a")]).inserted == 1
    assert len(store.unflushed("s-1")) == 2
    store.close()
