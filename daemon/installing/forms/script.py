"""A JavaScript module that is ours alone (OpenCode)."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from daemon.installing.entry import Entry
from daemon.installing.errors import Unfit
from daemon.installing.harness import Harness

MARK = "// memsyncd's OpenCode plugin"
"""How the file begins, in every version."""

_TEMPLATE = Path(__file__).resolve().parent.parent / "opencode_plugin.js"
_LINES = re.compile(r"^const LINES = (\{.*\});$", re.MULTILINE)


class Script:
    """The form. An entry's event is the one of OpenCode's that a line is run for."""

    def entries(self, text: str, harness: Harness) -> tuple[Entry, ...]:
        """Return ours; in anybody else's file there is nothing to be known."""
        found = _LINES.search(text) if text.startswith(MARK) else None
        try:
            lines = json.loads(found[1]) if found else {}
        except (ValueError, RecursionError):
            lines = {}
        known = {event.name for event in harness.events}
        return tuple(Entry(name, {"command": line}) for name, line in lines.items() if name in known)

    def install(self, text: str, wanted: Sequence[Entry], harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return our module with the lines wanted. Another's file under its name is Unfit."""
        self._check(text)
        lines = {entry.event: entry.handler["command"] for entry in wanted}
        template = _TEMPLATE.read_text(encoding="utf-8")
        return _LINES.sub(lambda _: f"const LINES = {json.dumps(lines)};", template, count=1)

    def uninstall(self, text: str, before: str | None, harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return nothing, for the file is ours."""
        self._check(text)
        return ""

    @staticmethod
    def _check(text: str) -> None:
        if text.strip() and not text.startswith(MARK):
            raise Unfit("the file has the name of ours, but memsyncd did not write it; move it elsewhere")
