"""The long run of the targets, and what it found and measured.

    python -m tests.fuzz [TARGET…] [--inputs N] [--seconds S] [--workers W] [--corpus DIR] [--plain]

Each target is tried by the guided engine, in a process of its own, and what that gathered once more, changed by chance,
by the plain engine, whose code is not instrumented: there time and memory are strict. N inputs are shared out among the
targets; S bounds each engine's time for one target. What breaks a target is left in `tests/fuzz/found/TARGET/`.
Exits with 1 where something did.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz import catalogue, running
from tests.fuzz.running import Result


def main() -> int:
    """Run what is asked for; print a line for each target."""
    asked = _asked()
    shares = {name: catalogue.target(name).share for name in asked.targets or catalogue.NAMES}
    run = running.plainly if asked.plain else running.wholly
    results: list[Result] = []
    _say(running.HEADING)
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-", dir=running.memory_disk()) as place,
        ProcessPoolExecutor(asked.workers, get_context("spawn"), max_tasks_per_child=1) as pool,
    ):
        corpus, whole = Path(asked.corpus or place, "corpus"), sum(shares.values())
        waiting = []
        for name, share in shares.items():
            bounds = {"inputs": asked.inputs * share // whole, "seconds": asked.seconds}
            waiting.append(pool.submit(run, name, corpus / name, Path(place, name), **bounds))
        for done in as_completed(waiting):
            results.append(done.result())
            _say(results[-1].line())
    _say(running.total(results))
    return any(result.broke for result in results)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *catalogue.NAMES], default=[])
    parser.add_argument("--inputs", type=int, default=10_000_000, help="of all targets together")
    parser.add_argument("--seconds", type=int, default=3_600, help="of one engine on one target, at most")
    parser.add_argument("--workers", type=int, default=1, help="targets tried at once")
    parser.add_argument("--corpus", help="where the guided engine keeps what reaches something new")
    parser.add_argument("--plain", action="store_true", help="without atheris")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
