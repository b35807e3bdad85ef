"""What was given up, each thing once: a packet, the job that saw to it and the handoff that asked for it are one loss.

Pure but for asking the queue.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from daemon.intake.spool import Spool
from daemon.status.parts import GivenUp
from jobs.delivery import CHECKPOINT, FLUSH, flush_job_id
from jobs.forgetting import FORGET
from jobs.job import Job, JobState

LOOKED_AT = 500
"""Dead jobs looked at one by one; of more than these only the number is told, for a status has to be cheap."""

AskJobs = Callable[..., Sequence[Job]]
"""The queue's `jobs`, of the daemon's or of its file."""


def given_up(ask: AskJobs, number: int, spools: Iterable[Spool]) -> GivenUp:
    """Look at the dead jobs, `number` as the queue counts them, of the spools that are served."""
    if not number:
        return GivenUp()
    if number > LOOKED_AT:
        return GivenUp(jobs=number)
    paths = {spool.name: str(spool.path) for spool in spools}
    return sorted_out(ask(state=JobState.DEAD, kind="", lane="", limit=LOOKED_AT), paths)


def sorted_out(dead: Sequence[Job], paths: Mapping[str, str]) -> GivenUp:
    """Count the dead jobs; `paths` are the spools' by their names.

    A checkpoint is no loss of its own where it was given up for its packets.
    """
    packets = {job.id for job in dead if job.kind == FLUSH}
    others = sum(job.kind != FLUSH and packets.isdisjoint(_flushes(job)) for job in dead)
    kept = Counter(paths.get(str(job.payload.get("spool")), "") for job in dead if job.payload.get("handoff"))
    return GivenUp(len(packets), others, dict(kept))


def forgetting(ask: AskJobs) -> int:
    """Return how many requests to forget wait to look for late memories on the platform once more."""
    return len(ask(state=JobState.WAITING, kind=FORGET, lane="", limit=LOOKED_AT))


def _flushes(job: Job) -> Sequence[str]:
    if job.kind != CHECKPOINT:
        return ()
    spool = str(job.payload.get("spool", ""))
    return [flush_job_id(spool, str(packet)) for packet in job.payload.get("packets", ())]
