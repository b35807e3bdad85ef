"""The operation log: what was done, how long it took, how it went (facts 2.35)."""

import sqlite3
from dataclasses import asdict, dataclass

from memsyncd.evidence.moments import stored_moment
from memsyncd.evidence.packet_rows import ERROR_CHARACTERS
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.schema import Shape


@dataclass(frozen=True, slots=True)
class Operation:
    """One line. `operation` is `flush` for a first try, `flush-retry` for a resumed one; `item_count` is the memories
    the platform reported."""

    operation: str
    session_id: str = ""
    repo_id: str = ""
    duration_ms: float = 0.0
    success: bool = True
    item_count: int = 0
    request_chars: int = 0
    response_chars: int = 0
    error: str = ""


def record(connection: sqlite3.Connection, shape: Shape, operation: Operation, now: float) -> bool:
    """Add the line; False where the file has no such log."""
    if not shape.has("operations"):
        return False
    values = {key: clean(value) if isinstance(value, str) else value for key, value in asdict(operation).items()}
    values["error"] = clean(operation.error)[:ERROR_CHARACTERS]
    values["success"] = int(operation.success)
    row = shape.known("operations", {"created_at": stored_moment(now, numeric=shape.numeric_times), **values})
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.execute(
        f"INSERT INTO operations({names}) VALUES ({marks})",  # noqa: S608  (names come from this file)
        tuple(row.values()),
    )
    return True
