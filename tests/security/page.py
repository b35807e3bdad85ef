"""What docs/security.md says, for the tests that hold it to it."""

import fnmatch
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"

_KINDS = {"directory": stat.S_ISDIR, "file": stat.S_ISREG, "FIFO": stat.S_ISFIFO, "socket": stat.S_ISSOCK}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of what is made: a pattern of paths below the data directory, what it is, its mode."""

    pattern: str
    kind: str
    mode: int

    def covers(self, name: str, status: os.stat_result) -> bool:
        """Whether a path below the data directory is what the row speaks of."""
        return fnmatch.fnmatchcase(name, self.pattern) and _KINDS[self.kind](status.st_mode)


def section(heading: str) -> str:
    """Return a section's text."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index(f"\n## {heading}\n")
    return text[begin : text.find("\n## ", begin + 1)]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of a section's table rows, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def made() -> list[Row]:
    """Return what may lie below the data directory."""
    found = []
    for cell, kind, mode, *_ in rows("Files and sockets"):
        found += [Row(name, kind, int(mode, 8)) for name in re.findall(r"`([^`]+)`", cell) if not name.startswith("/")]
    return found


def named_tests() -> set[str]:
    """Return every test that the page names, as `path::name`."""
    return set(re.findall(r"`((?:tests|\.\./tests)/[\w./]+\.py::\w+)`", PAGE.read_text(encoding="utf-8")))
