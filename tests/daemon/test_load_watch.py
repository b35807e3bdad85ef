"""What is sampled once a minute."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.load_watch import LoadWatch
from daemon.observer import Observer
from daemon.status.history import MINUTES
from jobs.delivery import FLUSH
from jobs.job import NewJob
from jobs.outcomes import Done
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def test_a_minute_is_sampled_once_when_it_is_over(home: Composed) -> None:
    """With what stood at its end and what was counted within it alone."""
    hands = HandClock(1_800_000_030.0)
    object.__setattr__(home.parts, "clock", hands.clock())
    home.parts.counters.add("handoffs_recorded", 100)
    watch = LoadWatch(home.parts)
    (home.spool() / "pending/1-a.json").write_text("{}")
    home.parts.counters.add("handoffs_recorded", 3)
    home.parts.queue.enqueue(NewJob("a", FLUSH), NewJob("b", FLUSH, delay=60.0, reason="later"))
    watch.look()
    assert list(home.parts.history.last(MINUTES, hands.wall_now)) == []
    hands.move(31.0)
    watch.look()
    watch.look()
    (sample,) = home.parts.history.last(MINUTES, hands.wall_now)
    assert (sample.minute, sample.pending, sample.queued, sample.taken) == (30_000_000, 1, 2, 3)
    hands.move(60.0)
    watch.look()
    assert [each.taken for each in home.parts.history.last(MINUTES, hands.wall_now)] == [3, 0]


def test_a_delivery_is_as_long_as_its_packet_was_under_way(home: Composed) -> None:
    """Not as its last run, which only asks."""
    queue, observer = home.parts.queue, Observer(home.parts)
    watch = LoadWatch(home.parts)
    watch._minute -= 1
    queue.enqueue(NewJob("f", FLUSH))
    claim = queue.claim()
    assert claim is not None
    job = queue.finish(claim, Done("delivered: 1 memories made"))
    assert job is not None
    object.__setattr__(job, "created_at", home.parts.clock.wall() - 42.0)
    observer.finished(job, Done("delivered: 1 memories made"), 0.5)
    watch.look()
    told = home.view.history(MINUTES)["samples"]
    assert [(each["delivered"], each["run_seconds"], round(each["delivery_seconds"])) for each in told] == [
        (1, 0.5, 42)
    ]
