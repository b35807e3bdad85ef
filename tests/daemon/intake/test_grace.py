"""Grace for files that do not parse."""

from daemon.intake.grace import GRACE_SECONDS, Grace
from daemon.intake.spool import Waiting
from tests.clocks import HandClock


def torn(size: int = 10, changed_at: float = 1.0) -> Waiting:
    return Waiting("a", size, changed_at)


def test_a_new_suspect_is_not_condemned_at_once() -> None:
    """A file that does not parse gets half a minute before it counts as corrupt."""
    grace = Grace(HandClock().clock())
    assert not grace.is_over("s", torn())
    assert grace.holds("s", torn())


def test_grace_ends_without_growth() -> None:
    """After thirty seconds without growth the file is looked at once more and may be set aside."""
    hands = HandClock()
    grace = Grace(hands.clock())
    assert not grace.is_over("s", torn())
    hands.move(GRACE_SECONDS)
    assert not grace.holds("s", torn())
    assert grace.is_over("s", torn())


def test_growth_begins_the_grace_anew() -> None:
    """A writer that is still at it is never cut off."""
    hands = HandClock()
    grace = Grace(hands.clock())
    assert not grace.is_over("s", torn())
    hands.move(GRACE_SECONDS - 1)
    assert not grace.holds("s", torn(size=20))
    assert not grace.is_over("s", torn(size=20))
    hands.move(2)
    assert grace.holds("s", torn(size=20))


def test_a_clock_set_back_condemns_nothing() -> None:
    """Grace counts on the monotonic clock alone."""
    hands = HandClock()
    grace = Grace(hands.clock())
    assert not grace.is_over("s", torn())
    hands.wall_now += 1e6
    assert not grace.is_over("s", torn())


def test_the_next_look_is_when_the_first_grace_ends() -> None:
    """The scan is asked back exactly when a suspect can be judged, and not at all without suspects."""
    hands = HandClock()
    grace = Grace(hands.clock())
    assert grace.next_look_seconds() is None
    grace.is_over("s", torn())
    hands.move(10)
    assert grace.next_look_seconds() == GRACE_SECONDS - 10
    grace.forget("s", "a")
    assert grace.next_look_seconds() is None


def test_suspects_of_a_spool_that_is_gone_are_forgotten() -> None:
    """Else nobody would ever judge them, and the thread would look again twenty times a second."""
    grace = Grace(HandClock().clock())
    grace.is_over("gone", torn())
    grace.is_over("here", torn())
    grace.keep_spools({"here"})
    assert grace.holds("here", torn()) and not grace.holds("gone", torn())
