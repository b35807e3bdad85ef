"""The drop as a harness runs it: a process of its own, in a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

DROP = Path(__file__).resolve().parents[3] / "memsyncd" / "hooks" / "drop.py"
SYSTEM = "/usr/bin/python3"
INTERPRETERS = [sys.executable] + ([SYSTEM] if Path(SYSTEM).exists() else [])


@dataclass
class Drop:
    """Runs drops against one home and looks at what they left."""

    home: Path
    interpreter: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def command(self, *words: str) -> list[str]:
        return [self.interpreter, "-I", "-S", str(DROP), *words]

    def start(self, *words: str, before: list[str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """Start a drop with its standard input open; `before` are the interpreter's words in place of the script."""
        environment = {"PATH": os.defpath, "MEMSYNCD_HOME": str(self.home), **self.environment}
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        words = words or ("stop", "--harness", "claude-code")
        process = subprocess.Popen(
            [self.interpreter, *before, *words] if before else self.command(*words),
            **{**streams, "env": environment, **options},
        )
        self.running.append(process)
        return process

    def __call__(self, payload: object, *words: str, **options: Any) -> None:
        """Run a drop to its end; it must exit 0 and print nothing."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        process = self.start(*words, **options)
        printed = process.communicate(raw, timeout=60)
        assert (process.returncode, *printed) == (0, b"", b"")

    def files(self) -> list[Path]:
        return sorted(self.home.glob("spools/*/pending/*.json"))

    def handoffs(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in self.files()]

    def only(self) -> dict[str, Any]:
        [handoff] = self.handoffs()
        return handoff

    def log(self) -> list[list[str]]:
        """Return the error log's lines, each in words."""
        path = self.home / "hook-errors.log"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def drop(tmp_path: Path) -> Iterator[Drop]:
    runner = Drop(tmp_path / "home", environment={"XDG_RUNTIME_DIR": str(tmp_path / "run")})
    yield runner
    for process in runner.running:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.fixture(params=INTERPRETERS, ids=lambda path: Path(path).name + str(INTERPRETERS.index(path)))
def every(request: pytest.FixtureRequest, drop: Drop) -> Drop:
    """Return the same under every interpreter a harness may use here."""
    drop.interpreter = request.param
    return drop
