"""Procedures: sequences of tool calls that worked, and the memory that suggests them (facts, hooks-and-apis 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

from memsyncd.agent_state.encoding import decode, encode
from memsyncd.agent_state.words import words_of


@dataclass(frozen=True)
class ProcedureStep:
    """One call of a tool."""

    tool_name: str
    args_template: dict[str, str] = field(default_factory=dict)
    expected_outcome: str = ""


@dataclass(frozen=True)
class Procedure:
    """Steps that reached a goal; `trigger` says when to think of them."""

    id: str
    name: str
    description: str
    trigger: str
    steps: tuple[ProcedureStep, ...] = ()
    success_count: int = 0
    failure_count: int = 0
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def total_uses(self) -> int:
        """How often it was used."""
        return self.success_count + self.failure_count

    @property
    def success_rate(self) -> float:
        """The share of its uses that succeeded, 0 to 1; 0.0 when unused."""
        return self.success_count / self.total_uses if self.total_uses else 0.0


@runtime_checkable
class ProceduralMemory(Protocol):
    """Keeps procedures and how they fared."""

    async def store(self, procedure: Procedure) -> None:
        """Keep a procedure, in place of the one with its id, counts included."""

    async def suggest(self, query: str, *, top_k: int = 3) -> list[Procedure]:
        """Return those that share words with `query`, by the number of shared words plus the success rate."""
        ...

    async def record_outcome(self, proc_id: str, *, success: bool) -> None:
        """Count one use; nothing happens where there is no such procedure."""

    async def get(self, proc_id: str) -> Procedure | None:
        """Return one, or None."""
        ...

    async def count(self) -> int:
        """Return how many are kept."""
        ...


def encode_procedure(procedure: Procedure) -> str:
    """Return a procedure as JSON, without its counts, which change by themselves. Raises NotJson."""
    values = {item.name: getattr(procedure, item.name) for item in fields(Procedure)}
    del values["success_count"], values["failure_count"]
    names = [item.name for item in fields(ProcedureStep)]
    return encode({**values, "steps": [{name: getattr(step, name) for name in names} for step in procedure.steps]})


def decode_procedure(body: str, counts: Mapping[str, int]) -> Procedure:
    """Return the procedure that was encoded, with the counts it has now."""
    values = decode(body)
    steps = tuple(ProcedureStep(**step) for step in values["steps"])
    return Procedure(**{**values, **counts, "steps": steps, "tags": tuple(values["tags"])})


def procedure_words(procedure: Procedure) -> frozenset[str]:
    """Return the words a procedure is suggested by."""
    return words_of(procedure.trigger, procedure.name, procedure.description, *procedure.tags)
