"""The evidence store of a spool: what happened, which of it is in a packet, and how far each packet has come.

Every method is one short transaction and is safe from any thread. All raise EvidenceError, and those that write raise
ReadOnlyStore where `read_only` is set. Packet state is written in the form existing plugins use, so one of theirs and
we may serve the same file at the same time. Times given are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence import flush_sightings, operations, reading
from memsyncd.evidence.database import Database
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.stored_events import StoredEvents
from memsyncd.evidence.stored_leavings import StoredLeavings
from memsyncd.evidence.stored_packets import StoredPackets
from memsyncd.evidence.stored_recalls import StoredRecalls


def _app_only(app_id: str, repo_id: str) -> str:  # noqa: ARG001  (the signature is that of a ProjectOf)
    return app_id


class EvidenceStore(StoredEvents, StoredPackets, StoredRecalls, StoredLeavings):
    """One spool's evidence. Use `open`."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        own: bool,
        clock: Clock,
        project_id_of: reading.ProjectOf = _app_only,
        counters: Counters | None = None,
    ) -> EvidenceStore:
        """Open the store at `path`: ours (`own`) is created where there is none, a plugin's never is.

        `project_id_of` gives the project id of an app id and a repository id, where the file does not hold it.
        Raises NewerSchema for a file from a newer version, FileNotFoundError for a plugin's that is not there, and
        the other EvidenceErrors. One of ours that is damaged is set aside and a new one begun; `problem` tells.
        """
        database = Database(path, own=own, clock=clock, counters=counters or Counters())
        return cls(database, project_id_of=project_id_of)

    def record_operation(self, operation: Operation) -> bool:
        """Add a line to the operation log; False where the file has none."""
        with self._database.writing() as connection:
            return operations.record(connection, self._database.shape, operation, self._database.clock.wall())

    def note_flushes(self, seen: Mapping[str, float]) -> None:
        """Keep when hooks last asked for a flush, by its reason, and since when that is watched. Of a store of ours."""
        with self._database.writing(durable=False) as connection:
            now = rfc3339(self._database.clock.wall())
            flush_sightings.note(connection, {reason: rfc3339(at) for reason, at in seen.items()}, now)

    def counts(self) -> dict[str, int]:
        """Return the rows by name: `events`, `unflushed`, `packets`, `packets_open`, `packets_shared` (in a shared
        queue, their end not known yet), `packets_gave_up`."""
        return dict(self._remembered("counts", reading.counts))

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it back; waits for nobody."""
        self._database.checkpoint()

    def integrity(self) -> str | None:
        """Return what is wrong with the file's structure, or None. Reads all of it: seconds for a large one."""
        return self._database.integrity()

    def close(self) -> None:
        """Release the file."""
        self._database.close()
