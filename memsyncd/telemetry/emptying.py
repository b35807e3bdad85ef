"""One claim sent batch by batch, to its end or to the first failure (facts 12.12-12.16)."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memsyncd.clock import from_rfc3339
from memsyncd.counters import Counters
from memsyncd.platforms.platform import Busy, Cancelled, NoAnswer, NotUnderstood, PlatformError, Rejected
from memsyncd.telemetry.batch import Batch, Encode, next_batch
from memsyncd.telemetry.claim_file import ClaimFile, ClaimLost, Door
from memsyncd.telemetry.claims import CORRUPT, EXPIRED, REJECTED
from memsyncd.telemetry.posthog import Wire


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where a run sends to. `post` sends one batch, and raises PlatformError unless the endpoint has it.

    `has_answered` tells whether the endpoint took or refused anything in this run: then a failure may be the batch's
    own. `is_stopping` is looked at before each batch.
    """

    post: Callable[[Sequence[Wire]], None]
    encode: Encode
    has_answered: Callable[[], bool] = lambda: False
    is_stopping: Callable[[], bool] = lambda: False


@dataclass(slots=True)
class Settled:
    """A batch that the endpoint took or refused, while the claim still says otherwise; `aside` is kept lines by
    suffix."""

    claim: ClaimFile
    size: int
    aside: dict[str, bytes]

    def save(self) -> None:
        """Write it down. Raises OSError, and may then be called again; ClaimLost."""
        while self.aside:
            suffix, lines = next(iter(self.aside.items()))
            self.claim.keep_aside(lines, suffix)
            del self.aside[suffix]
        self.claim.drop_first(self.size)


@dataclass(slots=True)
class Emptied:
    """How it went. `failure` is the endpoint's, `trouble` the disk's; `unsaved` was settled and is not written down,
    so its claim is still held; `is_stopped` tells that the outlet was closed."""

    delivered: int = 0
    failure: PlatformError | None = None
    trouble: OSError | None = None
    unsaved: Settled | None = None
    is_stopped: bool = False


class Emptying:
    """One claim and the way it goes. The claim is out of our hands after `run`, unless something is `unsaved`."""

    def __init__(self, claim: ClaimFile, outlet: Outlet, counters: Counters, door: Door) -> None:
        self._claim = claim
        self._outlet = outlet
        self._counters = counters
        self._door = door
        self._emptied = Emptied()

    def run(self) -> Emptied:
        """Send what is in the claim."""
        emptied = self._emptied
        try:
            self._look()
            while self._claim.is_open and emptied.unsaved is None:
                self._step()
        except ClaimLost:
            self._counters.add("telemetry_claims_lost")
        except OSError as failure:
            emptied.trouble = failure
        finally:
            if self._claim.is_open and emptied.unsaved is None:
                # the disk's trouble or a fault of ours: whatever it is, this file has only its attempts
                with contextlib.suppress(OSError, ClaimLost):
                    self._claim.release(counts=True)
        return emptied

    def _look(self) -> None:
        """Set aside whole what holds no event at all; an empty file is removed (facts 12.19)."""
        content = self._claim.read()
        if content == b"":
            self._claim.drop_first(0)
            return
        batch = None if content is None else next_batch(content, self._outlet.encode)
        if content is not None and batch is not None and (batch.events or batch.size < len(content)):
            return
        self._claim.set_aside(CORRUPT)
        self._count_unsendable(batch)

    def _step(self) -> None:
        """Send the next batch and write down that it is settled."""
        if self._outlet.is_stopping():
            self._emptied.is_stopped = True
            self._claim.release(counts=False)
            return
        content = self._claim.read()
        if not content:  # grown beyond all bounds since, by whoever takes no lock, or cut
            self._look()
            return
        batch = next_batch(content, self._outlet.encode)
        aside = {CORRUPT: batch.unsendable} if batch.unsendable else {}
        if batch.events:
            self._claim.renew()
            try:
                self._outlet.post(batch.events)
            except Rejected:
                self._counters.add("telemetry_rejected", len(batch.events))
                aside[REJECTED] = batch.lines
            except PlatformError as failure:
                self._emptied.failure = failure
                self._put_off(batch, failure)
                return
            else:
                self._counters.add("telemetry_delivered", len(batch.events))
                self._emptied.delivered += len(batch.events)
        self._count_unsendable(batch)
        self._save(Settled(self._claim, batch.size, aside))

    def _save(self, settled: Settled) -> None:
        try:
            settled.save()
        except OSError as failure:
            self._emptied.unsaved, self._emptied.trouble = settled, failure

    def _put_off(self, batch: Batch, failure: PlatformError) -> None:
        """Give the claim back for another try; what is too old and fails again has had its time."""
        recorded_at = from_rfc3339(batch.events[0].timestamp)
        is_old = recorded_at is not None and self._door.wall() - recorded_at >= self._door.kept_seconds
        if is_old and not isinstance(failure, Cancelled):
            events = count_events(self._claim.read())
            self._claim.set_aside(EXPIRED)
            self._counters.add("telemetry_expired", events)
        else:
            spared = spares_the_attempt(failure, has_answered=self._outlet.has_answered())
            self._claim.release(counts=not spared)

    def _count_unsendable(self, batch: Batch | None) -> None:
        reasons = {} if batch is None else batch.reasons
        for reason, lines in reasons.items():
            self._counters.add(f"telemetry_{reason}", lines)
        if not reasons and (batch is None or not batch.events):
            self._counters.add("telemetry_corrupt")  # a file too large, or of nothing but empty lines


def spares_the_attempt(error: PlatformError, *, has_answered: bool) -> bool:
    """Whether a failure is the endpoint's alone, so that waiting for it uses up no attempt (DESIGN, promise 4). Pure.

    An answer that cannot be read may be about what was asked. So may one that does not come, or a 5xx, from an
    endpoint that has just answered about another batch.
    """
    if isinstance(error, NotUnderstood):
        return False
    doubtful = isinstance(error, NoAnswer) or (isinstance(error, Busy) and error.may_have_arrived)
    return not (doubtful and has_answered)


def count_events(content: bytes | None) -> int:
    """Return how many lines there are; one for what is too large to be read."""
    return 1 if content is None else sum(1 for line in content.split(b"\n") if line.strip())
