"""The queue from its file, while no daemon runs. Reading changes no byte of it.

`retry` and `discard` do write: they hold the daemon's lock for the moment, so that no daemon starts in between.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon import lock
from daemon.intake.spool import Spool
from daemon.places import Places
from daemon.status import snapshot
from daemon.status.job_document import job_document
from jobs.job import JobState
from jobs.queue import schema as queue_schema
from jobs.queue.errors import NewerSchema, QueueError
from jobs.queue.reading import Reader
from jobs.recovery import retry_by_person

if TYPE_CHECKING:
    from jobs.queue.sqlite_queue import SqliteQueue


def offline_jobs(places: Places, *, state: str = "", kind: str = "", limit: int = 100) -> dict[str, Any]:
    """Return CONTRACT's `{"jobs": […]}`. Raises snapshot.NotADatabaseError where the queue cannot be read."""
    with reader(places.queue_file) as queue:
        found = queue.jobs(state=JobState(state) if state else None, kind=kind, lane="", limit=limit) if queue else ()
        return {"jobs": [job_document(job) for job in found]}


def offline_job(places: Places, job_id: str) -> dict[str, Any] | None:
    """Return one job, None where there is none. Raises as `offline_jobs`."""
    with reader(places.queue_file) as queue:
        job = queue.get(job_id) if queue else None
        return None if job is None else job_document(job)


def change_jobs(places: Places, spools: Sequence[Spool], verb: str, job_ids: Sequence[str]) -> dict[str, str]:
    """`retry` or `discard` jobs; return for each why it was refused, empty where done.

    The handoff that was kept in one of the `spools` for a job goes the job's way: back to wait, or away. Raises
    lock.AlreadyRunning, and snapshot.NotADatabaseError where the queue cannot be used.
    """
    if not places.queue_file.exists():
        return dict.fromkeys(job_ids, "there is no such job")
    held = lock.DaemonLock.acquire(places.lock_file, pid=os.getpid(), run_id=f"jobs {verb}")
    try:
        with _writable(places.queue_file) as queue:
            named = {spool.name: spool for spool in spools}
            return {job_id: _change(queue, named, verb, job_id) for job_id in job_ids}
    finally:
        held.release()


def _change(queue: "SqliteQueue", spools: Mapping[str, Spool], verb: str, job_id: str) -> str:
    job = queue.get(job_id)
    if job is None:
        return "there is no such job"
    spool, handoff = spools.get(str(job.payload.get("spool", ""))), str(job.payload.get("handoff", ""))
    if verb == "retry":
        is_so = retry_by_person(queue, job_id)
        if is_so and spool and handoff:
            spool.revive(handoff)  # the file that was kept for it waits again too
        return "" if is_so or job.state is JobState.READY else f"it is {job.state}"
    is_so = queue.discard(job_id)
    if is_so and spool and handoff:
        spool.discard(handoff)
    return "" if is_so or job.state is JobState.CANCELLED else f"it is {job.state}, not dead"


@contextlib.contextmanager
def reader(path: Path) -> Iterator[Reader | None]:
    """Give a reader of the queue's file; None where there is none, or nothing in it yet.

    Raises snapshot.NotADatabaseError, its cause NewerSchema where it is from a newer version.
    """
    try:
        if not path.exists():
            yield None
            return
        with snapshot.connected(path) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > queue_schema.VERSION:
                raise NewerSchema(path, version, queue_schema.VERSION)
            connection.row_factory = sqlite3.Row
            yield Reader(connection) if version else None
    except OSError as error:
        raise snapshot.NotADatabaseError(error.strerror or str(error)) from error
    except QueueError as error:
        raise snapshot.NotADatabaseError(str(error)) from error


@contextlib.contextmanager
def _writable(path: Path) -> "Iterator[SqliteQueue]":
    """Give the queue for changing; huey and its like are loaded for this alone. The lock has to be held."""
    from random import Random  # noqa: PLC0415  (as above, and all that follow)

    from jobs.queue.policy import Policy  # noqa: PLC0415
    from jobs.queue.sqlite_queue import SqliteQueue  # noqa: PLC0415
    from memsyncd.clock import Clock  # noqa: PLC0415
    from memsyncd.counters import Counters  # noqa: PLC0415

    try:
        queue = SqliteQueue(path, clock=Clock(), policy=Policy(), counters=Counters(), random=Random())
        try:
            yield queue
        finally:
            queue.close()
    except QueueError as error:
        raise snapshot.NotADatabaseError(str(error)) from error
