"""What a refused key has held is let go with another key, and at a start, and never without a reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.api_key.source import KeySource
from daemon.fleet.key_changes import KeyChanges
from jobs.job import NewJob
from jobs.outcomes import Cool
from jobs.queue.postgres.queue import PostgresQueue
from tests.daemon.fleet.own_account import own_account
from tests.fakes.scripted_platform import ScriptedPlatform
from tests.jobs.queue.fleet import a_fleet

PLACE = ScriptedPlatform().destination


@pytest.fixture
def queue() -> Iterator[PostgresQueue]:
    """Give a shared queue."""
    with a_fleet() as fleet:
        yield fleet.machine(account="own")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a key's file."""
    path = tmp_path / "own"
    path.touch(0o600)
    path.write_text("k-1")
    return path


def changes(key: Path) -> KeyChanges:
    """Return a worker's, as at its start."""
    accounts = own_account(KeySource(file=key))
    accounts.look()
    return KeyChanges(accounts)


def cool(queue: PostgresQueue, code: str, *, parked: bool) -> None:
    queue.enqueue(NewJob(id=code, kind="deliver", destination=PLACE))
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Cool(PLACE, code, code=code, parked=parked))


def is_held(queue: PostgresQueue) -> bool:
    return any(each.until is not None for each in queue.destinations())


def test_another_key_lets_go(queue: PostgresQueue, key: Path) -> None:
    made = changes(key)
    made.look(queue)
    cool(queue, "key-refused", parked=True)
    made.look(queue)
    assert is_held(queue)
    key.write_text("k-22")
    made.look(queue)
    assert not is_held(queue)


def test_a_start_lets_go_what_was_refused(queue: PostgresQueue, key: Path) -> None:
    """The key may be another since; a changed one from the environment needs the restart."""
    cool(queue, "key-refused", parked=True)
    changes(key).look(queue)
    assert not is_held(queue)


@pytest.mark.parametrize(("code", "parked"), [("busy", False), ("quota", True)])
def test_a_start_lets_nothing_else_go(queue: PostgresQueue, key: Path, code: str, parked: bool) -> None:
    """A rate limit is the account's on all machines, and a restart is no reason to try it."""
    cool(queue, code, parked=parked)
    changes(key).look(queue)
    assert is_held(queue)
