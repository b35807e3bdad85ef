"""Forgetting a session, a project or a memory: the tombstone first, then every copy here, then the platform's."""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from daemon.compose import Parts
from daemon.forgetting.local_copies import Found, LocalCopies
from daemon.forgetting.target import Target
from jobs import forgetting as remote
from jobs.forgetting import Forgotten, Tally
from jobs.queue.errors import QueueError
from memsyncd.evidence.event import Scope
from memsyncd.evidence.payloads import clean
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.scope.remote import shared_ids

DELETED, PARTIAL, DRY = "deleted", "partial", "refused"

FIRST_LOOK_SECONDS = 30.0
"""When the job looks on the platform that is queued before we look ourselves: only a crash leaves it the first look."""

AGAIN_SECONDS = 2.0
"""After a refusal; from then on the queue's own delays hold."""

LEFT_OVER_SECONDS = 60.0
"""A request this old that is not finished is one that failed, and none that is being carried out: what runs is waited
for a few seconds, and its scan for SETTLED_SECONDS at most."""

PROJECT_UNKNOWN = (
    "what a project's people share was not looked through: nothing here tells any more which project the session is"
    " of; `memsyncd forget --remote --include-project-memory` in its directory forgets all of the project"
)


class Forgetting:
    """Used by the threads that answer requests; one request at a time. `settled` waits until whatever was being taken
    in as it was called is stored, and tells whether it is. Without it nobody takes anything in: no daemon runs, or it
    has not begun. `on_deleted` is called for each memory that is gone from the platform."""

    def __init__(
        self,
        parts: Parts,
        settled: Callable[[], bool] | None = None,
        on_deleted: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = parts
        self._is_alone = settled is None
        self._settled = settled or (lambda: True)
        self._on_deleted = on_deleted
        self._lock = threading.Lock()

    def target(self, request: Mapping[str, Any]) -> Target:
        """Return what a request names: one of `session`, `memory` and `cwd`, its half characters replaced as in all
        that is stored."""
        parts = self._parts
        session, memory = clean(str(request.get("session") or "")), clean(str(request.get("memory") or ""))
        asked = Target(
            key=uuid.uuid4().hex[:16],
            at=parts.clock.wall(),
            session_id=session,
            memory_id=memory,
            remote=bool(request.get("remote")),
            shared=bool(request.get("include_project_memory")),
        )
        if session:
            scope = self._scope_of(session)
            return replace(asked, project_id=scope.project_id) if scope else asked
        if memory:
            return asked
        scope = parts.resolver.resolve(str(request["cwd"]))
        return replace(
            asked,
            repo_id=clean(scope.repo_id),
            app_id=clean(scope.app_id),
            project_id=clean(scope.project_id),
            root=clean(scope.root),
        )

    def summary(self, target: Target) -> dict[str, Any]:
        """Return what would go, and change nothing."""
        copies = LocalCopies(self._parts, target, is_alone=False)
        return {
            "status": DRY,
            "target": _told(target),
            "would_delete": copies.count(),
            "problems": copies.trouble,
            "elsewhere": self._is_elsewhere,
        }

    def forget(self, target: Target) -> dict[str, Any]:
        """Forget it; return CONTRACT's answer. What could not be deleted is told, and tried again.

        Raises OSError where not even the tombstone could be written: then nothing was deleted.
        """
        with self._lock:
            self._parts.tombstones.add(target)
            tally, deleted, trouble = self._carry_out(target)
        counters = self._parts.counters
        counters.add("forgotten")
        self._parts.journal.note("forgotten", target=target.kind, deleted=sum(deleted.values()))
        is_whole = tally.is_whole and not trouble
        answer = {
            "status": DELETED if is_whole else PARTIAL,
            "target": _told(target),
            "deleted": deleted,
            "failed": tally.failed + len(trouble),
            "problems": [*trouble, *tally.reasons[:5]],
            "elsewhere": self._is_elsewhere,
        }
        if target.remote:
            answer["remote"] = {"deleted": tally.deleted, "failed": tally.failed, "complete": tally.is_whole}
        return answer

    def finish(self, *, older_than: float = 0.0) -> int:
        """Finish the requests that were cut off or could not delete all; return how many. While the daemon runs, those
        `older_than` LEFT_OVER_SECONDS. Raises OSError."""
        now = self._parts.clock.wall()
        unfinished = [each for each in self._parts.tombstones.unfinished() if abs(now - each.at) >= older_than]
        for target in unfinished:
            with self._lock:
                self._carry_out(target, resumed=True)
        return len(unfinished)

    def _carry_out(self, target: Target, *, resumed: bool = False) -> tuple[Tally, dict[str, int], Sequence[str]]:
        parts = self._parts
        copies = LocalCopies(parts, target, self._is_alone, again=resumed)
        if not self._settled():
            copies.trouble.append("what was being taken in is not stored yet")
        found = copies.find()
        if parts.index is not None:
            parts.index.settle()  # what is heard from now on is of packets that were found open
        what = self._remotely(target, found)
        asks = (target.remote and self._is_elsewhere) or bool(found.open_packets)
        if asks:
            until = target.at + parts.delivery.extraction_wait_seconds
            delay = 0.0 if resumed else FIRST_LOOK_SECONDS if target.remote else 0.0
            try:
                parts.queue.enqueue(
                    remote.forget_job(target.key, what, parts.platform.destination, until=until, delay=delay)
                )
            except QueueError as error:  # what is here goes all the same
                copies.trouble.append(f"queue: {error}")
        deleted = copies.delete(found)
        if not copies.trouble:
            parts.tombstones.finish(target)
        tally = Tally()
        if target.remote and self._is_elsewhere and not resumed:
            tally = self._on_platform(target, what)
            if tally.deleted:
                deleted["remote_memories"] = tally.deleted
        return tally, deleted, copies.trouble

    def _on_platform(self, target: Target, what: Forgotten) -> Tally:
        """Make the first look, with the request waiting for it."""
        if is_wildcard(what.user_id):
            return Tally(failed=1, reasons=["wildcard-scope: the user id is a wildcard; set platform.user_id"])
        tally = remote.delete_remotely(self._parts.platform, what, now=True, on_deleted=self._deleted)
        with suppress(QueueError):  # it looks a little later then
            self._parts.queue.hasten(f"{remote.FORGET}:{target.key}", 0.0 if tally.is_whole else AGAIN_SECONDS)
        if target.shared and not target.memory_id and not target.project_id:
            tally.failed += 1
            tally.reasons.append(PROJECT_UNKNOWN)
        return tally

    def _deleted(self) -> None:
        self._parts.counters.add("remote_memories_forgotten")
        self._on_deleted()

    def _remotely(self, target: Target, found: Found) -> Forgotten:
        return Forgotten(
            user_id=self._parts.delivery.user_id(),
            at=target.at,
            everything=target.remote,
            shared=target.shared,
            session_id=target.session_id,
            memory_id=target.memory_id,
            app_id=target.app_id,
            project_id=target.project_id,
            packets=tuple(found.packets if target.remote else found.open_packets),
            legacy_id=self._legacy_id(target),
        )

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the platform keeps memories of its own, beside what is on this machine."""
        return self._parts.platform.kind != "local"

    def _legacy_id(self, target: Target) -> str:
        """Return the bare id that older versions shared the project's memories under; "" where there is none."""
        scope = self._scope_of(target.session_id) if target.session_id else None
        app_id, identity = (scope.app_id, scope.repo_id) if scope else (target.app_id, target.repo_id)
        return "".join(shared_ids(app_id, "", identity))

    def _scope_of(self, session_id: str) -> Scope | None:
        """Return where a session was; None where no evidence tells it."""
        scopes = (store.scope(session_id) for _, store in self._parts.served.stores())
        return next((scope for scope in scopes if scope is not None), None)


def _told(target: Target) -> dict[str, str]:
    return {"kind": target.kind, "id": target.root or target.name if target.kind == "project" else target.name}
