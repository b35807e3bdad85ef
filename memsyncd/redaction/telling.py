"""The two things that pass between the steps: a telling name found, and a part of the text to replace."""

from dataclasses import dataclass

from memsyncd.redaction.names import Kind
from memsyncd.redaction.replacement import REPLACEMENT


@dataclass(frozen=True, slots=True)
class Name:
    """A telling name in the text: where it stands and what it announces.

    `flag`: written as a command's flag. `is_target`: an attribute or one of several targets of an assignment in code.
    """

    start: int
    end: int
    text: str
    kind: Kind
    flag: bool
    is_target: bool = False


@dataclass(frozen=True, slots=True)
class Secret:
    """A part of the text to replace."""

    start: int
    end: int
    replacement: str = REPLACEMENT
