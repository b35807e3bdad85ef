"""A real daemon while the machine sleeps, the process stands still, or the wall clock is set: work goes on within two
rounds of it, nothing expires for it, and nothing is sent twice."""

import os
import shutil
import signal
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from daemon.app import TICK_SECONDS
from tests.end_to_end.conftest import Home
from tests.end_to_end.plugins import PluginSpool
from tests.fakes import mem0_behaviours as behave
from tests.standing_still import stand_still

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a sleep is told by Linux's own clock"),
    pytest.mark.usefixtures("uncounted"),
]

HOUR, DAY = 3_600.0, 86_400.0

TWO_ROUNDS = 2 * TICK_SECONDS
"""Seconds; with the ten for the work itself (a busy machine)."""

GAPS = pytest.mark.parametrize(
    ("moved", "slept"),
    [(0.0, 8 * HOUR), (0.0, 8 * DAY), (8 * DAY, 0.0), (-6 * HOUR, 0.0)],
    ids=["a night's sleep", "eight days asleep", "eight days forward", "six hours back"],
)


class Clocks:
    """What the daemon's clocks say, beyond those of the system."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.path = home.root / "clocks"
        self.ahead = 0.0
        self.set(0.0, 0.0)
        home.program = [sys.executable, str(Path(__file__).with_name("other_clocks.py")), str(self.path)]

    def set(self, moved: float, slept: float) -> None:
        part = self.path.with_suffix(".part")
        part.write_text(f"{moved} {slept}")
        part.replace(self.path)
        self.ahead = moved + slept

    def drop(self, session: str) -> None:
        """Let an agent ask, answer and end under these clocks: what its hooks leave has their times."""
        home, places = self.home, self.home.places
        staging = home.root / "staging"
        home.environ["MEMSYNCD_HOME"] = str(staging)
        try:
            home.exchange(session, 1)
            home.end(session)
        finally:
            home.environ["MEMSYNCD_HOME"] = str(places.data)
        pending = home.spool() / "pending"
        pending.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = time.time() + self.ahead
        for path in sorted((staging / "spools" / "claude-code" / "pending").glob("*.json")):
            os.utime(path, (now, now))
            path.rename(pending / path.name)
        shutil.rmtree(staging)


@pytest.fixture
def clocks(hosted: Home) -> Clocks:
    hosted.places.data.mkdir(parents=True, mode=0o700)
    return Clocks(hosted)


def batches(home: Home) -> set[str]:
    """Return the sessions whose batches were taken, each once."""
    assert home.api is not None
    counted = Counter((packet, number) for packet, number, _ in home.api.accepted_batches())
    assert not counted or max(counted.values()) == 1
    return {run for _, _, run in home.api.accepted_batches()}


def nothing_was_given_up(home: Home) -> bool:
    jobs = home.client.get("/jobs")["jobs"]
    letters = [*home.spool().glob("dead/*"), *home.spool().glob("corrupt/*")]
    return not letters and all(job["attempts"] == job["crashes"] == 0 and job["state"] != "dead" for job in jobs)


@GAPS
def test_an_open_extraction_and_what_waits_live_through_it(clocks: Clocks, moved: float, slept: float) -> None:
    """What was posted is not posted again and uses up no attempt, what is dropped right after it is delivered, and a
    plugin's worker that slept along keeps its claim."""
    home, api = clocks.home, clocks.home.api
    assert api is not None
    plugin = PluginSpool(home.root)
    api.extraction_seconds = 1e9
    home.start()
    clocks.drop("before")
    home.until(lambda: home.status()["extraction"]["open"] == 1, "nothing was posted")
    theirs = plugin.handoff("theirs", suffix=".running")

    assert home.daemon is not None
    stand_still(home.daemon.pid)  # what a sleeping machine's processes do
    clocks.drop("within")  # before the gap, and not yet looked at
    clocks.set(moved, slept)
    home.daemon.send_signal(signal.SIGCONT)
    woke = time.monotonic()
    clocks.drop("after")
    home.until(lambda: batches(home) == {"before", "within", "after"}, "work did not go on")
    assert time.monotonic() - woke < TWO_ROUNDS + 10.0
    home.until(
        lambda: bool(moved) == any(each["code"] == "clock-jumped" for each in home.status()["problems"]),
        "a clock that was set is told of, and a sleep is not",
    )
    theirs.unlink()
    api.finish_extractions()
    home.until_quiet()
    assert len(api.requests("add")) == 3
    assert nothing_was_given_up(home)
    assert not list((home.spool() / "pending").iterdir())


@GAPS
def test_waits_keep_their_length_and_a_sleep_is_part_of_them(clocks: Clocks, moved: float, slept: float) -> None:
    """A destination that said when to come back and a handoff with a delay are waited for as long as before; what was
    due while the machine slept is due on waking."""
    home, api = clocks.home, clocks.home.api
    assert api is not None
    plugin = PluginSpool(home.root)
    plugin.exchange("delayed")
    api.script("add", behave.busy(503, "700"))
    home.start()
    clocks.drop("held")
    home.until(lambda: home.status()["platform"]["cooling_until"], "the platform does not cool")
    plugin.handoff("delayed", reason="idle", delay=700.0)
    home.until(lambda: any("delay" in job["reason"] for job in waiting(home)), "the delay is not kept")

    clocks.set(moved, slept)
    if slept:
        woke = time.monotonic()
        home.until(lambda: batches(home) == {"held", "delayed"}, "what was due did not go")
        assert time.monotonic() - woke < TWO_ROUNDS + 10.0
    else:
        home.until(
            lambda: any(each["code"] == "clock-jumped" for each in home.status()["problems"]), "no jump was seen"
        )
        # told first, then moved with; spread upwards by a tenth at most
        home.until(lambda: 600 < cooling(home.status()) < 780, "the wait did not keep its length")
        status = home.status()
        (delayed,) = (job for job in waiting(home) if "delay" in job["reason"])
        assert 600 < moment(delayed["not_before"]) - moment(status["at"]) <= 701
        assert batches(home) == set()
    assert nothing_was_given_up(home)
    assert not list(plugin.path.glob("dead/*"))


def cooling(status: dict[str, Any]) -> float:
    """Return for how many seconds the platform cools yet, by the daemon's own clock."""
    return moment(status["platform"]["cooling_until"]) - moment(status["at"])


def waiting(home: Home) -> list[dict[str, str]]:
    found: list[dict[str, str]] = home.client.get("/jobs?state=waiting")["jobs"]
    return found


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_a_daemon_started_ten_years_ahead_says_so_and_is_well_again_with_the_right_time(clocks: Clocks) -> None:
    """It works, and tells that nothing is deleted by such a clock; set right, the doubt is over."""
    home = clocks.home
    home.start()
    home.until((home.places.data / "clock.json").exists, "the clock was not looked at")
    home.stop()
    clocks.set(3_652 * DAY, 0.0)
    home.start()
    home.until(lambda: "clock-doubted" in codes(home), "the clock is believed")
    clocks.drop("s")
    home.until(lambda: batches(home) == {"s"}, "it does not work")
    assert home.status()["state"] == "ok"
    clocks.set(0.0, 0.0)
    home.until(lambda: "clock-doubted" not in codes(home), "the doubt outlives its reason")


def codes(home: Home) -> set[str]:
    return {each["code"] for each in home.status()["problems"]}


@pytest.mark.long
def test_a_process_that_stands_still_for_longer_than_its_claims(hosted: Home) -> None:
    """Stopped for 75 s in the middle of a call, as by a debugger or a frozen container: its claims are its own still,
    the call's answer counts, and nothing is sent twice or counted as a crash."""
    api = hosted.api
    assert api is not None
    api.script("add", behave.commit_and_answer_late(3.0))
    daemon = hosted.start()
    hosted.exchange("s", 1)
    hosted.end("s")
    api.wait_for(lambda fake: len(fake.requests("add")) == 1)
    stand_still(daemon.pid)
    time.sleep(75.0)  # there is no event to wait for: nothing happens, and that is the test
    daemon.send_signal(signal.SIGCONT)
    hosted.until(lambda: batches(hosted) == {"s"} and hosted.is_quiet(), "not delivered")
    assert len(api.requests("add")) == 1
    assert nothing_was_given_up(hosted)
