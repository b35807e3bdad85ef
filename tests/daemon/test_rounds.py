"""What the daemon looks at every few seconds."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.intake.ingest_thread import IngestThread
from daemon.network_watch import NetworkWatch
from daemon.rounds import JUMP_TOLD_SECONDS, Rounds
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from jobs.job import NewJob
from jobs.outcomes import Cool
from jobs.queue.errors import QueueUnavailable
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed, finish


@pytest.fixture
def home() -> Iterator[Composed]:
    with tempfile.TemporaryDirectory(dir="/tmp") as root, composed(Path(root)) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


class Made:
    """Rounds over parts of which nothing runs."""

    def __init__(self, home: Composed, clock: Clock | None = None) -> None:
        parts, upkeep = home.parts, home.upkeep
        if clock is not None:
            object.__setattr__(parts, "clock", clock)
        self.home = home
        self.ingest_thread = IngestThread(parts.ingest, upkeep.maintain, upkeep.has_new_spools, upkeep.refresh)
        self.workers = Workers(parts.queue, {}, 1, clock=parts.clock, counters=parts.counters)
        self.rounds = Rounds(parts, upkeep, self.ingest_thread, self.workers)

    def go(self, times: int = 1) -> None:
        asyncio.run(self._go(times))

    async def _go(self, times: int) -> None:
        answers = routes(self.home.view)
        socket = HttpSocket(self.home.places.status_socket, answers, counters=self.home.parts.counters)
        await socket.start()
        try:
            for _ in range(times):
                await self.rounds.go(socket)
        finally:
            await socket.stop()
            answers.close()


def cooled(home: Composed, code: str, *, delay: float) -> None:
    """Let a destination, and the one job for it, wait."""
    finish(home, NewJob(code, "flush", destination=code), Cool(code, "trouble", code, delay))


def test_a_jump_of_the_clock_is_told_for_a_while(home: Composed) -> None:
    """Ten minutes, in which a person may see why times look odd."""
    hands = HandClock()
    rounds = Made(home, hands.clock()).rounds
    rounds.look_around()
    assert home.codes() == {}
    hands.wall_now += 7_200.0
    rounds.look_around()
    hands.move(JUMP_TOLD_SECONDS - 1)
    rounds.look_around()
    assert "clock-jumped" in home.codes()
    hands.move(1)
    rounds.look_around()
    assert home.codes() == {}


def test_a_sleep_is_no_jump_and_what_was_due_meanwhile_goes_at_once(home: Composed) -> None:
    """Nothing is shown of it; a wait that ended in it is over, and the network's troubles of before are forgotten."""
    made, queue = Made(home, (hands := HandClock(home.parts.clock.wall())).clock()), home.parts.queue
    object.__setattr__(queue, "_clock", hands.clock())
    made.rounds.look_around()
    cooled(home, "offline", delay=50.0)
    cooled(home, "busy", delay=50.0)
    queue.enqueue(NewJob("later", "flush", delay=600.0))
    hands.sleep(30.0)
    made.rounds.look_around()
    assert home.codes() == {}
    assert {each.name for each in queue.destinations() if each.until is not None} == {"busy"}
    hands.sleep(3_600.0)
    made.rounds.look_around()
    assert {claim.job.id for _ in range(3) if (claim := queue.claim()) is not None} == {"offline", "busy", "later"}


def test_another_network_is_tried_at_once(home: Composed) -> None:
    """No connection, and a login page in place of an answer, may be over with it; what is told to wait waits on."""
    made, queue, found = Made(home), home.parts.queue, [("192.168.1.20",)]
    made.rounds._network_watch = NetworkWatch(lambda: found[-1])
    for code in ("offline", "not-understood", "login-page", "busy", "key-refused"):
        cooled(home, code, delay=600.0)
    made.rounds.look_around()
    assert all(each.until is not None for each in queue.destinations())
    found.append(("10.0.0.7",))
    made.rounds.look_around()
    assert {each.name for each in queue.destinations() if each.until is not None} == {"busy", "key-refused"}


def test_a_jump_that_the_queue_could_not_be_told_is_told_later(home: Composed, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the daemon goes on, and every jump of that time is made up for."""
    told: list[float] = []

    def full(_: float) -> None:
        raise QueueUnavailable("database or disk is full")

    hands = HandClock()
    rounds = Made(home, hands.clock()).rounds
    with monkeypatch.context() as patched:
        patched.setattr(home.parts.queue, "shift_clock", full)
        hands.wall_now += 3_600.0
        rounds.look_around()
        hands.wall_now += 1_800.0
        rounds.look_around()
    monkeypatch.setattr(home.parts.queue, "shift_clock", told.append)
    rounds.look_around()
    rounds.look_around()
    assert told == [5_400.0]


def test_a_queue_that_cannot_be_used_is_told_until_it_can(home: Composed) -> None:
    """The workers notice it first."""
    made = Made(home)
    made.workers._huey.fault = "database or disk is full"
    made.go()
    assert home.codes() == {"queue-unavailable": str(home.places.queue_file)}
    made.workers._huey.fault = ""
    made.go()
    assert home.codes() == {}
    made.rounds.stop()


def test_a_watcher_that_cannot_start_is_tried_again(home: Composed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of watches for a moment is no reason to poll for ever."""

    def refuse(*_: Any) -> None:
        raise OSError("no watches left")

    made = Made(home)
    with monkeypatch.context() as patched:
        patched.setattr("daemon.intake.watch.RustNotify", refuse)
        made.rounds.watch()
        assert "watcher-polling" in home.codes()
        made.go()
        assert "watcher-polling" in home.codes()
    made.go()
    assert home.codes() == {}
    made.rounds.stop()


def test_a_watcher_that_died_is_replaced(home: Composed) -> None:
    """Whatever ended it."""
    made = Made(home)
    made.rounds.watch()
    watcher = made.rounds._watcher
    assert watcher is not None
    watcher._stop.set()
    watcher.thread.join(60)
    made.go()
    assert made.rounds._watcher is not watcher
    assert made.rounds._is_watching()
    assert home.codes() == {}
    made.rounds.stop()
