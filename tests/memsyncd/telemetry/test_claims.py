"""Claims of telemetry files: names, leases, attempts."""

import math

import pytest

from memsyncd.telemetry.claims import KEPT_SECONDS, ClaimName, Verdict, backdated, judge, parse

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("telemetry-9-deadbeef.sending", ClaimName("9-deadbeef", 0)),
        ("telemetry-9-a1234567.sending", ClaimName("9-a1234567", 0)),
        ("telemetry-9-deadbeef-a2.sending", ClaimName("9-deadbeef", 2)),
        ("telemetry-9-a1234567-a3.sending", ClaimName("9-a1234567", 3)),
        ("telemetry-9-deadbeef-ab.sending", ClaimName("9-deadbeef", 0)),
        ("telemetry-9-deadbeef-a٣.sending", ClaimName("9-deadbeef", 0)),
        ("telemetry-9.sending", ClaimName("9", 0)),
        ("telemetry.jsonl", None),
        ("telemetry-9-deadbeef-a2.corrupt", None),
        ("telemetry-dropped", None),
        ("other-9-deadbeef.sending", None),
    ],
)
def test_the_attempt_is_known_by_its_place(name: str, expected: ClaimName | None) -> None:
    """A hex id that begins with an `a` is no attempt (facts 12.11, 20.9)."""
    assert parse(name) == expected


def test_a_name_is_read_back() -> None:
    """What we write in a name, others and we read from it."""
    name = ClaimName("12-0a1b2c3d", 2)
    assert name.file() == "telemetry-12-0a1b2c3d-a2.sending"
    assert parse(name.file()) == name
    assert name.at(1).file(".corrupt") == "telemetry-12-0a1b2c3d-a1.corrupt"


@pytest.mark.parametrize(
    ("attempt", "age", "expected"),
    [
        (0, 0.0, Verdict.LIVE),
        (0, 119.9, Verdict.LIVE),
        (0, 120.0, Verdict.STALE),
        (2, 120.0, Verdict.STALE),
        (3, 119.0, Verdict.LIVE),  # its owner is at the last try (facts 12.17)
        (3, 120.0, Verdict.EXPIRED),
        (99, 500.0, Verdict.EXPIRED),
        (0, KEPT_SECONDS, Verdict.EXPIRED),
        (0, KEPT_SECONDS - 1, Verdict.STALE),
        (0, -1.0, Verdict.FUTURE),
        (3, -1e9, Verdict.FUTURE),
    ],
)
def test_whether_it_lives_comes_before_its_tries(attempt: int, age: float, expected: Verdict) -> None:
    """Facts 12.10, 12.16, 12.17."""
    assert judge(attempt, NOW - age, NOW) is expected


@pytest.mark.parametrize(
    ("attempt", "age", "kept", "expected"),
    [
        (0, 86_400.0, 86_400.0, Verdict.EXPIRED),
        (0, 86_399.0, 86_400.0, Verdict.STALE),
        (0, 1e9, math.inf, Verdict.STALE),
        (3, 120.0, math.inf, Verdict.EXPIRED),
        (0, 60.0, 30.0, Verdict.LIVE),
    ],
)
def test_how_long_it_is_kept_is_a_setting(attempt: int, age: float, kept: float, expected: Verdict) -> None:
    """For ever too; its tries are bounded all the same, and its owner's lease holds."""
    assert judge(attempt, NOW - age, NOW, kept) is expected


@pytest.mark.parametrize(("attempt", "seconds"), [(0, 0.0), (1, 60.0), (2, 120.0), (3, 120.0), (1_000_000, 120.0)])
def test_a_released_claim_is_free_after_its_cooldown(attempt: int, seconds: float) -> None:
    """At once, after a minute, after two; and no mtime is ever in the future (facts 12.15)."""
    touched_at = backdated(attempt, NOW)
    assert touched_at <= NOW
    assert judge(0, touched_at, NOW + seconds) is Verdict.STALE
    assert not seconds or judge(0, touched_at, NOW + seconds - 1) is Verdict.LIVE
