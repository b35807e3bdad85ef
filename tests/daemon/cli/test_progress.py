"""How far long work is: a bar on a terminal that leaves nothing behind, lines elsewhere, silence with --json."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.cli import deletions
from daemon.cli.progress import migrations_told, progress
from daemon.cli.surroundings import Surroundings
from daemon.exchange.importing import import_from
from daemon.places import resolve
from daemon.settings import Settings
from jobs.forgetting import Forgotten, delete_remotely
from memsyncd import schema_steps
from memsyncd.hooks.drop import main as drop
from memsyncd.platforms.owned import OwnedMemory
from tests.daemon.cli.on_terminal import DEADLINE, daemon, terminal


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


WORK = """
import sys, time
from daemon.cli.progress import migrations_told, progress
from daemon.cli.surroundings import Surroundings
with progress("Working", is_quiet=False) as tell:
    for number in range(8):
        time.sleep(0.25)
        tell(number, 10, f"{number} things\\x1b[2J")
print("over")
"""


def test_a_bar_on_a_terminal(home: Path) -> None:
    """It tells what, how much and what that is, then is gone; the cursor was never away, and nothing steers."""
    with terminal(home, program=WORK) as screen:
        assert screen.ended() == 0
        told = screen.plain()
    assert "Working" in told and "70%" in told and "7 things" in told
    assert "\x1b[2J" not in screen.seen
    assert screen.seen.rindex("\x1b[?25h") > screen.seen.rindex("\x1b[?25l")
    assert re.search(r"\x1b\[2K(\x1b\[[0-9;?]*[a-zA-Z]|\r)*over", screen.seen)


def test_lines_where_nothing_can_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """Off a terminal there is a line every few seconds, on standard error."""
    moments = iter([0.0, 1.0, 5.0, 6.0, 11.0])
    with progress("Working", is_quiet=False, monotonic=lambda: next(moments)) as tell:
        tell(1, 10)
        tell(5, 10, "5 things\x1b[2J")
        tell(6, 10)
        tell(7, None)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "memsyncd: Working: 50%, 5 things [2J", "memsyncd: Working: under way",
    ]  # fmt: skip


def test_short_work_shows_nothing(home: Path) -> None:
    """What is over within half a second loads no bar."""
    script = (
        "import sys\nfrom daemon.cli.progress import progress\n"
        "with progress('W', is_quiet=False) as tell: tell(1, 2)\nprint('rich' in sys.modules)"
    )
    with terminal(home, program=script) as screen:
        assert screen.ended() == 0
        assert screen.seen == "False\r\n"


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json nothing is told, however long it takes."""
    with progress("Working", is_quiet=True, monotonic=lambda: pytest.fail("it looked")) as tell:
        tell(1, 2)
    assert capsys.readouterr().err == ""


def test_a_migration_that_takes_long_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line while it runs and one at its end, on standard error; none with --json."""
    step = schema_steps.sql(
        "CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i FROM n"
    )
    with contextlib.closing(sqlite3.connect(tmp_path / "x.sqlite3", isolation_level=None)) as connection:
        with migrations_told():
            for watcher in schema_steps._watchers:
                watcher(schema_steps.Moving("/d/x.sqlite3", 2, 4.2, is_there=False))
                watcher(schema_steps.Moving("/d/x.sqlite3", 2, 5.1, is_there=True))
            schema_steps.forward(connection, (step,))
        with migrations_told(is_quiet=True):
            assert not schema_steps._watchers
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "memsyncd: bringing x.sqlite3 to form 2 takes 4 s so far",
        "memsyncd: bringing x.sqlite3 to form 2 took 5 s",
    ]


def test_an_import_tells_how_far_it_is(home: Path) -> None:
    """Bytes of a file, up to the last; files of a directory; of a pipe nobody knows how much there is."""
    (home / "notes.jsonl").write_text("\n".join(["{}"] * 5))
    (home / "old").mkdir()
    (home / "old/a.json").write_text("[]")
    (home / "old/b.json").write_text("[]")
    places = resolve({"MEMSYNCD_HOME": str(home / "m")}, home, 0, "linux")
    told: list[tuple[int, int]] = []
    import_from(home / "notes.jsonl", places, Settings(), lambda done, total: told.append((done, total)))
    size = (home / "notes.jsonl").stat().st_size
    assert len(told) == 5 and told[-1] == (size, size) and told == sorted(told)
    told.clear()
    import_from(home / "old", places, Settings(), lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2)]


class Platform:
    """A platform with three memories of a project."""

    kind = "mem0"

    def memories_of(self, _: object) -> Iterator[list[OwnedMemory]]:
        yield [
            OwnedMemory(id=str(number), memory="m", app_id="app", created_at="2026-01-01T00:00:00Z")
            for number in range(3)
        ]

    def delete(self, memory_id: str) -> bool:
        return memory_id != "1"


def test_what_is_deleted_on_a_platform_is_told_one_by_one() -> None:
    """Each deletion is heard of as it happens."""
    heard: list[int] = []
    what = Forgotten(user_id="u", at=1.8e9, everything=True, app_id="app")
    tally = delete_remotely(Platform(), what, now=True, on_deleted=lambda: heard.append(1))  # type: ignore[arg-type]
    assert (tally.deleted, len(heard)) == (2, 2)


def test_a_daemons_deletions_are_followed(home: Path) -> None:
    """While the daemon answers at the end only, its counter tells how many are gone since the request."""
    told: list[tuple[float, str]] = []
    heard = threading.Event()

    def tell(done: float, total: float | None, words: str = "") -> None:
        assert total is None
        told.append((done, words))
        if done:
            heard.set()

    around = Surroundings(environ={"MEMSYNCD_HOME": str(home)}, home=home, uid=os.getuid(), platform=sys.platform)
    with daemon(home, "1.1.1"), deletions.followed(around, tell):
        assert heard.wait(DEADLINE)
    assert told[:2] == [(0, ""), (2, "2 memories of the platform deleted")]


def test_run_once_tells_how_far_it_is(home: Path) -> None:
    """On a terminal a bar stands below the log while packets are delivered, and the sentence comes last, whole."""
    hand_over(home, "s")
    with terminal(home, "run", "--once", "--set", "discover=false") as screen:
        assert screen.ended() == 0
        assert "Delivering" in screen.plain()
        assert "Packets: 1 delivered." in screen.plain()


def hand_over(home: Path, session: str) -> None:
    """Leave a prompt and the end of its session, as hooks do."""
    given = json.dumps({"session_id": session, "cwd": str(home), "prompt": "Remember: we indent with tabs."}).encode()
    for words in (("user-prompt",), ("flush", "--reason", "session-end")):
        subprocess.run(
            [sys.executable, drop.__code__.co_filename, *words, "--harness", "claude-code"],
            env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, input=given, timeout=DEADLINE, check=True,
        )  # fmt: skip
