"""The way of a person: install, let the harness run the very line, take memsyncd away, and nothing is hurt."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from daemon.demo.recording import steps

ROOT = Path(__file__).parents[3]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return where a copy of memsyncd is installed, that can be deleted."""
    site = tmp_path / "venv" / "site"
    site.mkdir(parents=True)
    for name in ("daemon", "jobs", "memsyncd"):
        shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    return site


def memsyncd(home: Path, *words: str, source: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(source)}
    return subprocess.run(
        [sys.executable, "-m", "daemon", *words], cwd="/", env=environ, capture_output=True, timeout=60, check=False
    )


def run(line: str, given: Any, home: Path) -> tuple[int, bytes, bytes]:
    ended = subprocess.run(
        ["/bin/sh", "-c", line],
        input=json.dumps(given).encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        cwd="/",
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def lines(settings: Path) -> dict[str, str]:
    """Return each event's line as it is written in a settings file."""
    return {
        event: groups[0]["hooks"][0]["command"] for event, groups in json.loads(settings.read_text())["hooks"].items()
    }


def test_a_recorded_session_through_the_written_lines(home: Path, copy: Path) -> None:
    """Every event of a real session becomes one handoff in the spool; once the installation is deleted, each line
    exits 0 in silence and leaves nothing; `hooks list` says so, and uninstalling works all the same."""
    ended = memsyncd(home, "hooks", "install", "--harness", "claude-code", "--json", source=copy)
    assert ended.returncode == 0, ended.stderr
    settings = Path(json.loads(ended.stdout)["file"])
    written = lines(settings)
    session = steps(home)
    for step in session:
        assert run(written[step.hook_input["hook_event_name"]], step.hook_input, home) == (0, b"", b"")
    pending = home / ".local/share/memsyncd/spools/claude-code/pending"
    handoffs = [json.loads(file.read_bytes()) for file in sorted(pending.glob("*.json"))]
    assert [handoff["action"] for handoff in handoffs] == [step.action for step in session]
    assert [handoff["hook_input"] for handoff in handoffs] == [step.hook_input for step in session]

    shutil.rmtree(copy.parent)
    for event, line in written.items():
        assert run(line, {"hook_event_name": event}, home) == (0, b"", b"")
    assert len(list(pending.glob("*.json"))) == len(session)
    ended = memsyncd(home, "hooks", "list", "--harness", "claude-code")
    assert ended.returncode == 1
    assert b"broken" in ended.stdout
    assert b"drop.py is gone" in ended.stdout
    assert memsyncd(home, "hooks", "uninstall", "--harness", "claude-code").returncode == 0
    assert not list(settings.parent.glob("*"))
