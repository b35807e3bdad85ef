"""The work of one process on the shared queue: taking jobs, settling them once, and what is in doubt meanwhile."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from jobs.job import Job
from jobs.outcomes import Outcome
from jobs.queue.claims import Claim
from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres import changing, claiming, lanes, settling
from jobs.queue.postgres.claiming import Answer, Worker
from jobs.queue.postgres.takings import Taking, Takings
from jobs.queue.postgres.transaction import Transaction
from jobs.queue.postgres.writer import Writer
from jobs.queue.shared_queue import Serves

CONTENDED_TRIES = 6
CONTENDED_SECONDS = 0.002
"""Where all that is claimable is being taken by others, it is looked again so often, after pauses that double."""


class Working:
    """Safe from any thread. `process` is unique to this run of it; `serves` tells what it takes (None: all)."""

    def __init__(
        self, writer: Writer, worker: Worker, process: str, random: Random, serves: Callable[[], Serves | None]
    ) -> None:
        self._writer = writer
        self._serves = serves
        self._worker = worker
        self._random = random
        self._takings = Takings(process)
        self._served = ""  # the account that had the last turn
        self._payloads: dict[str, Mapping[str, Any]] = {}  # that were kept since their claim, by its owner

    def claim(self) -> Claim | None:
        """Take the next job, or None where none may be taken now."""
        taking = self._takings.next()
        with self._takings.kept(taking):
            taken = self._try_to_take(taking)
        return self._took(taking, taken)

    def living(self) -> Sequence[str]:
        """Return the owners of claims that this process works on."""
        return self._takings.living()

    def finish(self, claim: Claim, outcome: Outcome, *, answered: bool = False) -> Job | None:
        """Apply a run's outcome, once; return the job as it then stands, None where the claim was lost."""
        act = self._finishing(claim, outcome, answered=answered)
        job = self._writer.run(act, lambda: self._takings.doubt_end(claim.owner))
        self.abandon(claim)
        return job

    def finish_and_claim(
        self, claim: Claim, outcome: Outcome, *, answered: bool = False
    ) -> tuple[Job | None, Claim | None]:
        """Finish, and take the next job in the same commit."""
        finishing = self._finishing(claim, outcome, answered=answered)
        taking = self._takings.next()

        def act(transaction: Transaction) -> tuple[Job | None, Answer, Claim | None]:
            job = finishing(transaction)
            lanes.reseat(transaction)
            return job, *self._take(transaction, taking, upkept=False)

        def in_doubt() -> None:
            self._takings.doubt_end(claim.owner)
            taking.in_doubt = True

        with self._takings.kept(taking):
            job, answer, taken = self._writer.run(act, in_doubt)
        self.abandon(claim)
        taken = self._took(taking, taken)
        if answer in {Answer.OVERDUE, Answer.CONTENDED}:
            try:
                return job, self.claim()
            except QueueUnavailable:
                return job, None  # the finish stands; the next claim meets the same
        return job, taken

    def keep(self, claim: Claim, payload: Mapping[str, Any]) -> bool:
        """Replace a claimed job's payload, on the disk before this returns; False where the claim was lost."""
        kept = self._writer.run(lambda transaction: changing.keep(transaction, claim, payload, self._worker))
        if kept:
            self._payloads[claim.owner] = payload
        return kept

    def unclaim(self, claims: Sequence[Claim]) -> int:
        """Give claims back as if never taken; return how many were still held."""
        given_back = self._writer.run(lambda transaction: claiming.unclaim(transaction, claims, self._worker))
        for each in claims:
            self.abandon(each)
        return given_back

    def set_aside(self, claim: Claim, why: str) -> Job | None:
        """Turn a claimed job into a dead letter without a run."""
        job = self._writer.run(lambda transaction: changing.set_aside(transaction, claim, why, self._worker))
        self.abandon(claim)
        return job

    def renew(self) -> int:
        """Extend the claims of this process's living workers to a lease from now; return how many."""
        living = self._takings.living()
        if not living:
            return 0
        return self._writer.run(lambda transaction: claiming.renew(transaction, living, self._worker.lease))

    def abandon(self, claim: Claim) -> None:
        """Stop renewing a claim whose worker is gone."""
        self._payloads.pop(claim.owner, None)
        self._takings.over(claim.owner)

    def _finishing(self, claim: Claim, outcome: Outcome, *, answered: bool) -> Callable[[Transaction], Job | None]:
        jitter = self._random.random()
        payload = self._payloads.get(claim.owner, claim.job.payload)
        taken = replace(claim, job=replace(claim.job, payload=payload))
        return lambda transaction: settling.finish(
            transaction,
            taken,
            outcome,
            self._worker,
            answered=answered,
            jitter=jitter,
            looks_first=self._takings.is_doubtful_end(claim.owner),
        )

    def _try_to_take(self, taking: Taking) -> Claim | None:
        upkept = False
        for attempt in range(CONTENDED_TRIES):
            answer, taken = self._writer.run(partial(self._take, taking=taking, upkept=upkept), taking.doubt)
            if answer is Answer.OVERDUE:
                self._keep_up()
                upkept = True
            elif answer is Answer.CONTENDED:
                time.sleep(CONTENDED_SECONDS * 2**attempt * self._random.random())
            else:
                return taken
        return None

    def _take(self, transaction: Transaction, taking: Taking, *, upkept: bool) -> tuple[Answer, Claim | None]:
        return claiming.claim(
            transaction,
            taking.owner,
            self._served,
            self._worker,
            self._serves(),
            upkept=upkept,
            looks_first=taking.in_doubt,
        )

    def _took(self, taking: Taking, taken: Claim | None) -> Claim | None:
        if taken is None:
            self._takings.over(taking.owner)
        else:
            self._served = taken.job.account
        return taken

    def _keep_up(self) -> None:
        living = self._takings.living()
        self._writer.run(lambda transaction: claiming.expire(transaction, living, self._worker))
        self._writer.run(claiming.make_due_ready)
