"""Three workers and two edges, each on a network of its own: killed, stalled and cut off at random moments.

What the edges' agents said is on the platform once and in its order, and the edges know how it ended.
"""

import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg
import pytest

from bench.claude_code_events import HARNESS, Dropper
from tests.end_to_end import fleet_network
from tests.end_to_end.conftest import Home
from tests.end_to_end.fleet_network import DATABASE, DATABASE_PORT, PLATFORM, PLATFORM_PORT, Cable, FleetNetwork
from tests.fakes.mem0_api import KEY
from tests.fakes.postgres_server import shared_server

pytestmark = pytest.mark.usefixtures("uncounted")

WORKERS, EDGES = 3, 2

LEASE_SECONDS = 6.0
"""Of a claim here; a stalled or cut off worker's are taken over within the test."""

SHORT_SECONDS, LONG_SECONDS = 14.0, 600.0
"""Of trouble; what was begun is then brought to its end."""

QUIET_SECONDS = 120.0
"""What the end may take on a busy machine."""

AWAY = {"database": (1.0, 9.0), "platform": (1.0, 20.0)}
"""Seconds a cable stays pulled: a claim runs out meanwhile, or a request's time does."""

STALLED = (LEASE_SECONDS + 1.0, LEASE_SECONDS + 4.0)

TOKEN = re.compile(r"edge\d+-session\d+-turn\d+-(?:ask|say)")


@dataclass
class Machine:
    """A daemon's machine, with its cables."""

    home: Home
    cables: dict[str, Cable]

    def die(self) -> None:
        """Be killed, and started again at once."""
        self.home.stop(signal.SIGKILL)
        self.home.start(wait=False)

    def stall(self, seconds: float, sleep: threading.Event) -> None:
        """Stand still, and go on."""
        assert self.home.daemon is not None
        self.home.daemon.send_signal(signal.SIGSTOP)
        sleep.wait(seconds)
        self.home.daemon.send_signal(signal.SIGCONT)

    def cut_off(self, what: str, seconds: float, sleep: threading.Event) -> None:
        """Be without a cable for a while."""
        self.cables[what].pull()
        sleep.wait(seconds)
        self.cables[what].plug_in()


@dataclass
class Agents(threading.Thread):
    """What happens on an edge: one session after the other, each with some turns. `said` has its tokens in order."""

    machine: Machine
    name_of_edge: str
    random: Random
    said: dict[str, list[str]] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(name=self.name_of_edge)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        home = self.machine.home
        dropper = Dropper(home.places.data, home.project)
        number = 0
        while not self.stopping.is_set():
            self._session(dropper, f"{self.name_of_edge}-session{number}")
            number += 1

    def _session(self, dropper: Dropper, session: str) -> None:
        said = self.said[session] = []
        common = {"session_id": session, "cwd": str(self.machine.home.project)}
        for turn in range(self.random.randint(1, 5)):
            ids = {**common, "prompt_id": f"{session}-{turn}"}
            token = f"{session}-turn{turn}"
            dropper.drop("user-prompt", {**ids, "prompt": f"What is {token}-ask about?"})
            dropper.drop("stop", {**ids, "last_assistant_message": f"It is about {token}-say."})
            said += [f"{token}-ask", f"{token}-say"]
            if self.random.random() < 0.4:
                dropper.drop("flush", common, reason="pre-compact")
            if self.stopping.wait(self.random.uniform(0.1, 0.6)):
                break
        dropper.drop("flush", {**common, "reason": "other"}, reason="session-end")


class Trouble:
    """One misfortune after the other, of one machine at a time, at random moments."""

    def __init__(self, workers: list[Machine], edges: list[Machine], random: Random) -> None:
        self._workers = workers
        self._edges = edges
        self._random = random
        self._sleep = threading.Event()  # never set: only its wait is used
        self.met: Counter[str] = Counter()

    def go_on(self, seconds: float) -> None:
        """Make trouble for so long; every kind comes in turn, the first of them at least once."""
        kinds = [
            self._kill_worker,
            self._without_database,
            self._kill_edge,
            self._without_platform,
            self._stall_worker,
            self._edge_without_database,
        ]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            order = self._random.sample(kinds, len(kinds))
            for kind in order:
                self._sleep.wait(self._random.uniform(0.2, 2.0))
                kind(max(1.0, min(20.0, seconds / 8)))
                self.met[kind.__name__.strip("_").replace("_", " ")] += 1
                if time.monotonic() > end:
                    return

    def _kill_worker(self, _: float) -> None:
        self._random.choice(self._workers).die()

    def _kill_edge(self, _: float) -> None:
        self._random.choice(self._edges).die()

    def _without_database(self, longest: float) -> None:
        self._cut_off(self._workers, "database", longest)

    def _without_platform(self, longest: float) -> None:
        self._cut_off(self._workers, "platform", longest)

    def _edge_without_database(self, longest: float) -> None:
        self._cut_off(self._edges, "database", longest)

    def _cut_off(self, machines: list[Machine], what: str, longest: float) -> None:
        seconds = min(self._random.uniform(*AWAY[what]), longest)
        self._random.choice(machines).cut_off(what, seconds, self._sleep)

    def _stall_worker(self, longest: float) -> None:
        self._random.choice(self._workers).stall(min(self._random.uniform(*STALLED), longest), self._sleep)


@contextmanager
def fleet(place: Path, network: FleetNetwork, schema: str) -> Iterator[tuple[list[Machine], list[Machine]]]:
    """Give three workers and two edges, each started on a machine of its own."""
    made: list[Machine] = []
    url = f"postgresql://postgres@{DATABASE}:{DATABASE_PORT}/postgres?options=-csearch_path%3D{schema}"

    def machine(name: str, role: str) -> Machine:
        words, cables = network.machine(with_platform=role == "worker")
        home = Home(place / name)
        program = [sys.executable, str(Path(__file__).with_name("short_lease.py")), str(LEASE_SECONDS)]
        home.program = [*words, *program] if role == "worker" else [*words, *home.program]
        home.environ |= {
            "PYTHONPATH": str(fleet_network.ROOT),
            "MEMSYNCD_QUEUE_URL": url,
            "MEMSYNCD_QUEUE_ROLE": role,
            "MEMSYNCD_PLATFORM_KIND": "mem0",
            "MEMSYNCD_PLATFORM_MAX_COOLDOWN_SECONDS": "5",
            "MEMSYNCD_RETRY_FIRST_DELAY_SECONDS": "0.5",
            "MEM0_API_URL": f"http://{PLATFORM}:{PLATFORM_PORT}",
            "MEM0_CODE_EVENT_POLL_SECONDS": "0.2",
        }
        if role == "worker":
            home.environ["MEM0_API_KEY"] = KEY
        made.append(Machine(home, cables))
        home.start(wait=False)
        return made[-1]

    try:
        workers = [machine(f"w{number}", "worker") for number in range(WORKERS)]
        edges = [machine(f"e{number}", "edge") for number in range(EDGES)]
        for each in made:
            each.home.until(lambda home=each.home: home.status()["state"] != "starting", "not ready")  # type: ignore[misc]
        yield workers, edges
    finally:
        for each in made:
            each.home.close()


def delivered(commits: Path) -> dict[str, list[str]]:
    """Return by session the tokens of what was said, in the order in which the platform took them in."""
    found: dict[str, list[str]] = {}
    for line in commits.read_text().splitlines():
        body = json.loads(line)
        said = [token for message in body["messages"] for token in TOKEN.findall(message["content"])]
        found.setdefault(body["run_id"], []).extend(said)
    return found


def packets(home: Home) -> Counter[str]:
    """Count an edge's packets by status."""
    with closing(sqlite3.connect(home.spool(HARNESS) / "evidence.sqlite3")) as connection:
        return Counter(status for (status,) in connection.execute("SELECT status FROM flushes"))


def jobs(url: str) -> Counter[str]:
    """Count the shared queue's jobs by state."""
    with psycopg.connect(url) as connection:
        return Counter(state for (state,) in connection.execute("SELECT state FROM memsyncd_jobs"))


def run(seconds: float) -> None:
    """Let there be trouble for so long, then bring all to its end and compare."""
    fleet_network.needed()
    seed = int(os.environ.get("MEMSYNCD_KILLS_SEED", "0")) or Random().getrandbits(32)
    print(f"MEMSYNCD_KILLS_SEED={seed}")  # noqa: T201  (shown with a failure, to have it again)
    server = shared_server()
    url = server.fresh()
    schema = url.rpartition("%3D")[2]
    with tempfile.TemporaryDirectory(prefix="m-", dir="/tmp") as place:
        network = FleetNetwork(Path(place), server.directory / ".s.PGSQL.5432")
        try:
            with fleet(Path(place), network, schema) as (workers, edges):
                random = Random(seed)
                agents = [Agents(edge, f"edge{n}", Random(seed + 1 + n)) for n, edge in enumerate(edges)]
                trouble = Trouble(workers, edges, random)
                for each in agents:
                    each.start()
                try:
                    trouble.go_on(seconds)
                finally:
                    for each in agents:
                        each.stopping.set()
                    for each in agents:
                        each.join()
                assert_exact(agents, edges, workers, network, url)
        finally:
            network.remove()
    prompts = sum(len(tokens) for each in agents for tokens in each.said.values())
    told = ", ".join(f"{count} x {what}" for what, count in sorted(trouble.met.items()))
    print(f"{told}: {prompts:,} messages delivered, each once and in order")  # noqa: T201  (docs/reliability.md)


def assert_exact(
    agents: list[Agents], edges: list[Machine], workers: list[Machine], network: FleetNetwork, url: str
) -> None:
    """Assert, once all is quiet, that what was said is what was delivered, and that everybody knows."""
    said = {session: tokens for each in agents for session, tokens in each.said.items()}

    def is_over() -> bool:
        waiting = jobs(url)
        return (
            sum(map(len, delivered(network.commits).values())) >= sum(map(len, said.values()))
            and not waiting["ready"] + waiting["claimed"] + waiting["waiting"]
            and all(packets(edge.home).keys() <= {"semantic-succeeded"} for edge in edges)
        )

    end = time.monotonic() + QUIET_SECONDS
    while not is_over() and time.monotonic() < end:
        time.sleep(0.2)
    arrived = delivered(network.commits)
    wrong = {
        session: (tokens, arrived.get(session)) for session, tokens in said.items() if arrived.get(session) != tokens
    }
    logs = [machine.home.logged()[-1500:] for machine in (*workers, *edges)] if wrong else []
    assert not wrong, f"{len(wrong)} of {len(said)} sessions: {dict(list(wrong.items())[:3])} {logs}"
    assert arrived.keys() == said.keys()
    assert jobs(url).keys() == {"done"}
    for edge in edges:
        assert packets(edge.home).keys() == {"semantic-succeeded"}
        left = [*edge.home.places.spools.glob("*/pending/*.json"), *edge.home.places.spools.glob("*/dead/*")]
        assert not left


@pytest.mark.timeout(300)
def test_a_fleet_in_trouble_loses_and_repeats_nothing() -> None:
    """For some seconds: every kind of trouble, each at a random moment."""
    run(SHORT_SECONDS)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_fleet_in_trouble_for_ten_minutes() -> None:
    """The same for long: claims that run out under a stalled worker, requests that outlive their time."""
    run(LONG_SECONDS)
