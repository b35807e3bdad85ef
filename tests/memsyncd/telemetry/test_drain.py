"""A spool drained: what goes, in which order, and whose a claim is. Real files, a hand clock."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from memsyncd.platforms.platform import (
    Busy,
    Unreachable,
)
from memsyncd.telemetry.drain import Drained
from memsyncd.telemetry.posthog import Wire
from tests.memsyncd.telemetry.spooling import Spooling, line, lines, uuid_of

OFFLINE = Unreachable("no connection")


@pytest.fixture
def spool(tmp_path: Path) -> Spooling:
    return Spooling(tmp_path)


def test_nothing_spooled_nothing_sent(spool: Spooling) -> None:
    """Neither an empty directory nor a missing one is any work."""
    assert spool.run() == Drained()
    assert spool.drain.run(spool.directory / "missing", spool.outlet()) == Drained()
    assert spool.posted == []


def test_batches_of_a_hundred_in_order(spool: Spooling) -> None:
    """250 events go as 100, 100 and 50, and nothing is left of their file (facts 12.12)."""
    spool.record(lines(range(250)))
    assert spool.run() == Drained(delivered=250)
    assert [len(batch) for batch in spool.posted] == [100, 100, 50]
    assert spool.delivered == [uuid_of(number) for number in range(250)]
    assert spool.files() == []
    assert spool.counted("telemetry_delivered") == 250


def test_the_rest_is_kept_after_the_third_post_fails(spool: Spooling) -> None:
    """50 lines are left, the first is the one at index 200 (facts 12.12)."""
    spool.record(lines(range(250)))
    spool.answers = [None, None, OFFLINE]
    assert spool.run() == Drained(delivered=200, failure=OFFLINE)
    left = spool.only(".sending").read_bytes()
    assert left == lines(range(200, 250))
    assert spool.only(".sending").stat().st_mode & 0o777 == 0o600


def test_each_is_delivered_once_over_two_runs(spool: Spooling) -> None:
    """150 events, the second batch fails, the next run delivers the rest: 150 deliveries, 150 ids (facts 12.13)."""
    spool.record(lines(range(150)))
    spool.answers = [None, Busy("busy (429)", status=429)]
    spool.run()
    assert spool.run().delivered == 50
    assert sorted(spool.delivered) == sorted(uuid_of(number) for number in range(150))


def test_the_live_spool_goes_before_three_parked_claims_the_oldest_first(spool: Spooling) -> None:
    """Parked claims do not starve, nor do they hold up what is new (facts 12.18, 20.4)."""
    for number in range(1, 6):
        spool.park(line(number), name=f"telemetry-9-0000000{number}-a0.sending", age=1000.0 - number)
    spool.record(line(0))
    assert spool.run() == Drained(delivered=4, more=True)
    assert spool.delivered == [uuid_of(number) for number in range(4)]
    assert spool.run() == Drained(delivered=2)
    assert spool.files() == []


def test_a_run_ends_at_the_first_failure(spool: Spooling) -> None:
    """Other claims are not tried, so they keep their attempts (facts 12.18)."""
    for number in range(3):
        spool.park(line(number), name=f"telemetry-9-0000000{number}-a1.sending", age=1000.0 - number)
    spool.answers = [None, OFFLINE]
    assert spool.run().delivered == 1
    assert "telemetry-9-00000002-a1.sending" in spool.files()
    assert len(spool.files(".sending")) == 2


def test_a_live_claim_is_nobody_elses(spool: Spooling) -> None:
    """Neither taken nor expired, though it is at its last attempt, until its lease is over (facts 12.17, 20.3)."""
    spool.park(line(), name="telemetry-9-deadbeef-a3.sending", age=100.0)
    assert spool.run() == Drained()
    assert spool.files() == ["telemetry-9-deadbeef-a3.sending"]
    spool.hands.move(20.0)
    spool.run()
    assert spool.files() == [spool.only(".expired").name]


def test_a_claim_is_fresh_from_its_first_moment(spool: Spooling) -> None:
    """A spool that lay for an hour is not taken for an abandoned claim while it is sent (facts 12.10, 20.2)."""
    spool.touch(spool.record(lines(range(150))), 3600.0)
    ages: list[float] = []

    def look(_: Sequence[Wire]) -> None:
        ages.append(spool.age(spool.only(".sending")))
        spool.hands.move(100.0)

    spool.on_post = look
    spool.run()
    assert ages == pytest.approx([0.0, 0.0], abs=0.01)


@pytest.mark.parametrize("ahead", [5.0, 86400.0 * 365])
def test_a_claim_touched_in_the_future_begins_its_lease_now(spool: Spooling, ahead: float) -> None:
    """After a clock was set back it is nobody's for ever, and no second sender's at once."""
    spool.park(line(), age=-ahead)
    assert spool.run() == Drained()
    spool.hands.move(119.0)
    assert spool.run() == Drained()
    spool.hands.move(1.0)
    assert spool.run().delivered == 1


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_claim_that_is_held_is_never_taken(spool: Spooling, at: int) -> None:
    """Whatever the clock says, a second sender of ours keeps away from a file that is locked, rewritten or not."""
    spool.record(lines(range(250)))
    other = spool.new_drain()
    seen: list[Drained] = []
    posts = itertools.count(1)

    def jump(_: Sequence[Wire]) -> None:
        if next(posts) == at:
            spool.hands.move(1e5)
            seen.append(other.run(spool.directory, spool.outlet()))

    spool.on_post = jump
    assert spool.run() == Drained(delivered=250)
    assert seen == [Drained()]
    assert len(spool.delivered) == 250


def test_a_claim_another_sender_took_is_left_to_it(spool: Spooling) -> None:
    """A plugin's sender takes no lock: once our claim has another name we write nothing, and count it."""
    spool.record(lines(range(150)))

    def take(_: Sequence[Wire]) -> None:
        spool.only(".sending").rename(spool.directory / "telemetry-7-0badcafe-a1.sending")

    spool.on_post = take
    assert spool.run() == Drained(delivered=100)
    assert (spool.directory / "telemetry-7-0badcafe-a1.sending").read_bytes() == lines(range(150))
    assert spool.counted("telemetry_claims_lost") == 1
