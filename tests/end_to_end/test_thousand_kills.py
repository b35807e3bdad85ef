"""The daemon killed at a thousand random moments, with twenty agents at work: what hooks left is delivered, exactly."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.end_to_end.conftest import PATIENCE, Home
from tests.end_to_end.killing.agents import HARNESSES, Agent
from tests.fakes.mem0_api import KEY

pytestmark = pytest.mark.usefixtures("uncounted")

AGENTS = 20

KILLS = int(os.environ.get("MEMSYNCD_KILLS", "1000"))
"""Of the long run; a smaller number for a look."""

FEW_KILLS = 10
"""Of the everyday run."""

YOUNG = (0.05, 1.0)
"""Seconds from the start of a process to its death, of every second one; a daemon answers after about half a second."""

GROWN = (0.0, 2.0)
"""Seconds from its first answer to its death, of the others: also on a busy machine they are killed at their work."""

TOKEN = re.compile(r"agent\d+-session\d+-turn\d+-(?:ask|say|call\d+)")


@contextmanager
def platform(directory: Path) -> Iterator[tuple[str, Path]]:
    """Run the fake platform in a process of its own; give its address and the file of what it took in."""
    port, commits = directory / "port", directory / "commits"
    words = ["--port-file", str(port), "--commits", str(commits), "--quiet", "--delay", "0.3"]
    process = subprocess.Popen([sys.executable, "-m", "tests.fakes.mem0_api", *words])
    try:
        end = time.monotonic() + PATIENCE
        while not port.exists():
            assert process.poll() is None and time.monotonic() < end, "the fake platform did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text()}", commits
    finally:
        process.terminate()
        process.wait(60)


def delivered(commits: Path) -> dict[str, list[str]]:
    """Return by session the tokens in what was said, in the order in which the platform took them in."""
    found: dict[str, list[str]] = {}
    for line in commits.read_text().splitlines():
        body = json.loads(line)
        said = [
            token for message in body["messages"] for token in TOKEN.findall(message["content"]) if "-call" not in token
        ]
        found.setdefault(body["run_id"], []).extend(said)
    return found


def recorded(home: Home, harness: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield session, token and packet's status of each event of a harness, in order."""
    with closing(sqlite3.connect(home.spool(harness) / "evidence.sqlite3")) as connection:
        rows = connection.execute(
            "SELECT events.session_id, payload_json, status FROM events LEFT JOIN flushes ON flush_id = packet_id"
            " ORDER BY events.id"
        ).fetchall()
    for session, payload, status in rows:
        tokens = set(TOKEN.findall(payload))
        assert len(tokens) == 1, payload
        yield session, tokens.pop(), status


def kill_at_random(home: Home, kills: int, random: Random) -> None:
    """Start the daemon and kill it, so many times."""
    for number in range(kills):
        daemon = home.start(wait=False)
        if number % 100 == 99:
            print(f"{number + 1} lives", flush=True)  # noqa: T201  (of a run that takes half an hour)
        if number % 2:
            home.until(home.status, "it did not answer")
        try:
            code = daemon.wait(random.uniform(*(GROWN if number % 2 else YOUNG)))
        except subprocess.TimeoutExpired:
            home.stop(signal.SIGKILL)
        else:
            pytest.fail(f"life {number} ended by itself with {code}: {home.logged()[-2000:]}")


def run(kills: int, pause: tuple[float, float]) -> None:
    seed = int(os.environ.get("MEMSYNCD_KILLS_SEED", "0")) or Random().getrandbits(32)
    print(f"MEMSYNCD_KILLS_SEED={seed}")  # noqa: T201  (shown with a failure, to have it again)
    root = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    home = Home(root)
    try:
        with platform(root) as (url, commits):
            home.environ |= {"MEM0_API_URL": url, "MEM0_API_KEY": KEY}
            agents = [Agent(home, number, Random(seed + 1 + number), pause) for number in range(AGENTS)]
            for agent in agents:
                agent.start()
            try:
                kill_at_random(home, kills, Random(seed))
            finally:
                for agent in agents:
                    agent.stop()
                for agent in agents:
                    agent.join()
            home.start(wait=False)  # what has gathered meanwhile is taken in before it calls itself ready
            home.until_quiet(60.0 + 2.0 * kills)
            home.until(lambda: home.status()["jobs"]["waiting"] <= 1, "jobs are left")
            assert home.stop() == 0
            assert_exact(home, agents, commits, kills)
    finally:
        home.close()


def assert_exact(home: Home, agents: list[Agent], commits: Path, kills: int) -> None:
    """Assert that what was accepted is what was delivered, once each and in order."""
    assert not [agent.failure for agent in agents if agent.failure]
    assert not list(home.root.rglob("hook-errors.log*"))
    with closing(sqlite3.connect(home.places.queue_file)) as connection:
        left = (
            "SELECT kind, state, reason, count(*) FROM jobs WHERE kind <> 'poll' AND state <> 'done' GROUP BY 1, 2, 3"
        )
        assert not (jobs := connection.execute(left).fetchall()), jobs
    accepted = {session: tokens for agent in agents for session, tokens in agent.accepted.items()}
    said = {session: tokens for agent in agents for session, tokens in agent.said.items()}
    arrived = delivered(commits)
    wrong = {
        session: (tokens, arrived.get(session)) for session, tokens in said.items() if arrived.get(session) != tokens
    }
    assert not wrong, f"{len(wrong)} of {len(said)} sessions: {dict(list(wrong.items())[:3])}"
    assert arrived.keys() == said.keys()
    kept: dict[str, list[str]] = {}
    for harness in HARNESSES:
        for session, token, status in recorded(home, harness):
            assert status == "semantic-succeeded", (session, token, status)
            kept.setdefault(session, []).append(token)
    assert kept == accepted
    assert not [*home.places.spools.glob("*/pending/*"), *home.places.spools.glob("*/dead/*")]
    for database in home.root.rglob("*.sqlite3"):
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], database
    handoffs = sum(map(len, accepted.values()))
    flushes = sum(agent.flushes for agent in agents)
    told = f"{kills:,} kills: {handoffs:,} handoffs and {flushes:,} flushes of {len(accepted):,} sessions accepted"
    print(f"{told}, {sum(map(len, kept.values())):,} delivered, each once and in order")  # noqa: T201  (docs/reliability.md)


def test_a_few_kills_lose_and_repeat_nothing() -> None:
    """At random moments from before a daemon is ready to the middle of its work."""
    run(FEW_KILLS, (0.5, 1.5))


@pytest.mark.long
@pytest.mark.timeout(5400)
def test_a_thousand_kills_lose_and_repeat_nothing() -> None:
    """The same for half an hour: accepted handoffs and delivered packets' events are the same, exactly."""
    run(KILLS, (0.3, 1.7))
