"""What becomes of a claim when the endpoint fails, refuses, or does not answer."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memsyncd.platforms.platform import (
    Busy,
    Cancelled,
    KeyRefused,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Rejected,
    Unreachable,
)
from memsyncd.telemetry.claims import KEPT_SECONDS
from memsyncd.telemetry.drain import Drained
from memsyncd.telemetry.posthog import Wire
from tests.memsyncd.telemetry.spooling import Spooling, line, lines

OFFLINE = Unreachable("no connection")


@pytest.fixture
def spool(tmp_path: Path) -> Spooling:
    return Spooling(tmp_path)


@pytest.mark.parametrize(
    "failure", [OFFLINE, NoAnswer("no answer"), Busy("busy (503)", status=503), KeyRefused("no"), QuotaExceeded("full")]
)
def test_waiting_for_the_endpoint_uses_no_attempt(spool: Spooling, failure: PlatformError) -> None:
    """A night offline costs nothing: the claim's name says the same attempt as before (DESIGN, promise 4)."""
    spool.park(line(), name="telemetry-9-deadbeef-a2.sending")
    for _ in range(20):
        spool.answers = [failure]
        assert spool.run().failure is failure
        assert spool.only("-a2.sending").read_bytes() == line()
        spool.hands.move(120.0)
    assert spool.run().delivered == 1


def test_an_answer_that_cannot_be_read_uses_an_attempt(spool: Spooling) -> None:
    """Four sends in all, with the cooldowns of plugins between; then the claim is kept aside and counted (12.15, 12.16)."""
    failure = NotUnderstood("a page for people")
    spool.record(lines(range(3)))
    for attempt, cooldown in enumerate((0.0, 60.0, 120.0, 120.0)):
        spool.answers = [failure]
        assert spool.run().failure is failure
        released = spool.only(f"-a{attempt}.sending")
        assert spool.age(released) == pytest.approx(120.0 - cooldown, abs=0.01)
        if cooldown:
            spool.hands.move(cooldown - 1.0)
            assert spool.run() == Drained()
            spool.hands.move(1.0)
    assert spool.run() == Drained()
    assert spool.only(".expired").read_bytes() == lines(range(3))
    assert spool.counted("telemetry_expired") == 3
    assert spool.delivered == []


@pytest.mark.parametrize("failure", [NoAnswer("no answer"), Busy("busy (500)", status=500)])
def test_a_batch_that_alone_fails_uses_its_attempts(spool: Spooling, failure: PlatformError) -> None:
    """Where the endpoint has just answered about another, the trouble may be this one's own (DESIGN, promise 4)."""
    spool.record(lines(range(200)))
    spool.answers = [None, failure]
    spool.run()
    assert spool.files() == [spool.only("-a0.sending").name]
    spool.record(line(500))
    spool.answers = [None, failure]
    spool.run()
    assert spool.only("-a1.sending").read_bytes() == lines(range(100, 200))


def test_a_stop_gives_the_claim_back(spool: Spooling) -> None:
    """It is looked at before each batch; what was not sent can be sent at once."""
    spool.park(lines(range(150)), name="telemetry-9-deadbeef-a1.sending")

    def stop(_: Sequence[Wire]) -> None:
        spool.is_stopping = True

    spool.on_post = stop
    assert spool.run() == Drained(delivered=100, is_stopped=True)
    assert spool.only("-a1.sending").read_bytes() == lines(range(100, 150))
    spool.is_stopping = False
    spool.hands.move(60.0)
    assert spool.run().delivered == 50


def test_a_call_we_ended_costs_nothing(spool: Spooling) -> None:
    """Cancelled is our own doing, however old the claim is."""
    spool.record(line(timestamp="2020-01-01T00:00:00Z"))
    spool.answers = [Cancelled("ended by our own stop")]
    spool.run()
    assert len(spool.files("-a0.sending")) == 1


def test_a_refusal_is_final_for_its_batch_alone(spool: Spooling) -> None:
    """The refused lines are kept aside and counted, the neighbours go on their way in the same run."""
    spool.record(lines(range(250)))
    spool.answers = [None, Rejected("refused (400)", status=400)]
    assert spool.run() == Drained(delivered=150)
    assert spool.only(".rejected").read_bytes() == lines(range(100, 200))
    assert spool.counted("telemetry_rejected") == 100
    assert spool.files(".sending") == []


def test_a_week_old_claim_has_had_its_time(spool: Spooling) -> None:
    """What nobody touched for a week is not sent; it is kept aside and counted (facts 12.16)."""
    spool.park(lines(range(2)), age=KEPT_SECONDS)
    assert spool.run() == Drained()
    assert spool.only(".expired").read_bytes() == lines(range(2))
    assert spool.counted("telemetry_expired") == 2


def test_what_fails_for_a_week_has_had_its_time_too(spool: Spooling) -> None:
    """Though no attempt is used and each try touches it, nothing is tried for ever (facts 20.5)."""
    spool.park(line())  # recorded an hour before the hand clock's now
    for _ in range(6):
        spool.hands.move(86400.0)
        spool.answers = [OFFLINE]
        spool.run()
        assert len(spool.files(".sending")) == 1
    spool.hands.move(86400.0)
    spool.answers = [OFFLINE]
    spool.run()
    assert spool.only(".expired").read_bytes() == line()
    assert spool.counted("telemetry_expired") == 1


def test_the_spool_that_failed_last_comes_last(spool: Spooling, tmp_path: Path) -> None:
    """So none waits for ever behind one whose batch nobody takes."""
    names = [tmp_path / name for name in "abc"]
    for name in names:
        name.mkdir()
        (name / "telemetry.jsonl").write_bytes(line())
    assert spool.drain.in_order(names) == names
    for expected in ("bca", "cab", "abc"):
        spool.answers = [OFFLINE]
        spool.drain.run(spool.drain.in_order(names)[0], spool.outlet())
        assert [path.name for path in spool.drain.in_order(names)] == list(expected)
