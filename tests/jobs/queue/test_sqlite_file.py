"""The embedded queue's file: private, versioned, bounded, and what happens when it is full, locked or damaged."""

import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done
from jobs.queue import schema
from jobs.queue.errors import NewerSchema, QueueUnavailable
from jobs.queue.sqlite_queue import SqliteQueue
from tests.jobs.queue.queues import World, sqlite_world


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[World]:
    """Give a world on SQLite alone."""
    with sqlite_world(tmp_path) as made:
        yield made


def file_of(world: World) -> Path:
    assert isinstance(world.queue, SqliteQueue)
    return Path(world.queue.storage.filename)


def statement(world: World, sql: str, *values: Any) -> list[Any]:
    """Run a statement on the file as another process would."""
    connection = sqlite3.connect(file_of(world), isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def test_the_files_are_private_from_the_start(embedded: World) -> None:
    """Database, log and shared memory can be read by their owner only."""
    embedded.enqueue("a")
    file = file_of(embedded)
    parts = sorted(file.parent.iterdir())
    assert [part.name for part in parts] == ["queue.sqlite3", "queue.sqlite3-shm", "queue.sqlite3-wal"]
    assert {stat.S_IMODE(part.stat().st_mode) for part in parts} == {0o600}


def test_a_file_others_may_read_is_made_private(embedded: World) -> None:
    """A lax mode left by a restore from backup is mended at the next opening."""
    embedded.queue.close()
    file_of(embedded).chmod(0o644)
    embedded.reopen()
    assert stat.S_IMODE(file_of(embedded).stat().st_mode) == 0o600


def test_another_process_that_comes_and_goes_takes_no_log_away(embedded: World) -> None:
    """Preparing the file once more, in a process that has it open, lets go of none of its locks: who else opens and
    closes it is not the last one, and leaves the log that the queue still writes to."""
    embedded.enqueue("a")
    file = file_of(embedded)
    schema.prepare(file)
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM jobs'); c.close()"
    subprocess.run([sys.executable, "-c", script, str(file)], check=True, timeout=60)
    assert file.with_name(f"{file.name}-wal").exists()


@pytest.mark.parametrize("in_log", [False, True])
def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path, in_log: bool) -> None:
    """A version above ours raises NewerSchema and leaves every byte, also where the version is still in the log."""
    file = tmp_path / "queue.sqlite3"
    schema.prepare(file)
    writer = sqlite3.connect(file, isolation_level=None)
    if in_log:
        writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for part in tmp_path.glob("queue.sqlite3*"):
        (crashed / part.name).write_bytes(part.read_bytes())
    writer.close()
    before = (crashed / "queue.sqlite3").read_bytes()
    with (
        pytest.raises(NewerSchema, match=rf"has schema version {schema.VERSION + 1}, this program knows up to"),
        sqlite_world(crashed) as world,
    ):
        world.reopen()
    assert (crashed / "queue.sqlite3").read_bytes() == before
    assert (crashed / "queue.sqlite3-wal").exists() == in_log


def test_what_is_no_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    """A text file at the queue's place is an error in a sentence, and stays."""
    file = tmp_path / "queue.sqlite3"
    file.write_text("not a database " * 100)
    with pytest.raises(QueueUnavailable, match="not a database"), sqlite_world(tmp_path) as world:
        world.reopen()
    assert file.read_text() == "not a database " * 100


def test_two_processes_may_create_it_at_once(tmp_path: Path) -> None:
    """Whoever comes second finds the schema and uses it."""
    errors: list[BaseException] = []

    def prepare() -> None:
        try:
            schema.prepare(tmp_path / "queue.sqlite3")
        except BaseException as error:  # noqa: BLE001  (any is a failure of the test)
            errors.append(error)

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with sqlite_world(tmp_path) as world:
        assert world.enqueue("a") == 1


def test_commits_are_synced_in_full_and_the_log_is_bounded(embedded: World) -> None:
    """WAL with full sync; the log is cut back after a checkpoint."""
    assert isinstance(embedded.queue, SqliteQueue)
    connection = embedded.queue.storage.writer()
    settings = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "journal_size_limit", "auto_vacuum")}  # fmt: skip
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "journal_size_limit": schema.WAL_BYTES,
        "auto_vacuum": 2,
    }


def test_closing_folds_the_log_in(embedded: World) -> None:
    """A stopped daemon leaves one file; what comes after the close is refused, closing again is not."""
    embedded.enqueue("a")
    embedded.queue.close()
    embedded.queue.close()
    assert [part.name for part in file_of(embedded).parent.iterdir()] == ["queue.sqlite3"]
    with pytest.raises(QueueUnavailable, match="closed"):
        embedded.enqueue("b")
    with pytest.raises(QueueUnavailable, match="closed"):
        embedded.queue.counts()


def test_a_full_disk_loses_nothing(embedded: World) -> None:
    """While the file cannot grow each write says so and did not happen; afterwards all goes on, claims included."""
    embedded.enqueue("a")
    claim = embedded.claim("a")
    assert isinstance(embedded.queue, SqliteQueue)
    connection = embedded.queue.storage.writer()
    connection.execute("PRAGMA max_page_count = 1")  # not below what is used: full from now on
    with pytest.raises(QueueUnavailable, match="full"):
        embedded.enqueue("b", payload={"text": "x" * 100_000})
    assert embedded.queue.get("b") is None
    connection.execute("PRAGMA max_page_count = 100000")
    assert embedded.enqueue("b") == 1
    assert embedded.queue.finish(claim, Done()) is not None


def test_a_lock_of_another_process_is_waited_for(embedded: World) -> None:
    """A write that meets a lock goes through once that is gone."""
    embedded.enqueue("a")
    other = sqlite3.connect(file_of(embedded), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    done = threading.Event()

    def enqueue() -> None:
        embedded.enqueue("b")
        done.set()

    thread = threading.Thread(target=enqueue)
    thread.start()
    assert not done.wait(0.3)
    other.execute("COMMIT")
    thread.join()
    other.close()
    assert embedded.queue.get("b") is not None


@pytest.mark.parametrize("payload", ["{", "[]", "null", b"\x80", '{"a": ' * 100_000])
def test_a_row_that_cannot_be_decoded_is_set_aside(embedded: World, payload: str | bytes) -> None:
    """It is dead with the reason, keeps its bytes and is counted; its neighbours and its lane go on."""
    embedded.enqueue("a", "b", lane="s1")
    statement(embedded, "UPDATE jobs SET payload = ? WHERE id = 'a'", payload)
    assert embedded.job("a").payload == {}
    told = []
    embedded.queue.on_settled = lambda job, _: told.append(job)
    embedded.claim("b")
    job = embedded.job("a")
    assert job.state is JobState.DEAD
    assert job.reason.startswith("the payload is ")
    assert told == [job]
    assert embedded.counters.snapshot()["jobs_undecodable"] == 1
    assert statement(embedded, "SELECT payload FROM jobs WHERE id = 'a'") == [(payload,)]


def test_errors_that_cannot_be_decoded_are_only_missing(embedded: World) -> None:
    """Damaged history does not keep a job from running."""
    embedded.enqueue("a")
    statement(embedded, "UPDATE jobs SET errors = 'x' WHERE id = 'a'")
    assert embedded.run("a", Done()).errors == ()


def test_pruning_more_than_one_step_prunes_all_and_gives_the_space_back(embedded: World) -> None:
    """A year's finished jobs go in one call, and the file shrinks."""
    embedded.enqueue(*(f"j{n}" for n in range(1200)), payload={"text": "x" * 500})
    statement(embedded, "UPDATE jobs SET state = 'done', head = 0")
    embedded.hands.move(1)
    size = file_of(embedded).stat().st_size + file_of(embedded).with_name("queue.sqlite3-wal").stat().st_size
    assert embedded.queue.prune(finished_before=embedded.hands.wall_now) == 1200
    assert embedded.queue.jobs() == []
    assert embedded.queue.counts().done == 0
    assert file_of(embedded).stat().st_size < size / 4


def test_the_tally_is_what_counting_would_find(embedded: World) -> None:
    """The counts that triggers keep are the counts of the rows."""
    embedded.enqueue("a", "b", "c", destination="api")
    embedded.enqueue("d", "e", "a")
    embedded.run("a", Cool("api", "503", "busy"))
    embedded.run("d", Done())
    embedded.queue.prune(finished_before=embedded.hands.wall_now + 1)
    counted = statement(embedded, "SELECT state, destination, count(*) FROM jobs GROUP BY 1, 2 ORDER BY 1, 2")
    assert counted == statement(embedded, "SELECT * FROM tally WHERE jobs > 0 ORDER BY 1, 2")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Give 5,000 jobs waiting, 5,000 in one busy lane, 5,000 held by a cooling destination."""
    with sqlite_world(tmp_path_factory.mktemp("crowded")) as world:
        world.enqueue(*(f"w{n}" for n in range(5_000)), delay=1000)
        world.enqueue(*(f"l{n}" for n in range(5_000)), lane="busy")
        world.claim("l0")
        world.enqueue(*(f"h{n}" for n in range(5_000)), destination="api")
        world.run("h0", Cool("api", "503", "busy"))
        yield world


def steps(world: World, act: Any) -> int:
    """Return how many thousand instructions of SQLite's machine `act` takes."""
    assert isinstance(world.queue, SqliteQueue)
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection = world.queue.storage.writer()
    connection.set_progress_handler(count, 1000)
    try:
        act()
    finally:
        connection.set_progress_handler(None, 0)
    return counted


def test_a_backlog_costs_a_claim_nothing(crowded: World) -> None:
    """Claiming and finishing take a few thousand instructions however many jobs wait, share a busy lane or are held."""
    crowded.enqueue("next")
    assert steps(crowded, lambda: crowded.run("next", Done())) < 5


def test_holding_and_releasing_a_backlog_is_one_rows_change(crowded: World) -> None:
    """A cooldown of 5,000 jobs begins and ends as cheaply as one of a single job."""
    crowded.hands.move(100)
    released = []
    assert steps(crowded, lambda: released.append(crowded.queue.release("api"))) < 3
    assert released == [5_000]
    assert steps(crowded, lambda: crowded.run("h1", Cool("api", "503", "busy"))) < 5


def test_group_commit_undoes_only_what_failed(embedded: World) -> None:
    """Many threads that write at once share commits; the one with an unstorable job fails alone."""
    barrier = threading.Barrier(8)
    failed = []

    def write(number: int) -> None:
        barrier.wait()
        for step in range(10):
            bad = number == 3 and step % 2
            try:
                embedded.queue.enqueue(NewJob(f"{number}-{step}", "flush", {"x": object() if bad else 1}))
            except TypeError:
                failed.append((number, step))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [(3, step) for step in (1, 3, 5, 7, 9)]
    assert embedded.queue.counts().ready == 75
