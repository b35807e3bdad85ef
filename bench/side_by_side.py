"""Our queue beside others that keep work on disk, and a process for each handoff: the same work, machine and run.

    python -m bench.side_by_side [--quick]

Every item is on the disk when it is accepted (full sync, each by itself). Of each: how many are put in a second, taken
and finished by one worker and by four, how soon a waiting worker begins, what it costs in processor time; and of items
that are worked through by a process that is killed (SIGKILL) half-way and started again, how many were lost, and how
many done twice. Needs the `bench` and `postgres` extras and a PostgreSQL server's programs; what is not there is left
out, and said.
"""

import argparse
import contextlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import process_figures
from bench.rivals import kinds
from bench.rivals.kinds import HUEY, OURS, PERSIST, PROCRASTINATE, URL_FILE
from bench.rivals.rival import Rival
from tests.fakes.postgres_server import PostgresServer, programs

RUNS = 5
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one rival: items a second, milliseconds, processor microseconds an item; lost and twice done of `killed`."""

    name: str
    put: float
    one: float
    four: float
    latency: float
    cpu: float
    lost: int
    twice: int
    killed: int


def rate(rival: Rival, numbers: range, workers: int) -> tuple[float, float]:
    """Return items finished in a second, and the processor seconds of each."""
    rival.fill(numbers)
    left, lock, over = [len(numbers)], threading.Lock(), threading.Event()

    def act(_: int) -> None:
        with lock:
            left[0] -= 1
            if not left[0]:
                over.set()

    begin, cpu = time.perf_counter(), time.process_time()
    with rival.work(workers, act):
        over.wait()
        took, cost = time.perf_counter() - begin, time.process_time() - cpu
    return len(numbers) / took, cost / len(numbers)


def latency(rival: Rival, numbers: range) -> tuple[float, float]:
    """Return the milliseconds from put to start, at the median, four workers waiting; and how many are put a second."""
    started, waits, puts = threading.Semaphore(0), [], []
    starts: list[float] = []

    def act(_: int) -> None:
        starts.append(time.perf_counter())
        started.release()

    with rival.work(4, act):
        time.sleep(0.3)
        for number in numbers:
            begin = time.perf_counter()
            rival.put(number)
            puts.append(time.perf_counter() - begin)
            started.acquire()
            waits.append((starts[-1] - begin) * 1000)
            time.sleep(0.005)
    return statistics.median(waits), 1 / statistics.median(puts)


def kill_half_way(kind: str, place: Path, items: int) -> tuple[int, int]:
    """Return how many items were lost, and how many done more than once."""
    rival = kinds.opened(kind, place)
    rival.fill(range(items))
    rival.close()
    results = place / "results"
    command = [sys.executable, "-m", "bench.rivals.killed", kind, str(place), str(results)]
    first = subprocess.Popen(command, cwd=ROOT)
    process_figures.until(lambda: _lines(results) >= items // 2, 120.0, f"{kind} did not work", pause=0.001)
    first.send_signal(signal.SIGKILL)
    first.wait()
    subprocess.run(command, cwd=ROOT, check=True)
    done = Counter(results.read_text().split())
    return items - len(done), sum(count > 1 for count in done.values())


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@contextlib.contextmanager
def servers(names: Sequence[str]) -> Iterator[Mapping[str, PostgresServer]]:
    """Give, by rival, what is written into a place's URL file: a fresh database schema, where it lives in one."""
    if PROCRASTINATE not in names:
        yield {}
        return
    found = programs()
    assert found is not None  # `available` has looked
    server = PostgresServer(found)
    server.start()
    try:
        yield {PROCRASTINATE: server}
    finally:
        server.remove()


def available() -> tuple[list[str], dict[str, str]]:
    """Return the rivals that can be measured here, and why the others cannot."""
    missing: dict[str, str] = {}
    for name, module, extra in ((PERSIST, "persistqueue", "bench"), (PROCRASTINATE, "procrastinate", "bench")):
        try:
            __import__(module)
        except ModuleNotFoundError:
            missing[name] = f"install the {extra} extra"
    if PROCRASTINATE not in missing and programs() is None:
        missing[PROCRASTINATE] = "no PostgreSQL server's programs here"
    return [name for name in (OURS, HUEY, PERSIST, PROCRASTINATE) if name not in missing], missing


class Rounds:
    """What was measured of one rival, a round at a time: rivals take turns, so that what else the machine does in a
    minute falls on all of them."""

    def __init__(self, kind: str, fresh: "Fresh") -> None:
        self._kind = kind
        self._fresh = fresh
        self._ones: list[float] = []
        self._fours: list[float] = []
        self._costs: list[float] = []
        self._waits: list[float] = []
        self._puts: list[float] = []

    def go(self, items: int, pings: int) -> None:
        """Measure once more, each figure in a place of its own."""
        for workers, rates in ((1, self._ones), (4, self._fours)):
            with self._fresh(self._kind) as place, contextlib.closing(kinds.opened(self._kind, place)) as rival:
                reached, cost = rate(rival, range(items), workers)
                rates.append(reached)
                self._costs.append(cost)
        with self._fresh(self._kind) as place, contextlib.closing(kinds.opened(self._kind, place)) as rival:
            wait, puts = latency(rival, range(pings))
            self._waits.append(wait)
            self._puts.append(puts)

    def measured(self, items: int) -> Measured:
        """Return the medians, and what a kill half-way through so many items cost."""
        with self._fresh(self._kind) as place:
            lost, twice = kill_half_way(self._kind, place, items)
        medians = map(statistics.median, (self._puts, self._ones, self._fours, self._waits))
        put, one, four, wait = medians
        return Measured(self._kind, put, one, four, wait, statistics.median(self._costs) * 1e6, lost, twice, items)


class Fresh:
    """Gives empty places."""

    def __init__(self, databases: Mapping[str, PostgresServer]) -> None:
        self._databases = databases

    @contextlib.contextmanager
    def __call__(self, kind: str) -> Iterator[Path]:
        """Give one, and remove it."""
        place = Path(tempfile.mkdtemp(prefix="mb-", dir="/tmp"))
        if kind in self._databases:
            (place / URL_FILE).write_text(self._databases[kind].fresh())
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def show(measured: Sequence[Measured]) -> None:
    """Print the table, with the ratios to ours."""
    ours = measured[0]
    heads = ("", "put /s", "1 worker /s", "4 workers /s", "put to start", "processor", "killed half-way")
    print(f"{heads[0]:<16}{heads[1]:>14}{heads[2]:>18}{heads[3]:>18}{heads[4]:>18}{heads[5]:>18}  {heads[6]}")
    for each in measured:
        cells = (
            _beside(each.put, ours.put),
            _beside(each.one, ours.one),
            _beside(each.four, ours.four),
            f"{each.latency:.2f} ms x{each.latency / ours.latency:.2f}",
            f"{each.cpu:.0f} us x{each.cpu / ours.cpu:.2f}",
        )
        print(
            f"{each.name:<16}{cells[0]:>14}{cells[1]:>18}{cells[2]:>18}{cells[3]:>18}{cells[4]:>18}"
            f"  of {each.killed:,}: {each.lost} lost, {each.twice} twice",
            flush=True,
        )


def _beside(figure: float, ours: float) -> str:
    return f"{figure:,.0f} x{figure / ours:.2f}"


def main() -> int:
    """Measure and print; 0 unless something broke, or ours lost an item."""
    parser = argparse.ArgumentParser(description="our queue beside others that keep work on disk")
    parser.add_argument("--quick", action="store_true", help="a tenth of the items")
    items, pings = (300, 20) if parser.parse_args().quick else (1_500, 60)
    names, missing = available()
    for name, why in missing.items():
        print(f"{name}: left out, {why}")
    with servers(names) as databases:
        fresh = Fresh(databases)
        rounds = {name: Rounds(name, fresh) for name in names}
        for _ in range(RUNS):
            for each in rounds.values():
                each.go(items, pings)
        measured = [each.measured(items) for each in rounds.values()]
    show(measured)
    return 1 if measured[0].lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
