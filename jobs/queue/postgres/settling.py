"""What happens to a job of the shared queue at the end of its run: one transaction."""

from collections.abc import Sequence
from dataclasses import replace

from jobs.job import Job, JobState
from jobs.outcomes import Done, Outcome
from jobs.queue import policy
from jobs.queue.claims import Claim
from jobs.queue.contract import Destination
from jobs.queue.policy import Verdict
from jobs.queue.postgres import claiming, cooling, lanes, rows
from jobs.queue.postgres.claiming import Worker
from jobs.queue.postgres.cooling import SUCCESS_SECONDS
from jobs.queue.postgres.enqueueing import enqueue
from jobs.queue.postgres.rows import COLUMNS, SHOWN, Row
from jobs.queue.postgres.transaction import Transaction
from jobs.queue.postgres.waking import wake
from jobs.queue.rows import HELD, add_error, decode_errors

_SETTLE = """
    UPDATE memsyncd_jobs SET state = %(state)s, head = %(head)s, attempts = %(attempts)s, crashes = 0,
        cools = %(cools)s, not_before = %(not_before)s, reason = %(reason)s, errors = %(errors)s,
        sealed = coalesce(%(sealed)s, sealed), claim_worker = NULL, claim_expires = NULL, claim_epoch = NULL,
        ready_since = %(ready_since)s, updated_at = %(updated_at)s
    WHERE key = %(key)s
"""

_ENDED_BEFORE = f"{SHOWN} WHERE j.key = %s AND j.claim_owner = %s AND j.state <> 'claimed'"


def finish(
    transaction: Transaction,
    taken: Claim,
    outcome: Outcome,
    worker: Worker,
    *,
    answered: bool,
    jitter: float,
    looks_first: bool,
) -> Job | None:
    """Apply a run's outcome; return the job as it then stands, None where the claim was lost.

    With `looks_first` an earlier try of this may have been committed: then nothing is done again.
    """
    codec = worker.codec
    key, lane = codec.key(taken.job.id), codec.lane(taken.job.lane)
    if looks_first and (before := transaction.row(_ENDED_BEFORE, (key, taken.owner))) is not None:
        return codec.job(before)
    verdict = policy.settle(outcome, taken.job.attempts, worker.policy, jitter)
    woken = [codec.key(each) for each in verdict.wake]
    lanes.lock(transaction, [lane, *_lanes_of(transaction, woken), *(codec.lane(new.lane) for new in verdict.enqueue)])
    row = claiming.held(transaction, taken, worker)
    if row is None:
        return None
    cooled = _tell_destinations(transaction, row, verdict, worker, answered=answered, jitter=jitter)
    holds = cooled is not None and cooled.name == row["destination"]
    not_before = row["now"] + verdict.delay if verdict.state is JobState.WAITING else None
    if cooled is not None and not holds:
        not_before = cooled.until
    if woken:
        wake(transaction, woken)
    if verdict.ends and lane is not None:
        _end(transaction, codec.key(verdict.ends), lane, verdict.reason, worker)
    settled = _settle(transaction, row, taken, verdict, worker, not_before=not_before)
    if row["held_probe"] == key:
        cooling.end_probes(transaction, [key])
    lanes.touch(transaction, lane)
    if verdict.enqueue:
        enqueue(transaction, verdict.enqueue, codec, account=row["account"], host=row["host"])
    if verdict.wake_lane and lane is not None:
        waiting = transaction.rows(
            "SELECT key FROM memsyncd_jobs WHERE lane = %s AND state = 'waiting' ORDER BY key FOR UPDATE", (lane,)
        )
        wake(transaction, [each["key"] for each in waiting])
    if cooled is None or not holds or cooled.until is None:
        return settled
    return replace(settled, state=JobState.WAITING, not_before=cooled.until, reason=HELD + cooled.why)


def _lanes_of(transaction: Transaction, keys: Sequence[bytes]) -> list[bytes | None]:
    """Return the lanes of jobs, which never change."""
    if not keys:
        return []
    return [row["lane"] for row in transaction.rows("SELECT lane FROM memsyncd_jobs WHERE key = ANY (%s)", (keys,))]


def _tell_destinations(
    transaction: Transaction, row: Row, verdict: Verdict, worker: Worker, *, answered: bool, jitter: float
) -> Destination | None:
    """Let the run's own destination know of its answer, and the one that failed it of that; return the latter as it
    then is. As few rows are locked as may be, for others wait for them: none where all goes well."""
    own = (row["account"], row["destination"])
    failed = None if verdict.cool is None else (row["account"], verdict.cool.destination)
    places = {own} if row["held_probe"] == row["key"] or (answered and _is_news(row)) else set()
    if failed is not None:
        cooling.know(transaction, [failed])
        places.add(failed)
    found = cooling.lock(transaction, places)
    run_epoch = int(row["claim_epoch"])
    if answered and own in found:
        run_epoch = cooling.answered(transaction, found[own], run_epoch)
    if verdict.cool is None or failed is None:
        return None
    return cooling.cool(
        transaction,
        cooling.lock(transaction, [failed])[failed],  # the answer may have just changed it
        verdict.cool,
        worker.policy,
        epoch=run_epoch if failed == own else None,
        jitter=jitter,
    )


def _is_news(row: Row) -> bool:
    """Whether an answer changes what is known of a destination."""
    told_at = row["last_success_at"]
    return row["held_until"] is not None or told_at is None or abs(row["now"] - told_at) >= SUCCESS_SECONDS


def _end(transaction: Transaction, key: bytes, lane: bytes, reason: str, worker: Worker) -> None:
    """End a waiting job of the lane whose work another one did; it is told of after the commit."""
    row = transaction.row(
        "UPDATE memsyncd_jobs SET state = 'done', head = false, crashes = 0, cools = 0, not_before = NULL, reason = %s,"  # noqa: S608  (our own columns)
        f" updated_at = memsyncd_now() WHERE key = %s AND lane = %s AND state = 'waiting' RETURNING {COLUMNS}",
        (rows.text(reason), key, lane),
    )
    if row is not None:
        transaction.settled.append((worker.codec.shown(row, None, ""), Done(reason)))


def _settle(
    transaction: Transaction, row: Row, taken: Claim, verdict: Verdict, worker: Worker, *, not_before: float | None
) -> Job:
    """Write down how the job stands; return that, its destination aside."""
    job, now = taken.job, row["now"]
    state = verdict.state if not_before is None else JobState.WAITING
    errors = row["errors"]
    if verdict.error:
        errors = add_error(errors, now, verdict.error)
    ready = state is JobState.READY
    reason = rows.text(verdict.reason)
    transaction.claimable += ready and row["lane"] is None
    transaction.send(
        _SETTLE,
        {
            "key": row["key"],
            "state": str(state),
            "head": ready and row["lane"] is None,
            "attempts": verdict.attempts,
            "cools": 0 if verdict.cool is None else row["cools"] + 1,
            "not_before": not_before,
            "reason": reason,
            "errors": errors,
            "sealed": None if verdict.payload is None else worker.codec.seal(job.id, job.lane, verdict.payload),
            "ready_since": now if ready else None,
            "updated_at": now,
        },
    )
    if not_before is not None:
        transaction.put_off(max(not_before - now, 0.0))
    if state is JobState.DEAD:
        transaction.counted["jobs_dead"] += 1
    return replace(
        job,
        state=state,
        payload=job.payload if verdict.payload is None else verdict.payload,
        not_before=not_before,
        attempts=verdict.attempts,
        crashes=0,
        reason=reason,
        errors=decode_errors(errors),
        updated_at=now,
    )
