"""What a host learns from a recall."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memsyncd.platforms.platform import Memory


class Outcome(StrEnum):
    """How a recall ended. Only FOUND has a text."""

    FOUND = "found"
    NOTHING_NEW = "nothing new"
    NO_ROOM = "no room"
    DISABLED = "disabled"
    NOT_ASKED = "not asked"
    SPENT = "spent"
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a prompt. `str(recall)` is its text.

    `text` is for the agent, "" unless FOUND; `memories` are those it holds, in order. `matched` counts what the search
    found, `already_shown` how many of these the session had seen. `reason` says why there is none, in words without
    secrets. `session` numbers the lifecycle's sessions.
    """

    outcome: Outcome
    text: str = ""
    memories: Sequence[Memory] = ()
    matched: int = 0
    already_shown: int = 0
    reason: str = ""
    session: int = 0

    def __str__(self) -> str:
        return self.text
