"""The form of an export: the first line names it, every other is a memory or a note."""

from typing import Any

from memsyncd.clock import rfc3339
from memsyncd.version import __version__

HEADER = "memsyncd-export"
VERSION = 1

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Some times the longest note with every character escaped."""


def header(platform: str, now: float) -> dict[str, Any]:
    """Return the first line; `now` is Unix seconds."""
    return {
        "type": HEADER,
        "version": VERSION,
        "platform": platform,
        "exported_at": rfc3339(now),
        "memsyncd": __version__,
    }
