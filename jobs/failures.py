"""What a failure of platform or store means for the job that met it. Pure: from error class to outcome."""

from collections.abc import Callable, Sequence

from jobs.outcomes import Cool, Outcome, Snooze
from jobs.queue.errors import QueueError
from memsyncd.evidence.errors import EvidenceError
from memsyncd.platforms.echoes import without_echo
from memsyncd.platforms.platform import (
    Batch,
    Busy,
    Cancelled,
    DestinationError,
    Extraction,
    KeyRefused,
    NeedsPerson,
    NoAnswer,
    NotUnderstood,
    PlaceTaken,
    PlatformError,
    QuotaExceeded,
    Unreachable,
)

_CODES: tuple[tuple[type[PlatformError], str], ...] = (
    (Unreachable, "offline"),
    (NoAnswer, "offline"),
    (Busy, "busy"),
    (PlaceTaken, "login-page"),
    (NotUnderstood, "not-understood"),
    (KeyRefused, "key-refused"),
    (QuotaExceeded, "quota"),
    (PlatformError, "platform-failed"),
)
"""The first that fits; the last is for a platform's own kinds of trouble, such as a damaged file."""


STORE_SECONDS = 10.0
"""How long a job waits for a store that is locked, full or away: a deferral, no attempt (never-again 43)."""


def after_store_error(error: EvidenceError | QueueError) -> Outcome:
    """Return the outcome where evidence or queue could not be read or written: the job waits, for it did nothing
    wrong."""
    return Snooze(STORE_SECONDS, str(error))


def why_extraction_failed(verdict: Extraction, sent: Callable[[], Sequence[Batch]]) -> str:
    """Return why, in the platform's words less those that repeat what was `sent` to it."""
    why = f"extraction {verdict.state.lower()}"
    if not verdict.error:
        return why
    contents = [message.content for batch in sent() for message in batch.messages]
    return f"{why}: {without_echo(verdict.error, {'content': contents})}"


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
