"""A transcript read in whatever pieces it comes: from bytes to turns and exchanges. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from memsyncd.transcripts.dialogue import Dialogue
from memsyncd.transcripts.lines import Lines
from memsyncd.transcripts.turn import Exchange, Step, Turn

Format = Callable[[Mapping[str, Any]], Iterable[Step]]
"""The steps that one line of a format tells. It keeps no state and raises nothing, whatever the line holds."""


class Reader:
    """Reads one transcript from `offset` on, which must be where a line begins."""

    def __init__(self, steps_of: Format, offset: int = 0) -> None:
        self._steps_of = steps_of
        self._lines = Lines(offset)
        self._dialogue = Dialogue()

    def feed(self, content: bytes) -> None:
        """Read on."""
        for start, record in self._lines.feed(content):
            for step in self._steps_of(record):
                self._dialogue.take(step, start)

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns that stand so far."""
        return self._dialogue.turns

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The same by exchange; the last one may go on."""
        return self._dialogue.exchanges()

    @property
    def offset(self) -> int:
        """The place up to which whole lines were read."""
        return self._lines.offset

    @property
    def is_torn(self) -> bool:
        """Whether the last line has no end yet."""
        return self._lines.is_torn

    @property
    def lines_passed_over(self) -> int:
        """How many lines were no JSON objects or too long."""
        return self._lines.unreadable + self._lines.oversized
