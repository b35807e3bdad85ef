"""A daemon that is stopped for longer than its claims last, and a wall clock that is set, each in the midst of work.

What sleeps and clocks do to every kind of wait: tests/end_to_end/test_sleep_and_clock.py.
"""

import signal
import sqlite3
import sys
import threading
from contextlib import closing

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.test_sleep_and_clock import Clocks
from tests.fakes.loopback_http import Request
from tests.faults.seen import AMBER, plain, session, until_delivered, until_told
from tests.standing_still import stand_still

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clocks are Linux's own")

HOUR = 3_600.0


def test_stopped_for_longer_than_its_claims(hosted: Home) -> None:
    """In the midst of a call, by SIGSTOP, its claims over by the time it goes on: a command says meanwhile that it does
    not answer and is not dead, hooks harm no agent, the call's answer counts, and nothing is sent twice."""
    api = hosted.api
    assert api is not None
    daemon = hosted.start()
    stands = threading.Event()

    def stop_it(_: Request) -> None:
        if not stands.is_set():
            stand_still(daemon.pid)
            stands.set()

    api.on_commit = stop_it
    session(hosted, "held")
    hosted.until(stands.is_set, "nothing was sent")
    with closing(sqlite3.connect(hosted.places.queue_file)) as queue:  # what the time would have done
        assert queue.execute("UPDATE jobs SET claim_expires = 1 WHERE state = 'claimed'").rowcount == 1
        queue.commit()
    session(hosted, "beside", "codex")
    stopped = hosted.run("status")
    assert stopped.returncode == 1
    assert "does not answer" in plain(stopped.stdout)
    assert f"pid {daemon.pid}" in plain(stopped.stdout)
    daemon.send_signal(signal.SIGCONT)
    until_delivered(hosted, "beside", "held")
    assert len(api.requests("add")) == 2
    jobs = hosted.client.get("/jobs")["jobs"]
    assert all(job["attempts"] == job["crashes"] == 0 for job in jobs)
    hosted.until(lambda: hosted.status()["state"] == "ok", "not well again")


@pytest.mark.parametrize("moved", [8 * 24 * HOUR, -6 * HOUR], ids=["forward", "back"])
def test_a_clock_that_is_set(hosted: Home, moved: float) -> None:
    """It is told, with nothing to do; what is captured afterwards is delivered as ever, and nothing expires."""
    hosted.places.data.mkdir(mode=0o700)
    clocks = Clocks(hosted)
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    clocks.set(moved, 0.0)
    clocks.drop("after")
    until_told(hosted, "clock-jumped", "timedatectl", exits=AMBER)
    until_delivered(hosted, "before", "after")
    assert hosted.status()["jobs"]["dead"] == 0
