"""Procedural memory in this process."""

from dataclasses import dataclass

from memsyncd.agent_state.procedure import Procedure, decode_procedure, encode_procedure, procedure_words
from memsyncd.agent_state.words import words_of


@dataclass(slots=True)
class _Kept:
    body: str
    words: frozenset[str]
    success_count: int
    failure_count: int

    def procedure(self) -> Procedure:
        return decode_procedure(self.body, {"success_count": self.success_count, "failure_count": self.failure_count})


class InMemoryProceduralMemory:
    """A ProceduralMemory without a file."""

    def __init__(self) -> None:
        self._procedures: dict[str, _Kept] = {}

    async def store(self, procedure: Procedure) -> None:
        """Keep a procedure, in place of the one with its id, counts included. Raises NotJson."""
        self._procedures[procedure.id] = _Kept(
            encode_procedure(procedure), procedure_words(procedure), procedure.success_count, procedure.failure_count
        )

    async def suggest(self, query: str, *, top_k: int = 3) -> list[Procedure]:
        """Return those that share words with `query`, by the number of shared words plus the success rate.

        Of equals, the one that succeeded more often comes first, then the one stored first.
        """
        words = words_of(query)
        found = [
            (shared, kept.procedure()) for kept in self._procedures.values() if (shared := len(kept.words & words))
        ]
        found.sort(key=lambda item: (item[0] + item[1].success_rate, item[1].success_count), reverse=True)
        return [procedure for _, procedure in found[: max(top_k, 0)]]

    async def record_outcome(self, proc_id: str, *, success: bool) -> None:
        """Count one use; nothing happens where there is no such procedure."""
        kept = self._procedures.get(proc_id)
        if kept is not None:
            kept.success_count += success
            kept.failure_count += not success

    async def get(self, proc_id: str) -> Procedure | None:
        """Return one, or None."""
        kept = self._procedures.get(proc_id)
        return kept.procedure() if kept else None

    async def count(self) -> int:
        """Return how many are kept."""
        return len(self._procedures)
