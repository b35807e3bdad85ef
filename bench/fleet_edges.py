"""What a shared queue on PostgreSQL costs with 10, 100 and 1,000 edges: their waits, a worker's, the database's load.

    python -m bench.fleet_edges [--edges N ...] [--seconds S]

Each edge has a queue of its own as a daemon has, with connections of its own, and puts in a batch of 2 KB every half a
minute; it looks for the end when a daemon would, and lets go of its connections as a daemon does. One worker process of
four threads delivers to a platform that answers at once. All of them and the server share this machine.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import psycopg

from bench import process_figures, table
from tests.fakes.postgres_server import PostgresServer, programs

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = 4
"""That the edges are spread over."""

SETTLE_SECONDS = 15.0
"""So long nothing is measured: the first packets come at random moments, and connections are let go."""

Process = subprocess.Popen[str]


def start(*words: str) -> Process:
    """Return a process that is ready and waits for the word."""
    command = [sys.executable, "-m", "bench.fleet_edges_process", *words]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: Process) -> str:
    """Return the next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def cpu_seconds(server: PostgresServer) -> float:
    """Return the processor time of the server's processes so far, those that ended included."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_bytes().rpartition(b")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) * process_figures.TICK_SECONDS
    living = 0.0
    for process in server.processes():
        try:
            living += process_figures.cpu_seconds(process)
        except FileNotFoundError:
            continue
    return ended + living


class Database:
    """What the server tells of itself."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        self._server = server
        self._connection = psycopg.connect(url, autocommit=True)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def look(self) -> dict[str, float]:
        """Return what has grown so far, and the connections of now, this one aside."""
        row = self._connection.execute(
            "SELECT (SELECT sum(xact_commit) FROM pg_stat_database),"
            " pg_current_wal_lsn() - '0/0',"
            " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') - 1"
        ).fetchone()
        assert row is not None
        commits, wal, connections = map(float, row)
        return {
            "at": time.monotonic(),
            "cpu": cpu_seconds(self._server),
            "commits": commits,
            "wal": wal,
            "connections": connections,
        }


def measure(server: PostgresServer, edges: int, seconds: float) -> None:
    """Measure with so many edges, and print."""
    url = server.fresh()
    with ExitStack() as stack:
        database = Database(server, url)
        stack.callback(database.close)
        share = -(-edges // PROCESSES)
        firsts = range(0, edges, share)
        begin = time.monotonic()
        started = [start("worker", url)]
        stack.callback(end, started)
        process_ready(started[0])  # it makes the tables
        started += [start("edges", url, str(first), str(min(share, edges - first))) for first in firsts]
        for process in started[1:]:
            process_ready(process)
        opening = time.monotonic() - begin
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        time.sleep(SETTLE_SECONDS)
        looks = [database.look()]
        while looks[-1]["at"] - looks[0]["at"] < seconds:
            time.sleep(1.0)
            looks.append(database.look())
        took: dict[str, list[float]] = defaultdict(list)
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
            for name, values in json.loads(line(process)).items():
                took[name] += values
    show(edges, took, looks, opening)


def process_ready(process: Process) -> None:
    """Wait until it says so."""
    if line(process) != "ready\n":
        raise SystemExit("a process of the benchmark did not get ready")


def end(processes: list[Process]) -> None:
    """Wait for the end of every process; one that does not come to it is killed."""
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def show(edges: int, took: dict[str, list[float]], looks: list[dict[str, float]], opening: float) -> None:
    """Print what was measured."""
    first, last = looks[0], looks[-1]
    seconds = last["at"] - first["at"]
    name = f"{edges:,} edges: "
    table.line(name + "all opened in", f"{opening:.1f} s")
    for what, words in (
        ("accept", "an edge puts a batch in"),
        ("look", "an edge looks for its end"),
        ("claim", "a worker claims"),
    ):
        if took[what]:
            table.latencies(f"{name}{words}, median / 99th", took[what])
    if took["delivered"]:
        table.line(name + "put in to delivered, median", f"{statistics.median(took['delivered']):.2f} s")
    table.line(name + "calls refused, of all", f"{len(took['refused'])} / {sum(map(len, took.values())):,}")
    connections = [look["connections"] for look in looks]
    table.line(name + "connections, mean / most", f"{statistics.mean(connections):.0f} / {max(connections):.0f}")
    table.line(name + "the server's processor time", f"{(last['cpu'] - first['cpu']) / seconds:.3f} s a second")
    table.line(name + "transactions", f"{(last['commits'] - first['commits']) / seconds:,.1f} /s")
    table.line(name + "write-ahead log", f"{(last['wal'] - first['wal']) / seconds / 1024:,.1f} KB/s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--edges", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    place = programs()
    if place is None:
        print("PostgreSQL is not installed (Debian: apt-get install postgresql): nothing was measured")
        return
    server = PostgresServer(place, max_connections=str(max(options.edges) * 2 + 50))
    try:
        server.start()
        for edges in options.edges:
            measure(server, edges, options.seconds)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
