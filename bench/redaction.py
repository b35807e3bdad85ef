"""What redaction costs: processor time a text, beside one `json.loads` of 2 KB in the same run as a yardstick.

Run from the checkout: python bench/redaction.py
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from memsyncd.redaction import redact, redact_value

PROSE = (
    "The scheduler looks at every row once and moves on; when nothing is due it waits for a condition. Users asked why "
    "the list was empty after a restart, so we looked at the log and found the cause in the reader. "
)
LINE = (
    "2026-11-30T12:00:00Z INFO worker[12] request id=123e4567-e89b-12d3-a456-426614174000 path=/v1/items status=200 "
    "took=12ms token_count=5\n"
)
OUTPUT = {
    "tool": "Bash",
    "input": {"command": "pytest -q tests/unit", "description": "Run the tests"},
    "output": ["tests/unit/test_a.py::test_one PASSED", "tests/unit/test_b.py::test_two FAILED"] * 22,
    "author": "x",
    "tokens": 512,
}
MEGABYTE = 1 << 20


def cost(act: Callable[[], object], times: int) -> float:
    """Return processor microseconds of one call, the best of five rounds."""
    rounds = []
    for _ in range(5):
        start = time.thread_time()
        for _ in range(times):
            act()
        rounds.append((time.thread_time() - start) / times)
    return min(rounds) * 1e6


def main() -> None:
    """Print a line for each kind of text."""
    plain = (PROSE * 20)[:2048]
    output = json.dumps(OUTPUT)[:2048]
    secrets = json.dumps({"out": PROSE * 9, "env": {"api_key": "x" * 12, "password": "y" * 9}})
    log = (LINE * (MEGABYTE // len(LINE) + 1))[:MEGABYTE]
    leaky = ((LINE * 10 + "password=" + "x" * 8 + "\n") * (MEGABYTE // len(LINE) // 10 + 1))[:MEGABYTE]
    rows: list[tuple[str, Callable[[], object], int]] = [
        ("json.loads of 2 KB", lambda: json.loads(secrets), 1000),
        ("2 KB of prose", lambda: redact(plain), 1000),
        ("2 KB of JSON tool output", lambda: redact(output), 1000),
        ("the same as a value", lambda: redact_value(OUTPUT), 300),
        ("2 KB of JSON with two secrets", lambda: redact(secrets), 1000),
        ("1 MB of log", lambda: redact(log), 2),
        ("1 MB of log, a secret every tenth line", lambda: redact(leaky), 2),
    ]
    for name, act, times in rows:
        print(f"{name:42} {cost(act, times):12.1f} us")


if __name__ == "__main__":
    main()
