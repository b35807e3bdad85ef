"""The shared queue as a daemon holds it: nobody but who tries to reach it waits for a database that is not there."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.fleet.connection import Connection
from jobs.queue.errors import NotSetUp, QueueUnavailable

PATIENCE = 60.0


class Opened:
    """Stands for a queue that was reached."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def connection(opened: Callable[[], Any]) -> Connection:
    return Connection(opened)


def test_it_is_asked_for_without_being_reached() -> None:
    """A job of an edge is told at once, however long the try of another thread takes; then it is there for all."""
    may_open, is_opening = threading.Event(), threading.Event()
    queue = Opened()

    def opened() -> Opened:
        is_opening.set()
        may_open.wait(PATIENCE)
        return queue

    made = connection(opened)
    trying = threading.Thread(target=made.reach)
    trying.start()
    assert is_opening.wait(PATIENCE)
    with pytest.raises(QueueUnavailable):
        made.queue()
    may_open.set()
    trying.join(PATIENCE)
    assert made.queue() is made.opened
    made.close()
    assert queue.is_closed


def test_one_that_is_reached_after_the_close_is_closed_too() -> None:
    may_open, is_opening = threading.Event(), threading.Event()
    queue = Opened()

    def opened() -> Opened:
        is_opening.set()
        may_open.wait(PATIENCE)
        return queue

    made = connection(opened)
    trying = threading.Thread(target=made.reach)
    trying.start()
    assert is_opening.wait(PATIENCE)
    made.close()
    assert not queue.is_closed
    may_open.set()
    trying.join(PATIENCE)
    assert queue.is_closed


def test_a_closed_one_is_reached_no_more() -> None:
    made = connection(Opened)
    made.close()
    with pytest.raises(QueueUnavailable):
        made.reach()


def test_why_it_is_not_there_is_told_until_it_is() -> None:
    """At the start a person is told of what only a person can mend; later it is tried all the same."""
    fails: list[Exception] = [NotSetUp("the tables are missing"), QueueUnavailable("away")]

    def opened() -> Opened:
        if fails:
            raise fails.pop(0)
        return Opened()

    made = connection(opened)
    with pytest.raises(ConfigurationError, match="the tables are missing"):
        made.look_first()
    with pytest.raises(QueueUnavailable, match="away"):
        made.reach()
    assert str(made.failure) == "away"
    made.reach()
    assert made.failure is None


def test_trouble_is_told_at_once_and_only_a_look_goes_past_it() -> None:
    """A database that is silent would keep every job that asks for as long as a call may take."""
    made = connection(Opened)
    queue = made.reach()
    made.trouble = "it has not answered for 10 s"
    with pytest.raises(QueueUnavailable, match="not answered"):
        made.queue()
    assert made.reach() is queue
    made.trouble = ""
    assert made.queue() is queue
