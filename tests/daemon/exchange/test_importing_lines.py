"""The ways in which an export's lines may come."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.exchange.form import header
from daemon.exchange.importing import import_from
from daemon.exchange.lines import MAX_NAMED, ImportFailed
from daemon.places import Places, resolve
from daemon.settings import load

ROW = {
    "type": "memory",
    "id": "m-1",
    "memory": "We use pnpm as package manager.",
    "lane": "project",
    "app_id": "shop",
    "agent_id": "shop-1",
    "created_at": "2026-11-30T21:48:43.866Z",
}
LINES = "".join(f"{json.dumps(row)}\n" for row in (header("local", 1_800_000_000.0), ROW))


def brought(root: Path, source: Path) -> dict[str, Any]:
    environ = {"MEMSYNCD_HOME": str(root / "m"), "HOME": str(root), "USER": "ada"}
    places: Places = resolve(environ, root, os.getuid(), "linux")
    return import_from(source, places, load(places, environ, {}).settings)


@pytest.mark.parametrize("name", ["export.jsonl", "export.json", "export"])
@pytest.mark.parametrize("lead", ["", "\ufeff"])
def test_an_export_is_known_by_its_first_line(tmp_path: Path, name: str, lead: str) -> None:
    """Not by its name: `.json` may be the old server's notes too. A mark that an editor put before it is no part."""
    (tmp_path / name).write_text(lead + LINES, encoding="utf-8")
    answer = brought(tmp_path, tmp_path / name)
    assert (answer["memories"], answer["refused"]) == ({"brought": 1}, 0)


def test_an_export_comes_in_through_a_pipe(tmp_path: Path) -> None:
    """`memsyncd export | ssh elsewhere memsyncd import -`."""
    done = subprocess.run(
        [sys.executable, "-m", "daemon", "import", "-"],
        input=LINES.encode(),
        env={**os.environ, "MEMSYNCD_HOME": str(tmp_path / "m"), "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1 memory: 1 new.\n", b"")


def many(number: int) -> str:
    """Return an export of so many memories, each of its own."""
    rows = (
        ROW | {"id": f"m-{each}", "memory": f"Server {each} answers on port {10_000 + each}."} for each in range(number)
    )
    return "".join(f"{json.dumps(row)}\n" for row in (header("local", 1_800_000_000.0), *rows))


KILLED = """
import os, signal, sys
from daemon.__main__ import main
from memsyncd.platforms.local.exchange import Intake
taken_in, calls = Intake.take_in, []
def take_in(self, given):
    if calls:
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(given)
    return taken_in(self, given)
Intake.take_in = take_in
main(["import", sys.argv[1]])
"""
"""An import that is killed after its first commit."""


def test_an_import_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    """What was on the disk by then is known, the rest comes, nothing comes twice, and no temporary file stays."""
    number = 5_000
    (tmp_path / "export").write_text(many(number) + "no memory\n")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "export")],
        env={**os.environ, "MEMSYNCD_HOME": str(tmp_path / "m"), "HOME": str(tmp_path)},
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL
    stored = rows_in(tmp_path)
    assert 0 < stored < number
    answer = brought(tmp_path, tmp_path / "export")
    assert answer["memories"]["unchanged"] >= stored and sum(answer["memories"].values()) == number
    assert (rows_in(tmp_path), answer["refused"]) == (number, 1)
    assert brought(tmp_path, tmp_path / "export")["memories"] == {"unchanged": number}
    assert len(list((tmp_path / "m/import-refused").iterdir())) == 1  # once, however often it is read


def rows_in(root: Path) -> int:
    """Return how many memories are committed."""
    path = root / "m/memory.sqlite3"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
        except sqlite3.OperationalError:  # its tables are not made yet
            return 0


def test_lines_that_cannot_be_read_take_no_memory(tmp_path: Path) -> None:
    """However many and long they are: they are kept as they come, and the answer names the first ones."""
    line = "no memory " * 5_000 + "\n"
    (tmp_path / "export").write_text(LINES + line * 600)
    tracemalloc.start()
    try:
        answer = brought(tmp_path, tmp_path / "export")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (answer["memories"], answer["refused"], answer["not_kept"]) == ({"brought": 1}, 600, 0)
    assert len(answer["not_read"]) == MAX_NAMED
    (kept,) = Path(answer["kept_in"]).iterdir()
    assert kept.stat().st_size > 600 * len(line) and kept.stat().st_mode & 0o777 == 0o600
    assert peak < 100 * len(line)


def test_one_bad_line_of_any_kind_costs_no_other(tmp_path: Path) -> None:
    """Each is refused for a reason; secrets are taken out of the copy that is kept."""
    secret = "ghp_" + "a1B2" * 9
    bad: list[Any] = [
        7, None, [], "text", {"type": "memory"}, {"type": "nonsense"}, ROW | {"score": 10**400}, ROW | {"id": f"{secret} " * 30},
        ROW | {"metadata": {"branch": [secret]}, "lane": "nowhere"}, {"type": "note", "namespace": {}, "key": secret},
    ]  # fmt: skip
    deep = ['{"type": "note", "key": ' + "[" * depth + "]" * depth + "}" for depth in (100, 900, 100_000)]
    lines = [*map(json.dumps, bad), *deep, '{"type": "memory", "score": NaN, "id": "x"}', "{", '{"a": "\\ud800"}']
    (tmp_path / "export").write_text(LINES + "\n".join(lines) + "\n")
    answer = brought(tmp_path, tmp_path / "export")
    assert (answer["memories"], answer["refused"]) == ({"brought": 1}, len(lines))
    kept = [json.loads(line) for each in Path(answer["kept_in"]).iterdir() for line in each.read_text().splitlines()]
    assert [entry["place"] for entry in kept] == [3 + at for at in range(len(lines))]
    assert secret not in json.dumps(kept)


def test_an_import_without_room_for_what_it_refuses_says_so(tmp_path: Path) -> None:
    """It is not the source that cannot be read."""
    (tmp_path / "export").write_text("no memory\n")
    (tmp_path / "m").mkdir(mode=0o700)
    (tmp_path / "m/import-refused").write_text("a file in the way")
    with pytest.raises(ImportFailed, match=r"kept in .*import-refused"):
        brought(tmp_path, tmp_path / "export")
