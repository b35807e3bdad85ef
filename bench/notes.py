"""Notes beside JSON files that are read and written whole (bench/rivals/json_files.py), in one run.

    python -m bench.notes [--quick]

Told are writes and reads a second in a namespace of so many notes, a search over all, and what is left of the notes of
four processes that write at once, and of a process that is killed while it writes.
"""

import argparse
import multiprocessing
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import table
from bench.rivals.json_files import JsonFiles
from memsyncd.clock import Clock
from memsyncd.notes.store import NoteStore

NOTES, QUICK_NOTES = 2_000, 100
WRITERS, EACH = 4, 50
KILLS = 20

Store = JsonFiles | NoteStore
Open = Callable[[Path], Store]


def ours(place: Path) -> NoteStore:
    """Open our store."""
    return NoteStore(place / "notes.sqlite3", Clock())


def theirs(place: Path) -> JsonFiles:
    """Open JSON files."""
    return JsonFiles(place / "files")


def value(number: int) -> str:
    """Return a note of some words."""
    return f"the port of service {number} is {8_000 + number}, as agreed with its owners on the day it was moved " * 2


def medians(store: Store, notes: int) -> tuple[float, float, float]:
    """Return milliseconds of a write, a read and a search in a namespace of so many notes."""
    for number in range(notes):
        store.remember("work", f"service-{number}", value(number))
    asked = range(0, notes, max(1, notes // 50))
    return (
        _median(lambda number: store.remember("work", f"service-{number}", value(number)), asked),
        _median(lambda number: store.recall("work", f"service-{number}"), asked),
        _median(lambda number: store.search(f"service {number}"), asked),
    )


def _median(ask: Callable[[int], Any], numbers: range) -> float:
    taken = []
    for number in numbers:
        begin = time.perf_counter()
        ask(number)
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken)


def kept_of_writers(opened: Open, place: Path) -> int:
    """Return how many notes are left of WRITERS processes that wrote EACH of their own at once."""
    context = multiprocessing.get_context("fork")
    gate = context.Event()

    def write(writer: int) -> None:
        gate.wait()
        store = opened(place)
        for number in range(EACH):
            store.remember("shared", f"{writer}-{number}", value(number))

    writers = [context.Process(target=write, args=(writer,)) for writer in range(WRITERS)]
    for each in writers:
        each.start()
    gate.set()
    for each in writers:
        each.join()
    return _count(opened(place), "shared")


def kept_of_killed(opened: Open, place: Path) -> tuple[int, int]:
    """Return how many notes were accepted by processes that were killed while they wrote, and how many are left."""
    context = multiprocessing.get_context("fork")
    accepted = 0
    for kill in range(KILLS):
        receiving, sending = context.Pipe(duplex=False)

        def write(kill: int = kill, sending: Any = sending) -> None:
            store = opened(place)
            for number in range(10_000):
                store.remember("killed", f"{kill}-{number}", value(number))
                sending.send_bytes(b".")

        writer = context.Process(target=write)
        writer.start()
        for _ in range(10 + kill % 7):
            receiving.recv_bytes()
            accepted += 1
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        sending.close()
        while receiving.poll():  # what it had been told before it was killed
            try:
                receiving.recv_bytes()
            except EOFError:
                break
            accepted += 1
    return accepted, _count(opened(place), "killed")


def _count(store: Store, namespace: str) -> int:
    if isinstance(store, JsonFiles):
        return store.count(namespace)
    return sum(each.total for each in store.namespaces() if each.namespace == namespace)


def main() -> int:
    """Measure and print; 0 unless ours lost a note."""
    parser = argparse.ArgumentParser(description="notes beside JSON files")
    parser.add_argument("--quick", action="store_true", help="among a hundred notes")
    notes = QUICK_NOTES if parser.parse_args().quick else NOTES
    figures: dict[str, tuple[float, float, float]] = {}
    left: dict[str, int] = {}
    for name, opened in (("ours", ours), ("JSON files", theirs)):
        with tempfile.TemporaryDirectory(prefix="mb-", dir="/tmp") as directory:
            place = Path(directory)
            figures[name] = medians(opened(place), notes)
            left[name] = kept_of_writers(opened, place)
            accepted, kept = kept_of_killed(opened, place)
        write, read, search = figures[name]
        table.line(f"{name}: a write, a read, a search of {notes:,} notes", f"{write:.2f}, {read:.2f}, {search:.2f} ms")
        table.line(f"  of {WRITERS} x {EACH} notes written at once", f"{left[name]} kept")
        table.line(f"  of {accepted:,} accepted by {KILLS} processes killed", f"{min(kept, accepted):,} kept")
    ratios = [theirs_ / ours_ for ours_, theirs_ in zip(figures["ours"], figures["JSON files"], strict=True)]
    table.line("JSON files against ours: write, read, search", ", ".join(f"x{ratio:.2f}" for ratio in ratios))
    return 0 if left["ours"] == WRITERS * EACH else 1


if __name__ == "__main__":
    raise SystemExit(main())
