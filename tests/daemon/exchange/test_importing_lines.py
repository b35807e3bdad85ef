"""The ways in which an export's lines may come."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from daemon.exchange.form import header
from daemon.exchange.importing import import_from
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
    return import_from(source, places, load(places, environ, {}).settings, environ)


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
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1 memory: 1 new.\n", b"")
