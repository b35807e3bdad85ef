"""docs/reliability.md names tests that are there, and every fault that is tested has its row."""

import ast
import re
from pathlib import Path

from daemon.status.problem_kinds import KINDS

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "tests" / "faults"

_, _, _PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").partition("\n## Faults\n")
SECTION = _PAGE.partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line[1:-1].split("|")] for line in SECTION.splitlines() if line.startswith("| ")][1:]


def of_faults() -> set[str]:
    """Return every test of a fault, as `file::name`."""
    return {
        f"{path.name}::{node.name}"
        for path in FAULTS.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_named_test_exists_and_every_fault_has_its_row() -> None:
    """One test a row, one row a test."""
    named = [row[-1].strip("`") for row in ROWS]
    assert len(named) == len(set(named))
    assert set(named) == of_faults()


def test_every_row_says_what_is_seen() -> None:
    """Five cells, and codes that a status may carry."""
    assert all(len(row) == 5 and row[0] and row[1] for row in ROWS)
    codes = {code for row in ROWS for code in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", row[1])}
    assert codes - KINDS.keys() == {"lock-lost"}  # the last line of a log
