"""The file under the SQLite backends: private, lasting, versioned, shared."""

import asyncio
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsyncd.agent_state import (
    Episode,
    NewerSchema,
    Procedure,
    SqliteEpisodicMemory,
    SqliteMemoryProvider,
    SqliteProceduralMemory,
    SqliteSessionBackend,
    StoreClosed,
    StoreUnavailable,
    ToolEvent,
)
from memsyncd.agent_state.database import Database, Transaction
from memsyncd.clock import Clock
from memsyncd.platforms.local import schema as platform_schema

Open = Callable[[], SqliteMemoryProvider]


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    """Open providers on the same file, and close them in the end."""
    made: list[SqliteMemoryProvider] = []

    def open_one() -> SqliteMemoryProvider:
        made.append(SqliteMemoryProvider(path))
        return made[-1]

    yield open_one
    for provider in made:
        provider.close()


def set_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE state_schema SET version = ?", (version,))


def test_what_was_deleted_is_in_no_byte_of_the_file(path: Path, opened: Open, run: Any) -> None:
    """Neither a message that was cut, nor a session, nor a fact that was replaced, once the file is closed."""
    provider, sessions = opened(), SqliteSessionBackend(path)
    for number in range(20):
        run(provider.save_message("u", "t", "user", f"confided {number} " * 200))
    run(provider.upsert_fact("u", "k", "confided " * 500))
    run(sessions.save("s", {"said": "confided " * 500}))
    run(provider.delete_messages_before("u", "t", 0))
    run(provider.upsert_fact("u", "k", "public"))
    run(sessions.delete("s"))
    provider.close()
    sessions.close()
    assert b"confided" not in path.read_bytes()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_is_saved_outlives_the_provider(path: Path, opened: Open, run: Any) -> None:
    """Another one finds it all, ordered and ranked as before."""
    first = opened()
    run(first.save_message("u", "t", "user", "one"))
    run(first.upsert_fact("u", "k", "said"))
    run(first.save_tool_event("u", ToolEvent("t", "tool")))
    first.close()
    second = opened()
    run(second.save_message("u", "t", "user", "two"))
    run(second.upsert_fact("u", "k", "delivered", source="mcp"))
    assert [message.content for message in run(second.get_messages("u", "t"))] == ["one", "two"]
    assert run(second.get_facts("u")) == {"k": "said"}
    assert run(second.get_tool_events("u")) == [ToolEvent("t", "tool")]


def test_two_providers_on_a_file_see_each_other(opened: Open, run: Any) -> None:
    """What one has saved the other reads at once."""
    first, second = opened(), opened()
    run(first.save_message("u", "t", "user", "one"))
    assert run(second.count_messages("u", "t")) == 1
    run(second.delete_messages_before("u", "t", 0))
    assert run(first.get_messages("u", "t")) == []


@pytest.mark.parametrize("umask", [0, 0o022])
def test_the_file_and_its_companions_are_private(path: Path, opened: Open, run: Any, umask: int) -> None:
    """Mode 0600, whatever the umask, while it is open too; a file that was not is made so."""
    before = os.umask(umask)
    try:
        provider = opened()
        run(provider.save_message("u", "t", "user", "x"))
        assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {
            path.name: 0o600,
            f"{path.name}-wal": 0o600,
            f"{path.name}-shm": 0o600,
        }
        provider.close()
        path.chmod(0o644)
        run(opened().count_messages("u", "t"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_the_constructor_touches_nothing(path: Path, opened: Open, run: Any) -> None:
    """The file is made at the first call, in the background thread; a relative path is that of the constructor's time."""
    opened()
    assert list(path.parent.iterdir()) == []
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        provider = SqliteMemoryProvider(path.name)
    finally:
        os.chdir(here)
    run(provider.ensure_user("u"))
    provider.close()
    assert path.exists()


def test_a_newer_file_is_refused_and_left_as_it_is(path: Path, opened: Open, run: Any) -> None:
    """Every byte, every name and every mode in the directory; the error says what to do."""
    provider = opened()
    run(provider.save_message("u", "t", "user", "x"))
    provider.close()
    set_version(path, 99)
    path.chmod(0o640)

    def all_files() -> dict[str, tuple[bytes, int]]:
        return {file.name: (file.read_bytes(), file.stat().st_mode) for file in path.parent.iterdir()}

    before = all_files()
    for store in (opened(), opened()):
        with pytest.raises(NewerSchema, match=r"schema 99, this program knows 1\): update memsyncd"):
            run(store.save_message("u", "t", "user", "y"))
    assert all_files() == before
    set_version(path, 1)
    run(store.save_message("u", "t", "user", "y"))  # the next call looks again
    assert run(store.count_messages("u", "t")) == 2


def test_a_newer_file_that_is_in_use_is_refused(path: Path, opened: Open, run: Any) -> None:
    """Its version may still be in the log only."""
    provider = opened()
    run(provider.save_message("u", "t", "user", "x"))
    set_version(path, 99)
    before = path.read_bytes()
    with pytest.raises(NewerSchema):
        run(opened().count_messages("u", "t"))
    assert path.read_bytes() == before


def test_a_newer_file_whose_user_crashed_is_left_as_it_is(path: Path, tmp_path: Path, opened: Open, run: Any) -> None:
    """What lies in its log stays there: folding it in is for the program that wrote it."""
    provider = opened()
    run(provider.save_message("u", "t", "user", "x"))
    set_version(path, 99)
    left = tmp_path / "left"
    left.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", left)
    before = [(left / f"{path.name}{suffix}").read_bytes() for suffix in ("", "-wal")]
    late = SqliteMemoryProvider(left / path.name)
    with pytest.raises(NewerSchema):
        run(late.count_messages("u", "t"))
    late.close()
    assert [(left / f"{path.name}{suffix}").read_bytes() for suffix in ("", "-wal")] == before


@pytest.mark.parametrize("first", ["platform", "state"])
def test_the_file_is_shared_with_the_platform(path: Path, opened: Open, run: Any, first: str) -> None:
    """Whoever makes the file, both find their tables, and each keeps its own version."""
    if first == "state":
        run(opened().save_message("u", "t", "user", "x"))
    with closing(platform_schema.open_store(path)) as connection:
        connection.execute("INSERT INTO tombstones VALUES('f', 'now')")
        run(opened().save_message("u", "t", "user", "x"))
        assert connection.execute("SELECT count(*) FROM tombstones").fetchone() == (1,)
        assert connection.execute("PRAGMA user_version").fetchone() == (platform_schema.VERSION,)
        assert connection.execute("SELECT version FROM state_schema").fetchone() == (1,)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert run(opened().count_messages("u", "t")) == (2 if first == "state" else 1)
    assert "state_messages" in names
    assert "memories" in names


def test_all_memories_share_a_file(path: Path, run: Any) -> None:
    """Each has its tables; none shows in another."""
    provider, episodes = SqliteMemoryProvider(str(path)), SqliteEpisodicMemory(str(path))
    procedures, sessions = SqliteProceduralMemory(str(path)), SqliteSessionBackend(str(path))

    async def one_each() -> list[int]:
        await asyncio.gather(
            provider.save_message("u", "t", "user", "word"),
            episodes.store(Episode("e", "word")),
            procedures.store(Procedure("p", "word", "", "")),
            sessions.save("k", {}),
        )
        return [
            await provider.count_messages("u", "t"),
            len(await episodes.recall("word")),
            len(await procedures.suggest("word")),
            len(await sessions.list_keys()),
        ]

    assert run(one_each()) == [1, 1, 1, 1]
    for store in (provider, episodes, procedures, sessions):
        store.close()


@pytest.mark.parametrize(
    "kind", [SqliteMemoryProvider, SqliteEpisodicMemory, SqliteProceduralMemory, SqliteSessionBackend]
)
def test_a_store_in_memory_leaves_no_file(path: Path, run: Any, kind: Any) -> None:
    """SQLite's own name for it works; two of them share nothing."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        first, second = kind(":memory:"), kind(":memory:")
        for store in (first, second):
            if kind is SqliteMemoryProvider:
                run(store.save_message("u", "t", "user", "x"))
                assert run(store.count_messages("u", "t")) == 1
            elif kind is SqliteSessionBackend:
                run(store.save("k", {}))
                assert run(store.list_keys()) == ["k"]
            else:
                assert run(store.count()) == 0
            store.close()
    finally:
        os.chdir(here)
    assert list(path.parent.iterdir()) == []


def test_what_is_no_database_is_told_and_left(path: Path, opened: Open, run: Any) -> None:
    """One class of error, naming the file; well again, it works again."""
    path.write_text("these are notes\n" * 100)
    provider = opened()
    with pytest.raises(StoreUnavailable, match=r"memory\.sqlite3: file is not a database"):
        run(provider.save_message("u", "t", "user", "x"))
    assert path.read_text() == "these are notes\n" * 100
    path.unlink()
    run(provider.save_message("u", "t", "user", "x"))
    assert run(provider.count_messages("u", "t")) == 1


def test_a_directory_that_is_not_there_is_told(tmp_path: Path, run: Any) -> None:
    """None is made: a wrong path must not become a new place."""
    provider = SqliteMemoryProvider(tmp_path / "nowhere" / "memory.sqlite3")
    with pytest.raises(StoreUnavailable, match="nowhere"):
        run(provider.ensure_user("u"))
    assert list(tmp_path.iterdir()) == []
    provider.close()


def test_a_file_that_was_deleted_is_begun_anew(path: Path, opened: Open, run: Any) -> None:
    """What is saved afterwards is in the file that bears the name, not in one that nobody can open any more."""
    provider = opened()
    run(provider.save_message("u", "t", "user", "lost"))
    for file in list(path.parent.iterdir()):
        file.unlink()
    run(provider.save_message("u", "t", "user", "kept"))
    provider.close()
    assert [message.content for message in run(opened().get_messages("u", "t"))] == ["kept"]


def test_a_closed_provider_says_so(opened: Open, run: Any) -> None:
    """Closing twice is closing; what was begun before is done."""
    provider = opened()

    async def close_in_between() -> None:
        saving = [asyncio.create_task(provider.save_message("u", "t", "user", str(n))) for n in range(20)]
        await asyncio.sleep(0)
        provider.close()
        provider.close()
        await asyncio.gather(*saving)
        with pytest.raises(StoreClosed):
            await provider.save_message("u", "t", "user", "late")

    run(close_in_between())
    assert run(opened().count_messages("u", "t")) == 20


def test_two_hundred_at_once_keep_their_order(opened: Open, run: Any) -> None:
    """Nothing is lost, and messages lie in the order of the calls."""
    provider = opened()

    async def all_at_once() -> None:
        await asyncio.gather(
            *(provider.save_message("u", "t", "user", str(number)) for number in range(200)),
            *(provider.upsert_fact("u", f"k{number}", number) for number in range(200)),
            *(provider.get_messages("u", "t") for _ in range(200)),
        )

    run(all_at_once())
    assert [message.content for message in run(provider.get_messages("u", "t", 500))] == [str(n) for n in range(200)]
    assert run(provider.get_facts("u")) == {f"k{number}": number for number in range(200)}


def test_the_loop_runs_on_while_another_program_holds_the_file(path: Path, opened: Open, run: Any) -> None:
    """Reads are answered, a write waits in its thread, and is done when the lock goes."""
    provider, reader = opened(), opened()
    run(provider.save_message("u", "t", "user", "before"))

    async def against_a_lock() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            saving = asyncio.create_task(provider.save_message("u", "t", "user", "after"))
            for _ in range(5):
                assert await reader.count_messages("u", "t") == 1
            assert not saving.done()
            other.execute("COMMIT")
        await saving

    run(against_a_lock())
    assert run(reader.count_messages("u", "t")) == 2


def test_a_cancelled_call_is_done_whole_or_not_at_all(path: Path, run: Any) -> None:
    """One that waits its turn does nothing; one that runs is finished, and what comes after it is unharmed."""
    database, started, released = Database(path), threading.Event(), threading.Event()
    insert = "INSERT INTO state_sessions(key, state) VALUES(?, '{}')"

    def slow(store: Transaction) -> None:
        store.execute(insert, ("first half",))
        started.set()
        released.wait(60)
        store.execute(insert, ("second half",))

    async def cancel_both() -> None:
        running = asyncio.create_task(database.write(slow))
        assert await asyncio.to_thread(started.wait, 60)
        waiting = asyncio.create_task(database.write(lambda store: store.execute(insert, ("waiting",))))
        await asyncio.sleep(0)
        running.cancel()
        waiting.cancel()
        ends = await asyncio.gather(running, waiting, return_exceptions=True)
        assert [type(end) for end in ends] == [asyncio.CancelledError] * 2
        released.set()
        await database.write(lambda store: store.execute(insert, ("after",)))

    run(cancel_both())
    found = run(database.read(lambda store: store.all("SELECT key FROM state_sessions ORDER BY number")))
    assert found == [("first half",), ("second half",), ("after",)]
    database.close()


def test_a_failure_in_the_middle_leaves_nothing(path: Path, run: Any) -> None:
    """An episode whose tags cannot be written is in no index and no table, and the one before it stays."""
    episodes = SqliteEpisodicMemory(path)
    run(episodes.store(Episode("e", "alpha", tags=("a",))))
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(
            "CREATE TRIGGER state_refusing BEFORE INSERT ON state_episode_tags WHEN new.tag = 'bad'"
            " BEGIN SELECT RAISE(ABORT, 'disk is full of sand'); END"
        )
    with pytest.raises(StoreUnavailable, match="sand"):
        run(episodes.store(Episode("e", "beta", tags=("bad",))))
    assert run(episodes.recall("beta")) == []
    assert [episode.id for episode in run(episodes.recall("alpha"))] == ["e"]
    assert [episode.id for episode in run(episodes.recall_by_tag("a"))] == ["e"]
    episodes.close()


def test_one_provider_serves_several_loops(opened: Open) -> None:
    """Each thread's loop gets its own answers."""
    provider = opened()

    def save(number: int) -> None:
        asyncio.run(provider.save_message("u", f"t{number}", "user", "x"))

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [asyncio.run(provider.count_messages("u", f"t{number}")) for number in range(8)] == [1] * 8


def test_the_profile_tells_when_the_user_came_after_a_restart(path: Path, run: Any) -> None:
    """The first time counts."""
    for wall in (0.0, 86_400.0):
        provider = SqliteMemoryProvider(path, clock=Clock(wall=lambda wall=wall: wall))
        run(provider.ensure_user("u"))
        assert run(provider.get_user_profile("u")).created_at == "1970-01-01T00:00:00.000Z"
        provider.close()
