"""The seven `memory_*` tools of the notes, as this server's tools."""

from collections.abc import Callable, Sequence

from memsyncd.mcp_server.tool import Answer, Call, ServedTool
from memsyncd.notes.catalogue import TOOLS
from memsyncd.notes.tools import NoteTools

NOT_HELD = frozenset({"memory_forget", "memory_clear_namespace", "memory_stats"})
"""They tell and store nothing that was remembered: whoever paused may still have something forgotten."""


def note_tools(notes: NoteTools) -> Sequence[ServedTool]:
    """Return the tools over `notes`."""
    return [ServedTool(tool, _calling(notes, tool.name), is_held=tool.name not in NOT_HELD) for tool in TOOLS]


def _calling(notes: NoteTools, name: str) -> Callable[[Call], Answer]:
    def answer(call: Call) -> Answer:
        told = notes.call(name, call.arguments)
        return Answer(told.text, told.is_error)

    return answer
