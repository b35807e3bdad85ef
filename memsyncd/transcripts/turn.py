"""Turns and exchanges: what is said in a transcript, and the steps by which its lines tell it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

USER = "user"
ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person or the model said. `id` is the harness's own, empty where it gives none; `at` is Unix seconds, None
    where it tells no time. A sidechain's turn is a subagent's."""

    role: str
    text: str
    id: str = ""
    at: float | None = None
    is_sidechain: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A step: a turn, or a part of one.

    A turn of an id that was there before replaces that one in its place. With a `joint` it is a part instead and goes
    to the end of its turn, behind the joint; without an id its turn is the last one, if nothing was done since. `part`
    names the part, so that one told twice is one. An `echo` tells again, in another form of line, what the turn before
    it said, unless that said something else.
    """

    turn: Turn
    joint: str | None = None
    part: str = ""
    is_echo: bool = False


@dataclass(frozen=True, slots=True)
class Worked:
    """A step: a tool was called, or the model went on otherwise. What was said before it is no final answer."""


@dataclass(frozen=True, slots=True)
class Over:
    """A step: the turn has ended; `text` is its answer where the line tells it. One `cut_short` has none."""

    text: str = ""
    at: float | None = None
    is_cut_short: bool = False


@dataclass(frozen=True, slots=True)
class Rewound:
    """A step: the turn named, and all after it, are taken back. One that is not known takes back everything, or
    nothing with `if_known`."""

    to: str
    if_known: bool = False


@dataclass(frozen=True, slots=True)
class Undone:
    """A step: the last prompts, and all after the first of them, are taken back."""

    prompts: int


@dataclass(frozen=True, slots=True)
class Branched:
    """A step, before a line's own: the line hangs on `parent` in a tree of lines, and what followed that is taken back.
    A parent that is not known, as that of a line after one that could not be read, takes back nothing."""

    id: str
    parent: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A step, after a line's own: others may hang on the line."""

    id: str


Step = Said | Worked | Over | Rewound | Undone | Branched | Linked


@dataclass(frozen=True, slots=True)
class Exchange:
    """Prompts and what was said in reply, up to the next prompt.

    `is_over` tells that the transcript calls it ended; `is_answered` that its last word is a text and no tool's work
    follows. `start` is the place of its first line, in bytes.
    """

    prompts: Sequence[Turn]
    replies: Sequence[Turn]
    is_over: bool
    is_answered: bool
    start: int

    @property
    def answer(self) -> Turn | None:
        """The final answer; None while there is none."""
        return self.replies[-1] if self.is_answered else None

    @property
    def moments(self) -> Sequence[float]:
        """When its turns were said, in Unix seconds, as far as they tell a time."""
        return [turn.at for turn in (*self.prompts, *self.replies) if turn.at is not None]

    @property
    def began_at(self) -> float | None:
        """When its first turn was said, in Unix seconds; None where no turn tells a time."""
        return next(iter(self.moments), None)

    @property
    def key(self) -> str:
        """Its name, the same in a file that was written anew: from its first turn's id, else that one's time and words,
        else the words of all its turns."""
        turns = [*self.prompts, *self.replies]
        first = turns[0]
        if first.id:
            told = [first.role, first.id]
        elif first.at is not None:
            told = [first.role, str(first.at), first.text]
        else:
            told = [part for turn in turns for part in (turn.role, turn.text)]
        return hashlib.sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()[:24]
