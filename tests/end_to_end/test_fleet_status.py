"""What a fleet's machines say of their deliveries: by their own words all is well only while it is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.members import Member, members, problems, sent, session
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.fakes.postgres_server import shared_server

WRONG = "no-such-" + "key"


@pytest.fixture
def member(api: FakeMem0) -> Iterator[Member]:
    """Give a maker of machines that share a queue."""
    with members(api, shared_server().fresh()) as make:
        yield make


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a file with a key that is refused."""
    return written(tmp_path / "team-b", WRONG)


def written(path: Path, key: str) -> Path:
    path.touch(0o600)
    path.write_text(key)
    return path


def with_a_packet(edge: Home) -> None:
    session(edge, "s-1")
    assert edge.run("drain", "--wait").returncode == 0


def problem(home: Home, code: str) -> dict[str, object]:
    found: dict[str, object] = next(each for each in home.status()["problems"] if each["code"] == code)
    return found


def test_a_worker_whose_key_is_refused_says_so_and_heals_with_another(member: Member, api: FakeMem0, key: Path) -> None:
    """Its own queue knows of no delivery: what it tells is what the shared one knows."""
    with_a_packet(member("edge"))
    worker = member("worker", MEM0_API_KEY="", MEMSYNCD_PLATFORM_API_KEY_FILE=str(key))
    worker.until(lambda: "key-refused" in problems(worker), "a refused key was not told")
    told = worker.status()
    assert told["state"] == "degraded"
    assert told["platform"]["ok"] is False
    assert "api_key_file" in str(problem(worker, "key-refused")["remedy"])
    assert worker.run("status").returncode == 1
    written(key, KEY)
    worker.until(lambda: sent(api), "the right key was not taken up")
    worker.until(lambda: worker.status()["platform"]["ok"], "it is told still")
    worker.until(lambda: not worker.status()["problems"], "it is told still")
    told = worker.status()
    assert told["state"] == "ok"
    assert told["platform"]["last_success_at"]


def test_a_worker_that_starts_again_tries_a_refused_key_anew(member: Member, api: FakeMem0) -> None:
    """A key from the environment is changed so, as the remedy says; the wait for the next probe is a quarter of an hour."""
    with_a_packet(member("edge"))
    worker = member("worker", MEM0_API_KEY=WRONG)
    worker.until(lambda: "key-refused" in problems(worker), "a refused key was not told")
    worker.stop()
    worker.environ["MEM0_API_KEY"] = KEY
    worker.start()
    worker.until(lambda: sent(api), "the right key was not tried")


def test_a_workers_one_run_says_what_became_of_the_batches(member: Member) -> None:
    """Nothing was due, it said, with a key that is refused and a batch that waits."""
    with_a_packet(member("edge"))
    worker = member("worker", start=False, MEM0_API_KEY=WRONG)
    done = worker.run("run", "--once")
    assert done.returncode == 0, done.stderr
    assert "1 put off" in done.stdout
    assert "the key was refused" in done.stdout
    worker.environ["MEM0_API_KEY"] = KEY
    done = worker.run("run", "--once")
    assert done.stdout == "Batches of the shared queue: 1 delivered.\n"
    assert worker.run("run", "--once").stdout == "Nothing was due.\n"


def test_a_command_is_asked_again_while_its_key_is_refused(member: Member, api: FakeMem0, key: Path) -> None:
    with_a_packet(member("edge"))
    worker = member("worker", MEM0_API_KEY="", MEMSYNCD_PLATFORM_API_KEY_COMMAND=f"cat {key}")
    worker.until(lambda: "key-refused" in problems(worker), "a refused key was not told")
    written(key, KEY)
    worker.until(lambda: sent(api), "the command was not asked again")


def test_a_further_accounts_refused_key_is_told_with_where_it_lies(member: Member, key: Path) -> None:
    with_a_packet(member("edge", MEMSYNCD_QUEUE_ACCOUNT="team-b"))
    worker = member("worker", MEMSYNCD_QUEUE_KEYS_DIRECTORY=str(key.parent))
    worker.until(lambda: "key-refused" in problems(worker), "a refused key was not told")
    told = problem(worker, "key-refused")
    assert told["degrades"] is True
    assert "'team-b'" in str(told["message"])
    assert "queue.keys_directory" in str(told["remedy"])
    assert worker.status()["platform"]["ok"] is None  # as its own account knows it


def test_a_worker_whose_platform_is_down_says_so(member: Member) -> None:
    nowhere = {"MEM0_API_URL": "http://127.0.0.1:9"}
    with_a_packet(member("edge", **nowhere))
    worker = member("worker", **nowhere)
    worker.until(lambda: "offline" in problems(worker), "it was not told")
    worker.until(lambda: worker.status()["platform"]["ok"] is False, "the platform is called well")


@pytest.mark.parametrize("role", ["edge", "worker"])
def test_a_login_that_is_refused_is_not_told_as_an_outage(member: Member, role: str) -> None:
    """Once, in the server's own words, with what to correct; to see that the database runs would help nobody."""
    url = shared_server().fresh().replace("user=postgres", "user=ghost")
    home = member(role, url=url)
    home.until(lambda: "shared-queue-refused" in problems(home), "unsaid")
    told = problem(home, "shared-queue-refused")
    assert problems(home) == {"shared-queue-refused"}
    assert 'role "ghost" does not exist' in str(told["message"])
    assert "cannot be used" not in str(told["message"])
    assert "queue.url" in str(told["remedy"])
    assert home.status()["state"] == "degraded"
    assert home.run("status").stdout.count("cannot be used") == 0


def test_dead_letters_are_a_problem_where_they_are_made_and_where_they_are_from(member: Member, api: FakeMem0) -> None:
    """Until somebody discards them, from any machine; the next status knows that."""
    api.always("add", behave.reject())
    soon = {"MEMSYNCD_RETRY_FIRST_DELAY_SECONDS": "0.1", "MEMSYNCD_RETRY_MAX_DELAY_SECONDS": "0.1"}
    edge, other, worker = member("edge"), member("edge"), member("worker", **soon)
    with_a_packet(edge)
    for home in (edge, worker):
        home.until(lambda home=home: "dead-letters" in problems(home), "unsaid")  # type: ignore[misc]
        assert home.status()["state"] == "ok"
        assert "--all-hosts" in str(problem(home, "dead-letters")["remedy"])
    assert not problems(other)
    (dead,) = json.loads(worker.run("jobs", "list", "--all-hosts", "--state", "dead", "--json").stdout)["jobs"]
    assert worker.run("jobs", "discard", dead["id"]).returncode == 0
    for home in (edge, worker):
        home.until(lambda home=home: not problems(home), "it is told still")  # type: ignore[misc]


def test_a_workers_first_status_tells_the_queue_as_it_is(member: Member) -> None:
    """Not as it was when somebody last asked, however long ago that was."""
    worker = member("worker")
    assert worker.run("pause").returncode == 0
    worker.until(lambda: ready(worker) == 0, "it was not reached")

    def is_known_at_once(packets: int) -> bool:
        """Look once: a status waits a moment for what it tells, which may be too short for a busy machine."""
        with_a_packet(member("edge"))
        return ready(worker) == packets

    assert any(is_known_at_once(packets) for packets in range(1, 5))


def ready(worker: Home) -> int | None:
    """Return how many jobs of the shared queue are ready, by a worker's status; None where nobody has looked yet."""
    found: int | None = worker.status()["fleet"]["jobs"].get("ready")
    return found
