"""Whether a prompt is searched for, and what of the answer is new. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsyncd.evidence.retrievals import Recalled, Shown
from memsyncd.lifecycle.recall import Outcome
from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import branch_label, words
from memsyncd.recall.cutting import whole

MAX_QUERY = 6_000
"""Characters of a prompt that are searched for (facts 7.3)."""

MEMORIES = 5
"""Asked for at a first prompt while `recall.top_k` has its default (facts 7.4; 7.12 is of explicit searches)."""


def refused(prompt: str, known: Recalled, *, was_short: bool | None, min_characters: int) -> Outcome | None:
    """Return why a prompt is not searched for, None where it is.

    It is while no search has succeeded for its session: one that failed, or a daemon that was down, uses nothing up
    (facts 7.2 have it otherwise). A first prompt that was too short does: it was that session's chance. Whether it
    was tells the evidence, or `was_short` (None: no prompt was seen) where the first prompt is not recorded yet.
    """
    if len(prompt) < min_characters:
        return Outcome.NOT_ASKED
    if known.first_prompt is not None:
        was_short = len(known.first_prompt.strip()) < min_characters
    return Outcome.SPENT if known.is_answered or was_short else None


def query(prompt: str) -> str:
    """Return what of a prompt is searched for."""
    return prompt[: whole(prompt, MAX_QUERY)]


@dataclass(frozen=True, slots=True)
class News:
    """Memories a session has not been shown; how many were found, and how many of them it had been shown."""

    memories: Sequence[Memory]
    matched: int
    already_shown: int


def news(found: Iterable[Memory], known: Recalled) -> News:
    """Return what is new to a session among what was found, each once, in the platform's order (facts 7.6, 7.8)."""
    matched: dict[str, Memory] = {}
    for memory in found:
        if memory.memory.strip():
            matched.setdefault(key(memory), memory)
    old = {each.memory_id for each in known.shown}
    new = [memory for name, memory in matched.items() if name not in old]
    return News(new, len(matched), len(matched) - len(new))


def key(memory: Memory) -> str:
    """Return what tells a memory again: its id, or where a platform gave none, its words."""
    return memory.id or memory.memory


def shown(memories: Iterable[Memory]) -> list[Shown]:
    """Return what is kept of memories that were shown: their words with the branch, as a subagent is told them."""
    return [
        Shown(key(memory), words(memory.memory) + branch_label(memory.metadata.get("branch")), rank, memory.score)
        for rank, memory in enumerate(memories, start=1)
    ]
