"""What a search found, and who answered it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms.metadata import bounded
from memsyncd.platforms.platform import Memory

LOCAL_INDEX = "local-index"
"""The source of an answer from what this machine remembers of a platform that is away."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`source` is the platform's kind (`local`, `mem0`, `mem0-server`) or LOCAL_INDEX. `why` is a sentence, and empty
    only where the platform itself answered: it tells why nobody could, or why the local index did in its place.

    A search that failed has not `succeeded`; it is never an empty success (facts 7.15, 8.6).
    """

    succeeded: bool
    source: str
    memories: Sequence[Memory] = ()
    why: str = ""

    def document(self) -> dict[str, Any]:
        """Return CONTRACT's search shape."""
        return {
            "succeeded": self.succeeded,
            "source": self.source,
            "memories": [memory_document(memory) for memory in self.memories],
            "why": self.why,
        }


def memory_document(memory: Memory) -> dict[str, Any]:
    """Return one memory in CONTRACT's search shape."""
    return {
        "id": memory.id,
        "memory": memory.memory,
        "category": memory.category,
        "score": memory.score,
        "created_at": memory.created_at,
        "metadata": dict(bounded(memory.metadata)),
    }
