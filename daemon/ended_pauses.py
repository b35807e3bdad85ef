"""The pauses of projects that are over, and when they were: what was dropped in one is never taken in, whenever that is
looked at. `pauses-ended.json` is a file of its own, which a version that does not know it leaves alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from daemon.pause_spans import Span
from daemon.pause_state import as_text
from memsyncd import regular_file

NAME = "pauses-ended.json"
VERSION = 1

KEPT = 10_000
"""Pauses; those that ended longest ago go first. No clock has a say in it: a handoff may wait behind a pause of
everything for as long as that lasts, and a transcript is read whenever its session goes on."""

MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class EndedPause:
    """A project, told as a PausedProject, and when it was paused."""

    repo_id: str
    root: str
    spans: Sequence[Span]


def read(path: Path) -> Sequence[EndedPause] | None:
    """Return them, the last ended last; None where the file cannot be read, so that nobody knows. Raises nothing."""
    try:
        document = regular_file.document(path, MAX_BYTES)
        if document["v"] != VERSION:
            return None
        return tuple(_ended(each) for each in document["projects"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError):
        return None


def encoded(ended: Sequence[EndedPause]) -> bytes:
    """Return the file's content, with as many as it holds."""
    kept = ended[-KEPT:]
    while True:
        content = json.dumps({"v": VERSION, "projects": [asdict(each) for each in kept]}).encode()
        if len(content) <= MAX_BYTES:
            return content
        kept = kept[(len(kept) + 1) // 2 :]  # of long paths fewer


def _ended(document: Mapping[str, Any]) -> EndedPause:
    spans = tuple((float(begin), float(end)) for begin, end in document["spans"])
    return EndedPause(as_text(document["repo_id"]), as_text(document["root"]), spans)
