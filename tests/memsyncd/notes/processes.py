"""Processes that write notes into one file at once."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).parents[3]

_WRITER = """
import sys
from pathlib import Path
from memsyncd.clock import Clock
from memsyncd.notes.store import NoteStore

path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
count = int(sys.stdin.readline())
store = NoteStore(path, Clock())
for number in range(count):
    store.remember("default", f"{name}-{number}", f"note {number} of {name}")
    print(number, flush=True)
store.close()
"""

_ENDLESS = 10**9


class Writer:
    """One process, waiting for the word to begin. It acknowledges each note with a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._out.readline() == "ready\n"

    def write_notes(self, count: int) -> None:
        """Let it write."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()

    def finish(self) -> int:
        """Return how many notes it acknowledged, once it is through."""
        lines = self._out.readlines()
        assert self._process.wait(timeout=60) == 0
        return len(lines)

    def killed_after(self, acknowledged: int) -> int:
        """Kill it in the midst, after so many notes at least; return how many it acknowledged in all."""
        self.write_notes(_ENDLESS)
        told = [self._out.readline() for _ in range(acknowledged)]
        self._process.kill()
        told += [line for line in self._out.readlines() if line.endswith("\n")]
        self._process.wait(timeout=60)
        return len(told)

    @property
    def _out(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout


@contextmanager
def started(count: int, path: Path) -> Iterator[Sequence[Writer]]:
    """Start writers that all stand ready; those still alive at the end are ended."""
    with ExitStack() as children:
        writers = []
        processes = []
        for number in range(count):
            process = children.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _WRITER, str(path), str(number)],
                    cwd=REPOSITORY,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            children.callback(process.kill)
            processes.append(process)
        writers = [Writer(process) for process in processes]
        yield writers
