"""A process that stands still: the system stops each of its threads when it comes to it, on a busy machine a while after
the signal was sent."""

import os
import signal
from pathlib import Path


def stand_still(pid: int) -> None:
    """Stop a process, and return when none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    while not all(_stands(task) for task in Path(f"/proc/{pid}/task").iterdir()):
        os.sched_yield()


def _stands(task: Path) -> bool:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return True
