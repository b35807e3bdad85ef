"""What a platform's failure means for the job that met it. Pure: a table from error class to outcome."""

from jobs.outcomes import Cool, Outcome, Snooze
from memsyncd.platforms.platform import (
    Busy,
    Cancelled,
    DestinationError,
    KeyRefused,
    NeedsPerson,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Unreachable,
)

_CODES: tuple[tuple[type[PlatformError], str], ...] = (
    (Unreachable, "offline"),
    (NoAnswer, "offline"),
    (Busy, "busy"),
    (NotUnderstood, "not-understood"),
    (KeyRefused, "key-refused"),
    (QuotaExceeded, "quota"),
)


def after_failure(error: PlatformError, destination: str) -> Outcome:
    """Return the outcome for a failure that is not the item's own: the destination cools, no attempt is used.

    Raises the error again when it is the item's own (Rejected): only the job knows what an attempt is.
    """
    if isinstance(error, Cancelled):
        return Snooze(0.0, "the daemon is stopping")
    if isinstance(error, DestinationError | NeedsPerson):
        code = next(code for kind, code in _CODES if isinstance(error, kind))
        return Cool(destination, error.message, code, error.retry_after, parked=isinstance(error, NeedsPerson))
    raise error
