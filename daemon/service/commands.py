"""Running a service manager's commands; tests put a stub in its place."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

COMMAND_SECONDS = 180.0
"""A start returns once the daemon is ready, which its unit gives two minutes."""

NOT_FOUND, TOO_LONG = 127, 124
"""Exit codes of a command that is not there, as a shell's, and of one that was ended, as timeout(1)'s."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended. `output` is what it printed on both of its streams, without blanks around it."""

    code: int
    output: str = ""

    @property
    def ok(self) -> bool:
        """Whether it exited 0."""
        return self.code == 0


Run = Callable[[Sequence[str]], Answer]
"""Runs a command to its end."""


def runner(environ: Mapping[str, str], seconds: float = COMMAND_SECONDS) -> Run:
    """Return what runs commands for real, with this environment, no input and a time limit."""

    def run(words: Sequence[str]) -> Answer:
        try:
            done = subprocess.run(  # noqa: S603  (a manager's own command; no shell)
                list(words),
                env={**environ, "LC_ALL": "C", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                cwd=os.sep,
                check=False,
            )
        except FileNotFoundError:
            return Answer(NOT_FOUND, f"{words[0]} is not installed")
        except subprocess.TimeoutExpired:
            return Answer(TOO_LONG, f"{words[0]} did not end within {seconds:g} s")
        return Answer(done.returncode, done.stdout.decode(errors="replace").strip())

    return run
