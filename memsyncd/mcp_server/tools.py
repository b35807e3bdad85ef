"""The tools of a server: found by name, checked, held by pause and exclusion, and never without an answer.

Every failure is a tool error with a sentence that says what to do, so that a model can act on it (facts 13.5 to 13.7).
"""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsyncd.mcp_server.tool import Answer, Call, ServedTool, ToolFailed
from memsyncd.notes.arguments import SHOWN_CHARS, shown
from memsyncd.notes.errors import NoteError

NEAR = 0.5
"""How alike names must be (difflib's ratio) for one to be offered in place of the other."""


class Tools:
    """Safe from any thread. `hold` says why nothing is told or stored for a directory, or None; it may raise
    ToolFailed. `report` is told of faults of ours, one line each."""

    def __init__(
        self,
        tools: Sequence[ServedTool],
        *,
        hold: Callable[[str], str | None],
        report: Callable[[str], None],
    ) -> None:
        self.listed = tools
        self._by_name = {each.tool.name: each for each in tools}
        self._hold = hold
        self._report = report

    def call(self, name: str, given: Mapping[str, Any], project: str) -> Answer:
        """Answer a call. Raises nothing."""
        try:
            return self._answer(name, given, project)
        except (ToolFailed, NoteError) as error:
            return Answer(str(error), is_error=True)
        except Exception as error:  # noqa: BLE001  (a fault of ours is told, and the server goes on)
            self._report(f"{name[:SHOWN_CHARS]}: {type(error).__name__}{_place(error)}")
            return Answer(
                f"{name[:SHOWN_CHARS]} failed within memsyncd ({type(error).__name__}), which is no fault of the"
                " arguments. Go on without it and tell the user.",
                is_error=True,
            )

    def _answer(self, name: str, given: Mapping[str, Any], project: str) -> Answer:
        served = self._by_name.get(name)
        if served is None:
            raise ToolFailed(self._unknown(name))
        if served.is_held and (why := self._hold(project)) is not None:
            raise ToolFailed(
                f"Nothing is recalled or remembered here: {why}. The user chose that; go on without it, and do not"
                " try again before the user has changed it."
            )
        return served.answer(Call({each: given[each] for each in sorted(given)}, project))

    def _unknown(self, name: str) -> str:
        names = list(self._by_name)
        near = difflib.get_close_matches(name[:SHOWN_CHARS], names, n=1, cutoff=NEAR)
        meant = f" Did you mean {near[0]}?" if near else ""
        return f"There is no tool {shown(name)}.{meant} There are {', '.join(names)}."


def _place(error: Exception) -> str:
    """Return where an error came up: file and line, no values."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
