"""What the daemon tells of its work: kinds, counts, seconds and labels, never anybody's text (facts 12.2 to 12.9).

Each event goes into the telemetry spool of the spool it is about; what is about none, or about one that is not ours,
goes into the data directory's, so that all of it can be discarded.
"""

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from daemon.intake.spool import Spool
from jobs.delivery import CHECKPOINT, FLUSH
from jobs.job import Job, JobState
from jobs.queue.contract import JobQueue
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import NewEvent
from memsyncd.evidence.store import EvidenceStore
from memsyncd.telemetry.labels import error_label
from memsyncd.telemetry.lifecycle import Lifecycle
from memsyncd.telemetry.recorder import Recorder

HARNESS = "memsyncd"
"""Of what is about no coding agent (facts 12.8)."""

SESSION_START = "session_start"
"""The kind of event with which a harness tells that a session begins (memsyncd.hooks.record)."""

ENDS = frozenset({"session-end", "idle"})
"""The reasons of checkpoints that end a session."""

LOOKED_THROUGH = 100
"""Of a session's checkpoints, the last ones, among which the same end may be."""

_STATUS = re.compile(r"\((?P<status>[1-5]\d\d)(?=[):])")
"""An HTTP status as errors of a platform tell it (memsyncd.platforms.refusals)."""

_EXTRACTION = (
    ("the extraction took longer", "timeout"),
    ("extraction failed", "extraction-failed"),
    ("extraction missing", "extraction-missing"),
    ("crashed the worker", "crashed"),
)

NewRecorder = Callable[[Path, str], Recorder]
"""Makes the recorder of a directory and a harness."""


def failure_label(why: str) -> str:
    """Return the label of a job's end: the HTTP status' own (facts 12.9), or a word of ours. Pure."""
    for begin, label in _EXTRACTION:
        if begin in why:
            return label
    match = _STATUS.search(why)
    return error_label(status=int(match["status"])) if match else "other"


class Recording:
    """Safe from any thread; nothing of it raises. Once `is_refused`, it records nothing more."""

    def __init__(
        self,
        data: Path,
        *,
        new_recorder: NewRecorder,
        spool: Callable[[str], Spool],
        store: Callable[[str], EvidenceStore],
        queue: JobQueue,
        clock: Clock,
    ) -> None:
        self._data = data
        self._new_recorder = new_recorder
        self._spool = spool
        self._store = store
        self._queue = queue
        self._clock = clock
        self._lock = threading.Lock()
        self._recorders: dict[tuple[Path, str], Recorder] = {}
        self.is_refused = False

    def started(self, lifecycle: Lifecycle, properties: Mapping[str, Any]) -> None:
        """Tell that the daemon runs, and once a machine and version that it was installed or upgraded."""
        told = {**properties, "system": sys.platform, "python": "{}.{}".format(*sys.version_info)}
        due = lifecycle.due()
        if due and not self._record(None, due, told):
            lifecycle.release()
        self._record(None, "daemon_started", told)

    def stored(self, spool: Spool, events: Sequence[NewEvent]) -> None:
        """Tell of the sessions that begin with newly recorded events."""
        for event in events:
            if event.kind == SESSION_START:
                self._record(spool, "session_started", {}, event.scope.repo_id, event.session_id)

    def job_over(self, job: Job) -> None:
        """Tell of a packet that was delivered or refused, and of a session that ended; of no other job."""
        if job.state not in (JobState.DONE, JobState.DEAD) or job.kind not in (FLUSH, CHECKPOINT):
            return
        # its spool is served no more, or that or the queue cannot be read
        with contextlib.suppress(KeyError, EvidenceError, QueueError):
            spool = self._spool(str(job.payload["spool"]))
            store = self._store(spool.name)
            if job.kind == FLUSH:
                self._flush_over(job, spool, store)
            elif job.payload.get("reason") in ENDS and not self._is_told(job):
                self._session_over(job, spool, store)

    def _is_told(self, job: Job) -> bool:
        """Whether another checkpoint has told of this end: a hook tells it, and so does the silence before or the
        process's end after it. They are of one end where nothing was recorded in between."""
        until = job.payload.get("until")
        others = self._queue.jobs(kind=CHECKPOINT, lane=job.lane, limit=LOOKED_THROUGH) if until else ()
        return any(
            each.id != job.id
            and each.state in (JobState.DONE, JobState.DEAD)
            and each.payload.get("reason") in ENDS
            and each.payload.get("until") == until
            for each in others
        )

    def _flush_over(self, job: Job, spool: Spool, store: EvidenceStore) -> None:
        packet = store.packet(str(job.payload["packet"]))
        if packet is None:
            return
        told = {"reason": packet.reason, "attempts": packet.attempts, "seconds": self._seconds(job)}
        if job.state is JobState.DEAD:
            name, told["failure"] = "flush_refused", failure_label(job.reason)
        elif packet.slots:
            name, told["batches"] = "flush_delivered", len(packet.slots)
        else:
            return  # without dialogue nothing was sent
        self._record(spool, name, told, packet.repo_id, packet.session_id)

    def _session_over(self, job: Job, spool: Spool, store: EvidenceStore) -> None:
        session = str(job.payload["session"])
        scope = store.scope(session)
        told = {"reason": job.payload["reason"], "packets": len(job.payload.get("packets", ()))}
        self._record(spool, "session_ended", told, scope.repo_id if scope else "", session)

    def _seconds(self, job: Job) -> float:
        """Return how long a job took from its queueing, in seconds; 0 where the clock went back."""
        return round(max(0.0, self._clock.age(job.created_at)), 3)

    def _record(
        self, spool: Spool | None, name: str, properties: Mapping[str, Any], repo_id: str = "", session_id: str = ""
    ) -> bool:
        if self.is_refused:
            return False
        place = spool.path if spool is not None and spool.own else self._data
        harness = spool.harness if spool is not None else HARNESS
        with self._lock:
            if (place, harness) not in self._recorders:
                self._recorders[place, harness] = self._new_recorder(place, harness)
            recorder = self._recorders[place, harness]
        return recorder.record(name, properties, repo_id=repo_id, session_id=session_id)
