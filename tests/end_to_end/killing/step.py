"""One step of a process on disk or network, and the name by which a person knows it.

A name says what is touched, what is done to it and who does it: `spool: rename .json to .running (intake.spool.claim)`.
It is made from what the operating system is asked for and by whom, so a step nobody has thought of has one too.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

BEFORE, AFTER = "before", "after"

PLACES: tuple[tuple[str, str], ...] = (
    (r"\.mem0/[^/]+/evidence\.sqlite3.*", "plugin's evidence"),
    (r"\.mem0/[^/]+/pending/.*", "plugin's spool"),
    (r"\.mem0/.*telemetry.*", "plugin's telemetry"),
    (r"\.mem0/.*", "plugin's directory"),
    (r".*/evidence\.sqlite3.*", "evidence"),
    (r".*/queue\.sqlite3.*", "queue"),
    (r".*/memory\.sqlite3.*", "memories"),
    (r".*/pending/.*", "spool"),
    (r".*/dead(/.*)?", "dead letters"),
    (r".*/corrupt(/.*)?", "corrupt"),
    (r".*telemetry.*", "telemetry"),
    (r".*/\.?forgotten.*", "tombstones"),
    (r".*/run(/.*)?", "status socket"),
    (r".*/daemon\.lock", "lock"),
    (r".*/nudge", "nudge"),
    (r".*/history.*", "history"),
    (r".*/\.?clock\.json.*", "clock"),
    (r".*/\.?(paused|resumed|pauses).*", "pause"),
    (r"m/spools/.*", "spool's directory"),
    (r"m|m/spools", "data directory"),
)
"""What a path below the home is, by the first that fits; anything else goes by its own name."""

PRODUCT = str(Path(__file__).parents[3])
ROOMS = ("daemon/", "jobs/", "memsyncd/")
PLUMBING = frozenset(
    {
        "memsyncd/evidence/database.py",
        "memsyncd/platforms/network.py",
        "memsyncd/schema_steps.py",
        "memsyncd/sqlite_transaction.py",
        "memsyncd/telemetry/disk.py",
        "jobs/queue/writer.py",
    }
)
"""Modules through which steps of many go: the step is their caller's."""


@dataclass(frozen=True, order=True)
class Point:
    """A moment at which a process may be killed: just before or after a step, the `turn`-th time it comes."""

    name: str
    phase: str
    turn: int = 1


def place(path: str, root: str) -> str | None:
    """Return what a path is, None for one that is not below the home."""
    if path != root and not path.startswith(f"{root}/"):
        return None
    below = path[len(root) + 1 :].removesuffix(" (deleted)")
    return next((name for pattern, name in PLACES if re.fullmatch(pattern, below)), plain(below) or "home")


def plain(name: str) -> str:
    """Return a name without what differs from run to run: numbers of processes, times, chance."""
    return re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{4,}\b", "*", name)


def ending(path: str) -> str:
    """Return how a file's name ends, without what differs from file to file: `.json`, `.reason.json`, `pending`."""
    name = plain(path.removesuffix(" (deleted)").rpartition("/")[2])
    if name.startswith("m-"):
        return "home"
    return name[name.index(".", 1) :] if "." in name[1:] else name


def caller(frame: FrameType | None) -> str:
    """Return module and function of the nearest code of the product that is neither plumbing nor private."""
    while frame is not None:
        path = frame.f_code.co_filename
        below = path[len(PRODUCT) + 1 :] if path.startswith(PRODUCT) else ""
        if below.startswith(ROOMS) and below not in PLUMBING:
            name = frame.f_code.co_qualname.removesuffix(".__init__").rpartition(".")[2]
            if not name.startswith(("_", "<")):
                return f"{below.removesuffix('.py').partition('/')[2].replace('/', '.')}.{name}"
        frame = frame.f_back
    return "a thread of its own"


def request_line(data: bytes) -> str:
    """Return what an HTTP request asks for, without ids; empty for bytes that begin none."""
    found = re.match(rb"([A-Z]{3,6}) (/[^ ?]*)[^ ]* HTTP/1", data)
    if found is None:
        return ""
    return found[1].decode() + " " + re.sub(r"/(?=[^/]*\d)[^/]{6,}", "/*", found[2].decode("latin-1"))
