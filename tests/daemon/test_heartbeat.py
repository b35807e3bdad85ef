"""When a service manager is told that there is life."""

import asyncio
from typing import Any

import pytest

from daemon.heartbeat import LONGEST_SECONDS, Heartbeat, is_stuck
from daemon.notify import Notifier


@pytest.mark.parametrize(
    ("codes", "stuck"),
    [
        ((), False),
        (("offline", "dead-letters"), False),
        (("stuck-claim",), True),
        (("no-progress",), True),
        (("no-progress", "disk-nearly-full"), False),
        (("no-progress", "queue-unavailable"), False),
        (("stuck-claim", "offline"), True),
    ],
)
def test_what_counts_as_stuck(codes: tuple[str, ...], stuck: bool) -> None:
    """Standing still, unless something outside of the process explains it: a platform that is away is no hang."""
    assert is_stuck({"problems": [{"code": code} for code in codes]}) is stuck


class Manager:
    """Keeps what it is told."""

    def __init__(self, watchdog_seconds: float) -> None:
        self.alive_seconds = Notifier("/n", watchdog_seconds).alive_seconds
        self.told: list[tuple[str, str]] = []

    def alive(self, sentence: str) -> None:
        self.told.append(("alive", sentence))

    def stuck(self, sentence: str) -> None:
        self.told.append(("stuck", sentence))


def beats(manager: Any, document: dict[str, Any], *times: float) -> Any:
    now = iter(times)
    heartbeat = Heartbeat(manager, lambda: document, lambda: next(now))

    async def all_of_them() -> None:
        for _ in times:
            await heartbeat.beat()

    asyncio.run(all_of_them())
    return heartbeat


def test_life_is_told_no_more_often_than_needed() -> None:
    """Rounds that come sooner than half of the wanted time cost nothing; the status's sentence goes along."""
    manager = Manager(30.0)
    heartbeat = beats(manager, {"summary": "All is well.", "problems": []}, 0.0, 2.0, 4.9, 5.0, 9.9)
    assert heartbeat.seconds == 10.0
    assert manager.told == [("alive", "All is well.")] * 2


def test_while_nothing_moves_there_is_no_sign_of_life() -> None:
    """The sentence is told all the same."""
    manager = Manager(3.0)
    beats(manager, {"summary": "Stuck.", "problems": [{"code": "no-progress"}]}, 0.0)
    assert manager.told == [("stuck", "Stuck.")]


def test_a_patient_manager_is_told_often_enough_for_people() -> None:
    """And one that asks for nothing is told nothing."""
    assert beats(Manager(900.0), {"problems": []}).seconds == LONGEST_SECONDS
    silent = Heartbeat(Notifier(), lambda: pytest.fail("asked"), lambda: 0.0)
    asyncio.run(silent.beat())
    assert silent.seconds == float("inf")
