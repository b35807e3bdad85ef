"""What a tool is here, what it is asked and what it answers. Nothing of the protocol.

ToolFailed   the call did not do what was asked; the message says what to change or do
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memsyncd.notes.catalogue import Tool


class ToolFailed(Exception):
    """The message is fit for a model: it holds no secret, no path and nobody's text but the asker's."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a client sent. `project` is the directory the agent works in; no argument can name another."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text for the model, and for a tool with an output schema the document that fits it."""

    text: str
    is_error: bool = False
    structured: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool as listed and what answers it. `answer` checks the arguments, which come in the order of their names; it
    blocks, is called from any thread, and may raise ToolFailed and NoteError. `is_held`: it tells or stores memories,
    so pause and exclusion hold it."""

    tool: Tool
    answer: Callable[[Call], Answer]
    is_held: bool = True
    output_schema: Mapping[str, Any] | None = None
