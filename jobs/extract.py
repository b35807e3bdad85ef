"""The extract job: has the model make one accepted batch's memories, while the batch waits on the embedded platform.

The platform accepts at once and the flush waits for a verdict, as with the hosted platform; only this job waits for the
model, one batch at a time. A job rather than a thread: it outlives a crash, its endpoint cools as any destination does,
and `jobs list` shows it. Nothing depends on it: a batch whose wait is over, or whose model is away, gets its memories
by the rules from whoever asks for the verdict next.
"""

from jobs.failures import after_failure, after_store_error
from jobs.left_to_model import PATIENCE_SECONDS, Extracting
from jobs.outcomes import Done, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from memsyncd.extracting.extractor import AWAY, SLOW, Made
from memsyncd.platforms.platform import Batch, Busy, Cancelled, NoAnswer, PlatformError, Unreachable

HELD_SECONDS = 60.0
STORE_SECONDS = 10.0
"""How long a job waits while the user pauses, and while the platform's own file is away."""


def extract(context: JobContext, extracting: Extracting) -> Outcome:
    """Have the model make the batch's memories; where it cannot, or not in time, the rules have made them or will."""
    if context.job.destination != extracting.extractor.destination:
        return Done("the settings name another model by now")
    try:
        return _extract(context, extracting, str(context.job.payload["event"]))
    except Cancelled:
        return Snooze(0.0, "the daemon is stopping")
    except PlatformError as error:
        return Snooze(STORE_SECONDS, error.message)  # the embedded platform's own: its poll cools it
    except QueueError as error:
        return after_store_error(error)


def _extract(context: JobContext, extracting: Extracting, event_id: str) -> Outcome:
    waiting = extracting.platform.pending_batch(event_id)
    if waiting is None:
        return _probe(context, extracting, "its memories were made before")
    batch, since = waiting
    left = extracting.seconds_left(since)
    if left <= 0.0 or extracting.is_away():
        extracting.fall_back(event_id, batch, SLOW if left <= 0.0 else AWAY)
        return _probe(context, extracting, "the rules made its memories")
    held = extracting.hold()
    if held is not None:
        return Snooze(min(left, HELD_SECONDS), held)
    try:
        made = extracting.extractor.memories(batch, left, answered=context.answered, stopping=context.stopping)
    except PlatformError as error:
        return _failed(error, extracting, event_id, batch, left=extracting.seconds_left(since))
    return _made(made, extracting, event_id)


def _made(made: Made, extracting: Extracting, event_id: str) -> Outcome:
    counters = extracting.counters
    stored = extracting.platform.store(event_id, made.candidates)
    if stored:
        counters.add("extractor_batches_by_model" if made.by_model else "extractor_batches_by_rules")
    else:
        counters.add("extractor_late_answers")
    for kind, pieces in made.pieces_by_rules.items():
        counters.add(f"extractor_{kind}", pieces)
    if made.rejected:
        counters.add("extractor_memories_rejected", sum(made.rejected.values()))
    extracting.report(made.why)
    extracting.tell(event_id)
    if not stored:
        return Done("the model's answer came too late")
    if not made.by_model:
        return Done(f"the rules made its memories: {made.why}")
    return Done(f"the model found {len(made.candidates)} to remember")


def _failed(error: PlatformError, extracting: Extracting, event_id: str, batch: Batch, *, left: float) -> Outcome:
    """Cool the endpoint. The batch waits for it only where it may well be back in time."""
    outcome = after_failure(error, extracting.extractor.destination)
    if isinstance(error, Cancelled) or is_worth_waiting(error, is_first=not extracting.is_failing(), left=left):
        return outcome
    is_slow = isinstance(error, NoAnswer)
    extracting.fall_back(event_id, batch, SLOW if is_slow else AWAY)
    if is_slow:  # the endpoint is soon found to be there again, and would be as slow with the next
        extracting.report(f"{error.message} (extractor.timeout_seconds)")
    return outcome


def is_worth_waiting(error: PlatformError, *, is_first: bool, left: float) -> bool:
    """Whether an endpoint that just failed for the first time may answer within the `left` seconds: it could not be
    reached (a server that starts), or it names a time itself."""
    if isinstance(error, Busy) and error.retry_after is not None:
        return is_first and error.retry_after < min(left, PATIENCE_SECONDS)
    return is_first and isinstance(error, Unreachable) and left > 0.0


def _probe(context: JobContext, extracting: Extracting, done: str) -> Outcome:
    """With nothing to ask the model: if its endpoint cools, see whether it is back, so that its problem is over."""
    if not extracting.is_failing():
        return Done(done)
    try:
        extracting.extractor.ping()
    except PlatformError as error:
        return after_failure(error, extracting.extractor.destination)
    context.answered()
    return Done(f"{done}; the model is back")
