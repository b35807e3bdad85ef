"""The part of an evidence store by which things leave it: forgotten, or grown old."""

from __future__ import annotations

from collections.abc import Sequence

from memsyncd.evidence import deleting, retiring
from memsyncd.evidence.deleting import Belongings, Whose
from memsyncd.evidence.stored import Stored


class StoredLeavings(Stored):
    """Forgetting and retention, and the space that both give back."""

    def belongings(self, whose: Whose) -> Belongings:
        """Return what the file holds of a session or a repository."""
        with self._database.reading() as connection:
            return deleting.belongings(connection, self._database.shape, whose)

    def forget(self, whose: Whose) -> dict[str, int]:
        """Delete what the file holds of it; return how many rows of each table went. The bytes go from the pages, and
        with `give_back_space` the pages from the file."""
        with self._database.reading() as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()
        with self._database.writing() as connection:
            return deleting.delete(connection, self._database.shape, whose, own=self.own)

    def count_shown(self, memory_ids: Sequence[str], but: Whose) -> int:
        """Return how often these memories were shown to other sessions than `but`'s."""
        with self._database.reading() as connection:
            return deleting.count_shown(connection, self._database.shape, memory_ids, but)

    def forget_shown(self, memory_ids: Sequence[str]) -> int:
        """Delete the words these memories were shown in, whatever session it was; return how many went."""
        with self._database.reading() as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()
        with self._database.writing() as connection:
            return deleting.delete_shown(connection, self._database.shape, memory_ids)

    def give_back_space(self) -> None:
        """Write the file anew without what was deleted: some seconds for a large one. Raises EvidenceError where
        another program is at it."""
        with self._database.reading() as connection:
            if not self.read_only:
                deleting.give_back_space(connection)

    # Growing old

    def delivered(self, before: str, limit: int) -> Sequence[str]:
        """Return the ids of up to `limit` packets confirmed before that time (RFC 3339). Of a store of ours."""
        with self._database.reading() as connection:
            return retiring.due(connection, before, limit)

    def retire(self, packet_id: str, before: str) -> int:
        """Delete such a packet and its events, for good and all at once; return how many events went."""
        with self._database.writing(durable=False) as connection:
            return retiring.retire(connection, packet_id, before)

    def retire_logs(self, before: str) -> int:
        """Delete some hundred lines of recalls and operations from before that time; return how many went."""
        with self._database.writing(durable=False) as connection:
            return retiring.retire_logs(connection, before)

    def shrink(self, pages: int) -> bool:
        """Give up to `pages` free pages back to the file system; True while there are more."""
        with self._database.reading() as connection:
            return not self.read_only and retiring.shrink(connection, pages)
