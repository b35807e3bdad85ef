"""The queue's decisions, as tables."""

import math

import pytest

from jobs.job import JobState
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue import policy
from jobs.queue.contract import Destination
from jobs.queue.policy import Policy, Verdict

SETTINGS = Policy()
DESTINATION = Destination("api", None, "", "", 0, parked=False, since=None, last_success_at=None)
COOL = Cool("api", "503", "busy")


@pytest.mark.parametrize(
    ("outcome", "attempts", "verdict"),
    [
        (Done("sent"), 2, Verdict(JobState.DONE, 2, "sent")),
        (Done(wake_lane=True), 0, Verdict(JobState.DONE, 0, wake_lane=True)),
        (Snooze(9, "open"), 3, Verdict(JobState.WAITING, 3, "open", delay=9)),
        (Snooze(-1, "open", {"n": 1}), 0, Verdict(JobState.WAITING, 0, "open", payload={"n": 1})),
        (Retry("422"), 0, Verdict(JobState.WAITING, 1, "422", delay=5, error="422")),
        (Retry("422"), 3, Verdict(JobState.WAITING, 4, "422", delay=40, error="422")),
        (Retry("422", 7), 1, Verdict(JobState.WAITING, 2, "422", delay=7, error="422")),
        (Retry("422"), 4, Verdict(JobState.DEAD, 5, "422", error="422")),
        (Retry("422", 7), 9, Verdict(JobState.DEAD, 10, "422", error="422")),
        (COOL, 4, Verdict(JobState.READY, 4, "503", cool=COOL)),
        (GiveUp("too big", wake_lane=True), 1, Verdict(JobState.DEAD, 1, "too big", error="too big", wake_lane=True)),
    ],
)
def test_an_outcome_decides_what_becomes_of_the_job(outcome: Outcome, attempts: int, verdict: Verdict) -> None:
    """Each outcome has one verdict; only a retry uses an attempt, and the fifth is the last."""
    assert policy.settle(outcome, attempts, SETTINGS, 0.5) == verdict


def test_something_else_is_no_outcome() -> None:
    """The bare base class is refused, not taken for success."""
    with pytest.raises(TypeError, match="Outcome is no outcome"):
        policy.settle(Outcome(), 0, SETTINGS, 0.5)


@pytest.mark.parametrize(
    ("crashes", "state", "reason"),
    [(1, JobState.READY, ""), (2, JobState.READY, ""), (3, JobState.DEAD, "crashed the worker")],
)
def test_the_third_crash_is_the_last(crashes: int, state: JobState, reason: str) -> None:
    """A job whose worker dies under it three times is given up."""
    assert policy.after_crash(crashes, SETTINGS) == (state, reason)


@pytest.mark.parametrize(("crashes", "state"), [(3, JobState.READY), (9, JobState.READY), (10, JobState.DEAD)])
def test_a_daemon_that_dies_is_mostly_not_the_jobs_doing(crashes: int, state: JobState) -> None:
    """A job met by three kill -9 of the daemon lives on; one that takes it down ten times in a row does not."""
    assert policy.after_crash(crashes, SETTINGS, daemon_died=True)[0] is state


@pytest.mark.parametrize(
    ("crashes", "lived", "least"),
    [
        (0, 0.0, 0.0),
        (2, 0.0, 0.0),
        (3, 0.0, 5.0),
        (4, 0.0, 10.0),
        (6, 0.0, 40.0),
        (7, 0.0, 60.0),
        (9, 0.0, 60.0),
        (7, 50.0, 10.0),
    ],
)
def test_a_suspected_job_waits_for_a_daemon_that_has_lived(crashes: int, lived: float, least: float) -> None:
    """The longer, the more deaths it was in hand at; spread, so that not all of them are in hand together again."""
    waits = {policy.trial_wait(f"job {number}", crashes, lived, SETTINGS) for number in range(50)}
    assert least <= min(waits) and max(waits) <= (least + lived) * 1.5 - lived
    assert len(waits) == (50 if least else 1)
    assert policy.trial_wait("job 1", crashes, 90.0, SETTINGS) == 0.0


@pytest.mark.parametrize(
    ("attempt", "jitter", "seconds"),
    [(1, 0.5, 5), (1, 0.0, 4), (1, 0.999, 5.998), (2, 0.5, 10), (5, 0.5, 80), (9, 0.5, 1280), (10, 0.5, 1800), (10, 0.0, 1440),
     (10, 0.999, 1800), (5000, 0.5, 1800)],
)  # fmt: skip
def test_retries_wait_twice_as_long_each_time(attempt: int, jitter: float, seconds: float) -> None:
    """5 s doubling, spread by a fifth either way, never above half an hour."""
    assert policy.retry_delay(attempt, SETTINGS, jitter) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("cool", "failures", "jitter", "seconds"),
    [
        (COOL, 1, 0.0, 60),
        (COOL, 1, 0.5, 63),
        (COOL, 2, 0.0, 120),
        (COOL, 4, 0.0, 480),
        (COOL, 5, 0.0, 900),
        (COOL, 9999, 0.9, 900),
        (Cool("api", "429", "busy", delay=30), 7, 0.0, 30),
        (Cool("api", "429", "busy", delay=30), 7, 0.5, 31.5),
        (Cool("api", "429", "busy", delay=0), 1, 0.0, 1),
        (Cool("api", "429", "busy", delay=86400), 1, 0.0, 900),
        (Cool("api", "429", "busy", delay=math.nan), 1, 0.0, 1),
        (Cool("api", "no route", "offline"), 1, 0.0, 5),
        (Cool("api", "no route", "offline"), 3, 0.0, 20),
        (Cool("api", "no route", "offline"), 9, 0.5, 21),
        (Cool("api", "HTML", "not-understood"), 1, 0.0, 15),
        (Cool("api", "HTML", "not-understood"), 3, 0.0, 60),
        (Cool("api", "HTML", "not-understood"), 9, 0.5, 900),
        (Cool("api", "HTML", "login-page"), 1, 0.0, 15),
        (Cool("api", "HTML", "login-page"), 59, 0.5, 15.75),
        (Cool("api", "401", "key-refused", parked=True), 1, 0.0, 900),
        (Cool("api", "401", "key-refused", delay=5, parked=True), 3, 0.0, 900),
        (Cool("api", "402", "quota", parked=True), 1, 0.0, 900),
        (Cool("api", "402", "quota", parked=True), 8, 0.5, 900),
    ],
)
def test_a_destination_cools_for_as_long_as_it_says_or_ever_longer(
    cool: Cool, failures: int, jitter: float, seconds: float
) -> None:
    """Its own word first, never undercut; else by the kind and number of failures; never above the ceiling."""
    assert policy.cooldown(cool, failures, SETTINGS, jitter) == pytest.approx(seconds)


@pytest.mark.parametrize("code", ["offline", "login-page"])
def test_a_trouble_of_the_network_is_looked_at_often_for_a_quarter_of_an_hour(code: str) -> None:
    """Somebody may be about to log in, or to plug a cable in: work goes on within two scans (30 s) of it. After that a
    look a minute will do. It is the time that counts, for what is met may change from one look to the next."""
    place, now, waits = DESTINATION, 1000.0, []
    for look in range(70):
        cool = Cool("api", "", "not-understood" if look == 0 else code)
        place = policy.cooled(place, cool, SETTINGS, now, 0.999)
        assert place.until is not None
        waits.append((now - 1000.0, place.until - now))
        now = place.until
    assert max(wait for begun, wait in waits if begun < 900.0) < 30.0
    assert min(wait for begun, wait in waits if begun >= 900.0) >= 60.0
    assert max(wait for _, wait in waits) < 70.0


def test_a_cooldown_counts_failures_and_keeps_when_the_trouble_began() -> None:
    """The second failure in a row waits longer; since is the first one's time."""
    first = policy.cooled(DESTINATION, COOL, SETTINGS, 1000.0, 0.0)
    second = policy.cooled(first, Cool("api", "401", "key-refused", parked=True), SETTINGS, 1060.0, 0.0)
    assert (first.until, first.failures, first.since, first.parked) == (1060.0, 1, 1000.0, False)
    assert (second.until, second.failures, second.since, second.parked) == (1960.0, 1, 1000.0, True)
    third = policy.cooled(second, Cool("api", "401", "key-refused", parked=True), SETTINGS, 2000.0, 0.0)
    assert (third.failures, third.since) == (2, 1000.0)
    assert (second.why, second.code) == ("401", "key-refused")
    assert policy.released(second) == DESTINATION


def test_a_long_night_offline_does_not_lengthen_the_wait_for_a_busy_platform() -> None:
    """Failures are counted by kind: the first 503 after many refused connections waits a minute, not a quarter hour."""
    night = DESTINATION
    for _ in range(10):
        night = policy.cooled(night, Cool("api", "no route", "offline"), SETTINGS, 1000.0, 0.0)
    assert policy.cooled(night, COOL, SETTINGS, 5000.0, 0.0).until == 5060.0


@pytest.mark.parametrize(
    ("until", "parked", "delay", "expected"),
    [
        (None, False, 300, None),  # the destination has been released meanwhile
        (1060.0, False, None, 1060.0),
        (1060.0, False, 300, 1300.0),
        (1500.0, False, 300, 1500.0),
        (1060.0, False, 5000, 1900.0),
        (1060.0, True, 300, 1060.0),
    ],
)
def test_a_straggler_tells_nothing_new(
    until: float | None, parked: bool, delay: float | None, expected: float | None
) -> None:
    """A failure of a run that began before the cooldown neither counts again nor starts one; its Retry-After may lengthen it."""
    before = policy.cooled(DESTINATION, Cool("api", "401", "busy", parked=parked), SETTINGS, 1000.0, 0.0)
    before = policy.replace(before, until=until)
    after = policy.cooled_by_straggler(before, Cool("api", "429", "busy", delay=delay), SETTINGS, 1000.0)
    assert after == policy.replace(before, until=expected)


@pytest.mark.parametrize(
    ("delay", "seconds"), [(5, 5), (0, 0), (-3, 0), (math.nan, 0), (math.inf, policy.LONGEST_DELAY), (-math.inf, 0)]
)
def test_odd_delays_are_bounded(delay: float, seconds: float) -> None:
    """No delay puts a job off for ever or breaks the arithmetic."""
    assert policy.clamped(delay) == seconds


def test_half_characters_are_spelt_out() -> None:
    """An error's text out of binary output does not keep the outcome from being stored."""
    assert policy.bounded("bad \ud800 byte") == "bad \\ud800 byte"


def test_long_texts_are_cut() -> None:
    """A reason keeps 500 characters and shows that it was cut."""
    assert policy.bounded("x" * 500) == "x" * 500
    assert policy.bounded("x" * 501) == "x" * 499 + "…"
