"""Edges and workers on one shared queue: real daemons, real PostgreSQL, a fake of the hosted platform.

Their waits are cut short (hurried_fleet.py): a claim runs out in seconds, and a silent database is told in two.
"""

import base64
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from jobs.queue.postgres.serving import NO_WORKER
from tests.end_to_end.conftest import Home
from tests.end_to_end.members import Member, members, problems, sent, session
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.fakes.postgres_server import PostgresServer, installed, shared_server


@pytest.fixture
def queue() -> str:
    """Return the URL of an empty shared queue."""
    return shared_server().fresh()


@pytest.fixture
def member(api: FakeMem0, queue: str) -> Iterator[Member]:
    """Give a maker of machines that share it."""
    with members(api, queue) as make:
        yield make


def test_an_edge_that_vanishes_after_its_drain_costs_nothing(member: Member, api: FakeMem0) -> None:
    """A sandbox's last command returns when the queue has everything; then the machine is gone, disk and all."""
    edge = member("edge")
    session(edge, "s-1")
    edge.exchange("s-2", 1)  # no end was told
    begin = time.monotonic()
    done = edge.run("drain", "--wait")
    took = time.monotonic() - begin
    assert (done.returncode, done.stdout) == (0, "The shared queue has everything.\n"), done.stderr
    assert took < 30.0
    edge.stop(signal.SIGKILL)
    shutil.rmtree(edge.root)
    assert not sent(api)
    worker = member("worker")
    worker.until(lambda: len(sent(api)) == 2, "not everything was delivered")
    worker.until(lambda: worker.status()["counters"].get("jobs_done", 0) >= 2, "not everything was confirmed")
    assert set(sent(api).values()) == {1}


def test_an_edge_learns_what_became_of_its_packets(member: Member, api: FakeMem0) -> None:
    edge, _ = member("edge"), member("worker")
    session(edge, "s-1", exchanges=3)
    edge.until(lambda: edge.status()["counters"].get("packets_delivered"), "its end was not learned")
    assert sum(sent(api).values()) == 3
    told = edge.status()
    assert told["fleet"]["role"] == "edge"
    assert (told["fleet"]["reached"], told["fleet"]["packets_out"]) == (True, 0)


def test_a_worker_that_is_killed_is_followed_by_another(member: Member, api: FakeMem0) -> None:
    """Its claims run out by the database's clock; what it had sent is looked for and not sent again."""
    edge = member("edge")
    for number in range(6):
        session(edge, f"s-{number}")
    assert edge.run("drain", "--wait").returncode == 0
    first = member("worker")
    first.until(lambda: sent(api), "nothing was sent")
    first.stop(signal.SIGKILL)
    second = member("worker")
    second.until(lambda: len(sent(api)) == 6, "not everything was delivered", 100.0)
    assert set(sent(api).values()) == {1}


def test_one_that_restarts_has_its_own_claims_back_at_once(member: Member, api: FakeMem0) -> None:
    """By no wait: they would last for a minute."""
    edge = member("edge")
    for number in range(4):
        session(edge, f"s-{number}")
    assert edge.run("drain", "--wait").returncode == 0
    worker = member("worker", lease=60.0)
    worker.until(lambda: sent(api), "nothing was sent")
    worker.stop(signal.SIGKILL)
    worker.start()
    worker.until(lambda: len(sent(api)) == 4, "not everything was delivered", 40.0)
    assert set(sent(api).values()) == {1}


def test_a_database_that_is_away_costs_hooks_nothing_and_loses_nothing(member: Member, api: FakeMem0) -> None:
    """The edge starts without it, says so, keeps what comes, and hands it on once the database is there."""
    server = PostgresServer(installed())
    try:
        edge = member("edge", url=server.url())
        session(edge, "s-1")
        edge.until(lambda: "shared-queue-unreachable" in {each["code"] for each in edge.status()["problems"]}, "unsaid")
        done = edge.run("drain", "--wait", "--timeout", "1")
        assert done.returncode == 75
        assert "1 packet" in done.stdout
        server.start()
        member("worker", url=server.url())
        edge.until(lambda: sent(api), "it was not handed on")
        edge.until(lambda: edge.status()["state"] == "ok", "it did not heal")
        server.stop()
        session(edge, "s-2")
        server.start()
        edge.until(lambda: len(sent(api)) == 2, "it was not handed on again")
        assert set(sent(api).values()) == {1}
    finally:
        server.remove()


@pytest.mark.parametrize("role", ["edge", "worker", "both"])
def test_a_database_that_stands_still_holds_up_nobody(member: Member, api: FakeMem0, role: str) -> None:
    """Its connections stay and nothing is answered: a status comes at once and says so, what comes is taken in, a stop
    takes its five seconds, and afterwards everything goes on."""
    server = PostgresServer(installed())
    try:
        server.start()
        home = member(role, url=server.url())
        home.until(lambda: home.status()["fleet"]["reached"], "it was not reached")
        server.stand_still()
        if role != "worker":
            session(home, "s-1")
        home.until(
            lambda: "shared-queue-unreachable" in {each["code"] for each in home.status()["problems"]}, "unsaid", 60.0
        )
        assert min(seconds_of(home.status) for _ in range(5)) < 1.0  # another process may have the processor
        assert seconds_of(home.stop) < 20.0
        server.go_on()
        home.start()
        if role == "edge":
            member("worker", url=server.url())
        if role != "worker":
            home.until(lambda: sent(api), "it was not handed on")
        home.until(lambda: not home.status()["problems"], "it did not heal")
        assert not sent(api) or set(sent(api).values()) == {1}
    finally:
        server.go_on()
        server.remove()


def seconds_of(act: Callable[[], object]) -> float:
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def test_a_start_while_the_database_stands_still(member: Member, api: FakeMem0) -> None:
    """It takes the connection and says nothing: the daemon is there within its time for a connection, and heals."""
    server = PostgresServer(installed())
    try:
        server.start()
        server.stand_still()
        home = member("both", url=server.url())
        session(home, "s-1")
        assert not home.status()["fleet"]["reached"]
        server.go_on()
        home.until(lambda: sent(api), "it was not handed on")
    finally:
        server.go_on()
        server.remove()


def test_both_in_one_daemon(member: Member, api: FakeMem0) -> None:
    """One machine alone on a shared queue delivers what is its own."""
    home = member("both")
    session(home, "s-1")
    done = home.run("drain", "--wait")
    assert done.returncode == 0, done.stdout
    home.until(lambda: home.status()["counters"].get("packets_delivered"), "not delivered")
    assert set(sent(api).values()) == {1}


def test_a_worker_delivers_for_accounts_whose_keys_it_has(member: Member, api: FakeMem0) -> None:
    """A packet of an account waits, and holds up nobody, for a worker with that account's key, which may come later.
    That there is none is told by the edge, by workers, and where the packet is shown."""
    edge = member("edge", MEMSYNCD_QUEUE_ACCOUNT="team-b")
    session(edge, "s-1")
    keys = Path(tempfile.mkdtemp(prefix="keys-", dir="/tmp"))
    try:
        worker = member("worker", MEMSYNCD_QUEUE_KEYS_DIRECTORY=str(keys))
        edge.run("drain", "--wait")
        for home in (edge, worker):
            home.until(lambda home=home: "no-worker-for-account" in problems(home), "unsaid")  # type: ignore[misc]
            assert home.status()["state"] == "ok"
        (job,) = json.loads(edge.run("jobs", "list", "--all-hosts", "--json").stdout)["jobs"]
        assert (job["state"], job["attempts"], job["reason"]) == ("ready", 0, NO_WORKER)
        assert not sent(api)
        descriptor = os.open(keys / "team-b", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, KEY.encode())
        os.close(descriptor)
        edge.until(lambda: sent(api), "the account's packet was not delivered")
        for home in (edge, worker):
            home.until(lambda home=home: not problems(home), "it is told still")  # type: ignore[misc]
    finally:
        shutil.rmtree(keys)


def test_a_worker_serves_no_spool(member: Member, api: FakeMem0) -> None:
    """What hooks of its machine drop waits, and its own queue has nothing of it."""
    worker = member("worker")
    session(worker, "s-1")
    assert worker.status()["spools"] == []
    assert len(list((worker.spool() / "pending").glob("*.json"))) == 3
    assert not sent(api)


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        ({"MEMSYNCD_PLATFORM_KIND": "local"}, "embedded platform"),
        ({"MEMSYNCD_QUEUE_URL": "mysql://x"}, "postgresql://"),
    ],
)
def test_half_a_fleet_is_refused(member: Member, environ: dict[str, str], word: str) -> None:
    home = member("both", start=False, **environ)
    done = home.run("run", "--once")
    assert done.returncode == 78
    assert word in done.stderr


def test_sealed_packets_show_nothing_to_the_database(member: Member, api: FakeMem0, queue: str) -> None:
    """Neither texts nor names of projects lie in it; a worker without the key leaves them alone, and says why."""
    keys = Path(tempfile.mkdtemp(prefix="keys-", dir="/tmp")) / "payload"
    try:
        keys.write_text(base64.b64encode(os.urandom(32)).decode())
        keys.chmod(0o600)
        edge = member("edge", MEMSYNCD_QUEUE_PAYLOAD_KEY_FILE=str(keys))
        session(edge, "quokka-7")
        assert edge.run("drain", "--wait").returncode == 0
        with psycopg.connect(queue) as connection:
            rows = connection.execute("SELECT memsyncd_jobs::text, sealed FROM memsyncd_jobs").fetchall()
        assert rows
        for text, sealed in rows:
            assert not any(word in bytes(sealed) for word in (b"Question", b"shop", b"claude", b"ada", b"quokka"))
            assert not any(
                word in text for word in ("Question", "shop", "claude", "quokka")
            )  # its digits may spell ada
        member("worker", MEMSYNCD_QUEUE_PAYLOAD_KEY_FILE=str(keys))
        edge.until(lambda: sent(api), "it was not delivered")
    finally:
        shutil.rmtree(keys.parent)


def test_dead_letters_are_seen_and_tried_again_from_any_machine(member: Member, api: FakeMem0) -> None:
    """Whoever looks after the fleet needs no edge that still exists, and sees no texts."""
    api.always("add", behave.reject())
    edge, worker = (
        member("edge", MEMSYNCD_RETRY_FIRST_DELAY_SECONDS="0.1"),
        member("worker", MEMSYNCD_RETRY_FIRST_DELAY_SECONDS="0.1", MEMSYNCD_RETRY_MAX_DELAY_SECONDS="0.1"),
    )
    session(edge, "s-1")
    edge.until(lambda: edge.status()["counters"].get("packets_refused"), "its end was not learned")
    for home in (edge, worker):
        listed = json.loads(home.run("jobs", "list", "--all-hosts", "--state", "dead", "--json").stdout)["jobs"]
        (dead,) = listed
        assert dead["host"]
        assert "Question" not in json.dumps(dead)
        assert dead["payload"]["messages"] == 2
        assert json.loads(home.run("jobs", "show", dead["id"], "--json").stdout)["reason"] == dead["reason"]
    api.always("add", None)
    assert worker.run("jobs", "retry", dead["id"]).returncode == 0
    worker.until(lambda: len(sent(api)) == 1, "it was not tried again")
    edge.until(lambda: edge.status()["counters"].get("packets_delivered"), "the edge did not learn of that")


def test_a_machine_on_its_own_has_no_other_hosts(home: Home) -> None:
    home.start()
    done = home.run("jobs", "list", "--all-hosts")
    assert done.returncode == 1
    assert "queue.url is not set" in done.stderr


def test_what_is_forgotten_leaves_the_shared_queue_too(member: Member, api: FakeMem0, queue: str) -> None:
    """A session that waits there is not delivered by whoever comes later, and its words are gone from the database."""
    edge = member("edge")
    session(edge, "s-1")
    session(edge, "s-2")
    assert edge.run("drain", "--wait").returncode == 0
    done = edge.run("forget", "--session", "s-1", "--yes")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(queue) as connection:
        words = [bytes(row[0]) for row in connection.execute("SELECT sealed FROM memsyncd_jobs")]
    assert len(words) == 1
    assert b"of s-1" not in words[0]
    worker = member("worker")
    worker.until(lambda: sent(api), "the other session was not delivered")
    worker.until(lambda: worker.status()["fleet"]["jobs"].get("waiting") == 0, "not confirmed")
    assert not any("s-1" in prompt for prompt in sent(api))


def test_what_is_excluded_leaves_the_shared_queue_too(member: Member, api: FakeMem0, queue: str) -> None:
    """A project that was excluded while its batch waited there: nobody delivers it."""
    edge = member("edge")
    session(edge, "s-1")
    assert edge.run("drain", "--wait").returncode == 0
    edge.stop()
    edge.places.config_file.write_text(f'exclude = ["{edge.project}"]\n')
    edge.start()

    def left() -> int:
        with psycopg.connect(queue) as connection:
            row = connection.execute("SELECT count(*) FROM memsyncd_jobs").fetchone()
        assert row is not None
        return int(row[0])

    edge.until(lambda: not left(), "it was not withdrawn")
    assert not sent(api)


def test_a_queue_that_nobody_has_set_up_is_told_at_the_start(member: Member, queue: str) -> None:
    """A login that may not make the tables is no outage: exit code 78, and what is missing."""
    with psycopg.connect(queue, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE member_{os.getpid()} LOGIN")
        schema = connection.execute("SELECT current_schema()").fetchone()
        assert schema is not None
        connection.execute(f"GRANT USAGE ON SCHEMA {schema[0]} TO member_{os.getpid()}")  # type: ignore[arg-type]
    home = member("worker", url=queue.replace("user=postgres", f"user=member_{os.getpid()}"), start=False)
    done = home.run("run", "--once")
    assert done.returncode == 78, done.stderr
    assert "queue.url" in done.stderr


def test_one_run_without_the_database_says_so(member: Member) -> None:
    home = member("worker", url="postgresql://127.0.0.1:9/queue", start=False)
    done = home.run("run", "--once")
    assert done.returncode == 0
    assert "the shared queue was not reached" in done.stdout
