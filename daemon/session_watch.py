"""Sessions with unsent evidence: watched until they end, and then their checkpoints are queued."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from daemon.compose import Parts
from daemon.intake.sessions import Ended
from daemon.intake.spool import Spool
from daemon.intake.untold_end import leave_end
from jobs.recovery import is_seen_to, session_over
from memsyncd.clock import from_rfc3339
from memsyncd.evidence.event import SessionActivity
from memsyncd.evidence.store import EvidenceStore


class SessionWatch:
    """`look` is called on the thread that owns the spools, `end` beside it. Both raise OSError, EvidenceError and
    QueueError, and are called again then."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._evidence_seen: set[str] = set()

    def look(self, spool: Spool, store: EvidenceStore, *, by_events: bool = False) -> None:
        """Watch over the sessions with unsent evidence that no job of theirs will see to: a scan is the truth, so
        nothing rests in memory alone. With `by_events` also those that are watched, by the age of their events."""
        parts = self._parts
        if not store.own:
            return
        is_new = spool.name not in self._evidence_seen
        for activity in store.sessions_with_unflushed():
            name = activity.session_id
            known = parts.sessions.knows(spool.name, name)
            if by_events or not (known or is_seen_to(spool.name, name, parts.delivery)):
                parts.sessions.moved(spool.name, name, str(activity.last_event_id), at=self._moved_at(activity))
            if is_new:
                parts.ingest.checkpoint_if_due(spool, store, name)  # its answer's commit was our last deed
        self._evidence_seen.add(spool.name)

    def _moved_at(self, activity: SessionActivity) -> float:
        """Return the monotonic time of a session's last event."""
        now, last = self._parts.clock.monotonic(), from_rfc3339(activity.last_event_at)
        return now if last is None else now - max(0.0, self._parts.clock.age(last))

    def keep_spools(self, names: AbstractSet[str]) -> None:
        """Forget the spools that are not among `names`: should one come back, it is looked at as for the first time."""
        self._evidence_seen &= names

    def over(self) -> Mapping[str, list[Ended]]:
        """Return which sessions have ended, by the served spool. Those of other spools are let go: should one come
        back, so do its sessions."""
        parts = self._parts
        found: dict[str, list[Ended]] = {spool.name: [] for spool in parts.served.spools()}
        for ended in parts.sessions.over(parts.clock.monotonic()):
            if ended.spool in found:
                found[ended.spool].append(ended)
            else:
                parts.sessions.told(ended)
        return found

    def end(self, spool_name: str, over: Sequence[Ended]) -> None:
        """Queue the checkpoints of ended sessions; each is forgotten only once its own is in the queue. Of a spool that
        is served no more since `over` nothing is, and `over` lets them go."""
        parts = self._parts
        try:
            spool, store = parts.served.spool(spool_name), parts.served.store(spool_name)
        except KeyError:
            return
        for ended in over:
            is_left = leave_end(ended, spool, store, parts.clock)
            if is_left or session_over(spool_name, ended.session_id, ended.why, parts.delivery):
                parts.journal.note("session-over", spool=spool_name, why=ended.why)
            parts.sessions.told(ended)
