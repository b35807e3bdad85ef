"""A test's hold on the process that forks (`forked.py`)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.end_to_end.killing.step import PRODUCT, Point
from tests.uncounted import environment

DAEMON = "daemon.__main__:main"
"""The program behind the command `memsyncd`."""


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it printed, and, where it was not killed, the points that it passed."""

    code: int
    log: str
    points: Sequence[Point] = ()

    @property
    def was_killed(self) -> bool:
        """Whether it came to the point at which it was to die."""
        return self.code == -signal.SIGKILL


class Forker:
    """Runs commands one after the other. What dies is a fork: coverage is not counted in it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.killing.forked"],
            env={**environment(), "PYTHONPATH": PRODUCT},
            cwd=PRODUCT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        arguments: Sequence[str],
        root: Path,
        environ: Mapping[str, str],
        *,
        services: Mapping[int, str] | None = None,
        at: Point | None = None,
        program: str = DAEMON,
        stdin: Path | None = None,
    ) -> Ended:
        """Run a command whose home is `root` to its end, or up to a point."""
        log, points = root.with_suffix(".log"), root.with_suffix(".points")
        asked = {
            "arguments": [*arguments],
            "program": program,
            "root": str(root),
            "environ": dict(environ),
            "services": dict(services or {}),
            "at": (at.name, at.phase, at.turn) if at else None,
            "stdin": str(stdin or os.devnull),
            "log": str(log),
            "points": str(points),
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        passed = [Point(*one) for one in json.loads(points.read_text())] if points.exists() else []
        said = log.read_text(errors="replace")
        log.unlink()
        points.unlink(missing_ok=True)
        return Ended(code, said, passed)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
