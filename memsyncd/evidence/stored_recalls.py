"""The part of an evidence store that holds what sessions were shown."""

from __future__ import annotations

from collections.abc import Sequence

from memsyncd.clock import rfc3339
from memsyncd.evidence import retrievals
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.retrievals import Recalled, Shown
from memsyncd.evidence.stored import Stored


class StoredRecalls(Stored):
    """Recalls and what they showed. Of a store of ours."""

    def recalled(self, session_id: str) -> Recalled:
        """Return what the session was shown, and whether its first prompt was searched for. Of a store of ours."""
        with self._database.reading() as connection:
            return retrievals.recalled(connection, self._database.shape, clean(session_id))

    def record_recall(self, operation: Operation, shown: Sequence[Shown] = ()) -> None:
        """Keep that a first prompt was searched for, and what its session is about to be shown, in one transaction."""
        with self._database.writing(durable=False) as connection:
            retrievals.record(connection, self._database.shape, operation, shown, self._database.clock.wall())

    def tell_subagent(self, session: tuple[str, str], agent: tuple[str, str], *, characters: int) -> bool:
        """Note that a subagent (id, type) of a session (id, repository) is given a context; False where it had one."""
        names = (clean(session[0]), clean(session[1])), (clean(agent[0]), clean(agent[1]))
        with self._database.writing(durable=False) as connection:
            now = rfc3339(self._database.clock.wall())
            return retrievals.tell_subagent(connection, *names, characters=characters, now=now)
