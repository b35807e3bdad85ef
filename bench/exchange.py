"""What an export and an import cost: `python -m bench.exchange [--quick] [--memories N]`.

Memories in words of the corpus, as often as they are said there, go through the commands as a person runs them: brought
into an empty store, brought once more, and written out. Printed are rows a second by the wall and of the processor, and
the most memory that a command took.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import table
from bench.search import WORDS_OF_A_MEMORY, Words, spoken
from daemon.exchange.form import header

TARGET_ROWS = 5_000.0
"""A second, brought into an empty store."""

TARGET_MB = 120.0
"""Of memory, however many rows there are."""


def write(path: Path, size: int, words: Words) -> None:
    """Write an export of `size` memories."""
    with path.open("w", encoding="ascii") as file:
        file.write(json.dumps(header("local", 1_800_000_000.0)) + "\n")
        for number in range(size):
            file.write(json.dumps(_row(number, words(WORDS_OF_A_MEMORY))) + "\n")


def _row(number: int, text: str) -> dict[str, object]:
    app = f"app{number % 20}"
    return {
        "type": "memory",
        "id": f"m-{number}",
        "memory": f"{text} {number}",
        "category": "project_knowledge",
        "lane": "project" if number % 2 else "personal",
        "user_id": "ada",
        "app_id": app,
        "agent_id": f"{app}-1",
        "run_id": f"s{number // 40}",
        "metadata": {"source": "memsyncd", "branch": "main", "dirs": ["src", f"src/part{number % 500}"]},
        "score": 1.0,
        "created_at": "2026-11-01T00:00:00.000Z",
    }


def run(home: Path, *arguments: str) -> tuple[float, float]:
    """Run a command and return its seconds, by the wall and of the processor."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMSYNCD_HOME": str(home / "m"), "USER": "ada"}
    start, worked = time.perf_counter(), _worked()
    subprocess.run([sys.executable, "-m", "daemon", *arguments], env=environ, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, _worked() - worked


def _worked() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rates(size: int, seconds: tuple[float, float]) -> str:
    """Return rows a second by the wall, and by the processor."""
    return f"{size / seconds[0]:,.0f} a second (works {size / seconds[1]:,.0f})"


def main() -> None:
    """Print rows a second and memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="5,000 memories")
    parser.add_argument("--memories", type=int, default=200_000)
    options = parser.parse_args()
    size = 5_000 if options.quick else options.memories
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write(home / "export.jsonl", size, spoken(random.Random(size)))
        first = run(home, "import", "--json", str(home / "export.jsonl"))
        again = run(home, "import", "--json", str(home / "export.jsonl"))
        out = run(home, "export", "--json", "--to", str(home / "out.jsonl"))
    brought = f"{size:,} memories brought"
    table.line(brought, rates(size, first), f"> {TARGET_ROWS:,.0f}", met=size / first[0] > TARGET_ROWS)
    table.line("the same once more: nothing new", rates(size, again))
    table.line("written out", rates(size, out))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    table.line("memory of a command at most", f"{peak:.0f} MB", f"< {TARGET_MB:g} MB", met=peak < TARGET_MB)


if __name__ == "__main__":
    main()
