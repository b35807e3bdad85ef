"""What a platform's failure means for the job that met it."""

import pytest

from jobs.failures import after_failure
from jobs.outcomes import Cool, Snooze
from memsyncd.platforms.platform import (
    Busy,
    Cancelled,
    DestinationError,
    KeyRefused,
    NeedsPerson,
    NoAnswer,
    NotUnderstood,
    PlaceTaken,
    PlatformError,
    QuotaExceeded,
    Rejected,
    Unreachable,
)


@pytest.mark.parametrize(
    ("error", "code", "parked", "delay"),
    [
        (Unreachable("no route"), "offline", False, None),
        (NoAnswer("timed out"), "offline", False, None),
        (Busy("busy", status=503), "busy", False, None),
        (Busy("slow down", status=429, retry_after=7.0), "busy", False, 7.0),
        (NotUnderstood("HTML"), "not-understood", False, None),
        (PlaceTaken("a page"), "login-page", False, None),
        (KeyRefused("refused", status=401), "key-refused", True, None),
        (QuotaExceeded("limit", status=402), "quota", True, None),
        (DestinationError("disk full"), "platform-failed", False, None),
        (NeedsPerson("damaged"), "platform-failed", True, None),
    ],
)
def test_a_destinations_fault_cools_it_and_uses_no_attempt(
    error: PlatformError, code: str, parked: bool, delay: float | None
) -> None:
    """Only the destination waits; what waits for a person is parked."""
    assert after_failure(error, "mem0") == Cool("mem0", error.message, code, delay, parked=parked)


def test_our_own_stop_is_no_failure() -> None:
    """A call we ended ourselves is taken up again at once by the next run."""
    assert isinstance(after_failure(Cancelled("stopping"), "mem0"), Snooze)


def test_a_refused_item_is_the_jobs_own_business() -> None:
    """What an attempt is only the job knows, so the error comes back."""
    with pytest.raises(Rejected):
        after_failure(Rejected("too long", status=400), "mem0")


@pytest.mark.parametrize(("status", "may"), [(429, False), (408, True), (500, True), (503, True), (504, True)])
def test_only_a_429_says_for_certain_that_nothing_was_done(status: int, may: bool) -> None:
    """After any other busy answer the batch is looked for before it is sent again."""
    assert Busy("busy", status=status).may_have_arrived is may
