"""A memory file, and what is told to it."""

from collections import Counter
from contextlib import closing
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.platforms.local import schema
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message, Query

YESTERDAY = Path(__file__).parents[3] / "fixtures" / "yesterday" / "memory_with_notes.sqlite3"
"""Made by the code of commit 64d1249: the words of some scripts were other ones then."""

NOW = "2026-12-01T00:00:00.000Z"
FACT = "We decided that the zanzibar bucket holds the invoices."


class Store:
    """One file, and what is told to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.platform = LocalPlatform(path, Clock())

    def tell(self, session: str, text: str = FACT, app: str = "tool", *, carry_out: bool = True) -> None:
        messages = [Message("user", text), Message("assistant", "Noted.")]
        batch = Batch(f"p-{session}", 0, messages, "ada", app, f"{app}-1", session, {})
        accepted = self.platform.add(batch)
        if carry_out:
            self.platform.extraction(accepted.event_id)

    def found(self, app: str = "tool") -> list[str]:
        query = Query("Where are the invoices, in which bucket?", "ada", app, (f"{app}-1",))
        return [memory.memory for memory in self.platform.search(query)]

    def holds(self, word: bytes) -> bool:
        files = (self.path, Path(f"{self.path}-wal"))
        return any(word in file.read_bytes() for file in files if file.exists())


def assert_index_is_whole(path: Path) -> None:
    """Hold that the index is in step with the rows, and that each term is counted as often as it is said."""
    with closing(schema.open_store(path)) as connection:
        connection.execute("INSERT INTO memory_index(memory_index, rank) VALUES('integrity-check', 1)")
        said = connection.execute(
            "SELECT words, parts, grams, context, scope FROM memories WHERE superseded_by = ''"
        ).fetchall()
        counted = Counter(term for row in said for term in set(" ".join(row).split()))
        assert dict(connection.execute("SELECT term, documents FROM terms")) == counted
