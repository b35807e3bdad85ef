"""New settings for a fleet's machine that runs: SIGHUP takes them up in the same process, and nothing is lost or sent twice."""

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from daemon.fleet.fleet import NO_EDGE
from tests.end_to_end.conftest import Home
from tests.end_to_end.test_notified import Manager
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.fakes.postgres_server import shared_server

HURRIED = Path(__file__).with_name("hurried_fleet.py")


class Machine(Home):
    """One whose settings are in its file, and which is reloaded as a service manager does it."""

    def __init__(self, root: Path, api: FakeMem0) -> None:
        super().__init__(root, api)
        self.program = [sys.executable, str(HURRIED), "4"]
        self.environ["PYTHONPATH"] = str(HURRIED.parents[2])
        self.manager = Manager(self)
        self.environ["NOTIFY_SOCKET"] = self.manager.address

    def write(self, **queue: str) -> None:
        """Write the settings down."""
        lines = ['[platform]\nkind = "mem0"\n[queue]\n', *(f'{name} = "{value}"\n' for name, value in queue.items())]
        self.places.config_file.parent.mkdir(exist_ok=True)
        self.places.config_file.write_text("".join(lines))

    def run_with(self, **queue: str) -> None:
        """Start with settings."""
        self.write(**queue)
        self.start()
        self.manager.until("READY=1")

    def reload(self, **queue: str) -> None:
        """Take up other settings, and wait until it is ready again, in the same process."""
        assert self.daemon is not None
        self.write(**queue)
        self.daemon.send_signal(signal.SIGHUP)
        self.manager.until("READY=1")
        assert self.status()["pid"] == self.daemon.pid

    def session(self, name: str) -> None:
        """Have an agent ask once, and end."""
        self.exchange(name, 0)
        self.end(name)

    def learning(self) -> str:
        """Return why the job that learns of its packets' ends waits."""
        (job,) = self.client.get("/jobs?kind=learn")["jobs"]
        return str(job["reason"])

    def problems(self) -> set[str]:
        """Return the codes of what is wrong."""
        return {each["code"] for each in self.status()["problems"]}


@pytest.fixture
def machines(api: FakeMem0) -> Iterator[list[Machine]]:
    """Give two machines, not started."""
    made = [Machine(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")), api) for _ in range(2)]
    yield made
    for each in made:
        each.manager.socket.close()
        each.close()


def sent(api: FakeMem0) -> Counter[str]:
    return Counter(
        message["content"] for request in api.commits() for message in request["messages"] if message["role"] == "user"
    )


def jobs(url: str) -> Counter[str]:
    with psycopg.connect(url) as connection:
        return Counter(state for (state,) in connection.execute("SELECT state FROM memsyncd_jobs"))


def test_a_worker_that_is_reloaded_in_a_request_goes_on_and_sends_nothing_twice(
    machines: list[Machine], api: FakeMem0
) -> None:
    """Its request is cut off, its claims are its own again at once, and what may have arrived is looked for."""
    edge, worker = machines
    url = shared_server().fresh()
    edge.run_with(url=url, role="edge")
    for number in range(3):
        edge.session(f"s-{number}")
    edge.until(lambda: jobs(url).total() == 3, "not put in")
    api.always("add", behave.commit_and_answer_late(1.0))
    worker.run_with(url=url, role="worker")
    worker.until(lambda: jobs(url)["claimed"], "nothing was begun")
    worker.reload(url=url, role="worker")
    worker.until(lambda: jobs(url)["done"] == 3, "not all was delivered")
    assert set(sent(api).values()) == {1}
    assert sent(api).total() == 3
    worker.until(lambda: not worker.problems(), "it is told still")


def test_a_machine_becomes_an_edge_and_a_worker_again(machines: list[Machine], api: FakeMem0) -> None:
    """As an edge it delivers nothing, as both it delivers what it put in before, and has no threads left over."""
    (machine, _) = machines
    url = shared_server().fresh()
    machine.run_with(url=url, role="both")
    machine.session("s-1")
    machine.until(lambda: sent(api), "it does not deliver")
    machine.reload(url=url, role="edge")
    assert machine.status()["fleet"]["role"] == "edge"
    machine.session("s-2")
    machine.until(lambda: jobs(url).total() == 2, "not put in")
    assert sent(api).total() == 1
    machine.reload(url=url, role="worker")
    machine.until(lambda: sent(api).total() == 2, "it delivers no more")
    machine.until(lambda: machine.learning() == NO_EDGE, "it learns as a worker")
    machine.reload(url=url, role="both")
    machine.until(lambda: machine.status()["fleet"]["packets_out"] == 0, "its ends were not learned")
    assert set(sent(api).values()) == {1}


def test_with_another_queue_what_lies_in_the_first_stays_there(machines: list[Machine], api: FakeMem0) -> None:
    """It is not taken for lost and put into the other one too, where it would be sent a second time."""
    edge, worker = machines
    first, second = shared_server().fresh(), shared_server().fresh()
    edge.run_with(url=first, role="edge")
    edge.session("s-1")
    edge.until(lambda: jobs(first).total() == 1, "not put in")
    edge.reload(url=second, role="edge")
    edge.session("s-2")
    edge.until(lambda: jobs(second).total() == 1, "the new one is not put in")
    worker.run_with(url=second, role="worker")
    edge.until(lambda: edge.status()["counters"].get("packets_delivered"), "its end was not learned")
    worker.reload(url=first, role="worker")
    worker.until(lambda: jobs(first)["done"] == 1, "the old one is not delivered")
    assert jobs(second).total() == 1
    assert edge.status()["fleet"]["packets_out"] == 1
    edge.reload(url=first, role="edge")
    edge.until(lambda: edge.status()["fleet"]["packets_out"] == 0, "its end was not learned")
    assert sent(api) == {"Question 0 of s-1?": 1, "Question 0 of s-2?": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "mysql://x"},
        {"url": "postgresql://[::1/x"},
        {"payload_key_file": "/nowhere/key"},
        {"role": "boss"},
    ],
)
def test_wrong_settings_are_told_and_it_goes_on_with_the_old_ones(
    machines: list[Machine], api: FakeMem0, wrong: dict[str, str]
) -> None:
    machine, _ = machines
    url = shared_server().fresh()
    assert machine.daemon is None
    machine.run_with(url=url, role="both")
    machine.write(**{"url": url, "role": "both", **wrong})
    assert machine.daemon is not None
    machine.daemon.send_signal(signal.SIGHUP)
    machine.until(lambda: "config-wrong" in machine.problems(), "wrong settings are not told")
    machine.session("s-1")
    machine.until(lambda: sent(api), "it does not deliver")
    machine.write(url=url, role="both")
    machine.daemon.send_signal(signal.SIGHUP)
    machine.until(lambda: not machine.problems(), "it is told still")


def test_a_queue_that_nobody_has_set_up_is_wrong_settings_too(machines: list[Machine], api: FakeMem0) -> None:
    """At the start that ends it; one that runs goes on with the queue that it has."""
    machine, _ = machines
    server = shared_server()
    url = server.fresh()
    machine.run_with(url=url, role="both")
    machine.write(url=server.url("nowhere"), role="both")
    assert machine.daemon is not None
    machine.daemon.send_signal(signal.SIGHUP)
    machine.until(lambda: "config-wrong" in machine.problems(), "wrong settings are not told")
    machine.session("s-1")
    machine.until(lambda: sent(api), "it does not deliver")


def test_a_queue_that_is_out_of_reach_at_a_reload_is_waited_for(machines: list[Machine], api: FakeMem0) -> None:
    machine, _ = machines
    url = shared_server().fresh()
    machine.run_with(url=url, role="both")
    machine.reload(url="postgresql://127.0.0.1:9/queue", role="both")
    machine.session("s-1")
    machine.until(lambda: "shared-queue-unreachable" in machine.problems(), "unsaid")
    machine.reload(url=url, role="both")
    machine.until(lambda: sent(api), "it does not deliver")
    machine.until(lambda: not machine.problems(), "it did not heal")


def test_further_keys_and_another_account_are_taken_up(machines: list[Machine], api: FakeMem0) -> None:
    """An edge's packets are of another account from then on, and a worker gets a directory of keys."""
    edge, worker = machines
    url = shared_server().fresh()
    keys = Path(tempfile.mkdtemp(prefix="keys-", dir="/tmp"))
    try:
        descriptor = os.open(keys / "team-b", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, KEY.encode())
        os.close(descriptor)
        edge.run_with(url=url, role="edge")
        worker.run_with(url=url, role="worker")
        edge.reload(url=url, role="edge", account="team-b")
        edge.session("s-1")
        edge.until(lambda: jobs(url)["ready"] == 1, "not put in")
        worker.reload(url=url, role="worker", keys_directory=str(keys))
        worker.until(lambda: sent(api), "it does not deliver for that account")
    finally:
        with suppress(OSError):
            shutil.rmtree(keys)
