"""The database is looked at beside the daemon's rounds: one look at a time, and a silent one holds up nobody."""

import threading

from daemon.fleet.looking import Looker

PATIENCE = 60.0


def test_a_look_under_way_is_told_and_the_next_comes_after_it() -> None:
    """However often it is asked meanwhile, one more look follows."""
    now = [100.0]
    begun, may_end = threading.Semaphore(0), threading.Semaphore(0)

    def look() -> None:
        begun.release()
        may_end.acquire(timeout=PATIENCE)

    looker = Looker(look, lambda: now[0])
    assert looker.silent_seconds == 0.0
    looker.ask()
    assert begun.acquire(timeout=PATIENCE)
    now[0] = 130.0
    assert looker.silent_seconds == 30.0
    for _ in range(5):
        looker.ask()
    assert not looker.stop(0.0)
    may_end.release()
    assert looker.stop(PATIENCE)
    assert not begun.acquire(blocking=False)
    assert not looker.is_dead


def test_an_asking_during_a_look_is_not_lost() -> None:
    begun, may_end = threading.Semaphore(0), threading.Semaphore(0)

    def look() -> None:
        begun.release()
        may_end.acquire(timeout=PATIENCE)

    looker = Looker(look, lambda: 0.0)
    looker.ask()
    assert begun.acquire(timeout=PATIENCE)
    looker.ask()
    looker.ask()
    may_end.release()
    assert begun.acquire(timeout=PATIENCE)
    may_end.release()
    assert looker.stop(PATIENCE)
    assert not begun.acquire(blocking=False)


def test_one_that_was_never_asked_ends_at_once() -> None:
    assert Looker(lambda: None, lambda: 0.0).stop(0.0)
