"""The evidence block: what a session changed and what failed, appended to its last answer (facts 4.11 to 4.17)."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memsyncd.evidence.event import Event
from memsyncd.packets import tool_use
from memsyncd.packets.tool_use import Command

MAX_PATHS = 20
MAX_COMMANDS = 30
MAX_RESULT_CHARACTERS = 500
MAX_CHARACTERS = 8_000
"""Facts 4.11 and 4.16."""

COMMANDS_HEADING = "Commands run in this session:"
FILES_HEADING = "Files changed in this session:"


@dataclass
class EvidenceBlock:
    """Takes in a packet's events one by one, and keeps of them what it will list. `root` is the working tree."""

    root: str
    _paths: dict[str, None] = field(default_factory=dict)
    _commands: deque[Command] = field(default_factory=lambda: deque(maxlen=MAX_COMMANDS))

    def add(self, event: Event) -> None:
        """Take an event in. Only tool events count, and none of a subagent."""
        if event.kind not in tool_use.KINDS or not tool_use.is_by_main_agent(event):
            return
        if len(self._paths) < MAX_PATHS and (path := tool_use.changed_path(event, self.root)):
            self._paths[path] = None
        if (command := tool_use.command(event)) is not None:
            self._commands.append(command)

    def text(self, redact: Callable[[str], str]) -> str:
        """Return the block, or an empty text.

        The last 30 commands are listed, but only if one of them failed: a run of successes tells nothing.
        """
        files = [f"- {redact(_one_line(path))}" for path in self._paths]
        is_telling = any(command.status == "failed" for command in self._commands)
        return _fitted(tuple(self._commands) if is_telling else (), files, redact)


def _fitted(commands: Sequence[Command], files: Sequence[str], redact: Callable[[str], str]) -> str:
    """Over the cap, first the results of what worked go, then the oldest commands, then the last files."""
    shown = [_shown(command, redact, with_result=True) for command in commands]
    block = _joined(shown, files)
    if len(block) > MAX_CHARACTERS:
        shown = [_shown(command, redact, with_result=command.status == "failed") for command in commands]
        block = _joined(shown, files)
    while len(block) > MAX_CHARACTERS and (shown or files):
        shown, files = (shown[1:], files) if shown else (shown, files[:-1])
        block = _joined(shown, files)
    return block


def _joined(commands: Sequence[str], files: Sequence[str]) -> str:
    lines = [COMMANDS_HEADING, *commands] if commands else []
    return "\n".join([*lines, FILES_HEADING, *files] if files else lines)


def _shown(command: Command, redact: Callable[[str], str], *, with_result: bool) -> str:
    line = f"[{command.status}/{command.kind}] {_one_line(redact(command.command))}"
    result = _ends(_one_line(redact(command.result))) if with_result else ""
    return f"{line}\n  {result}" if result else line


def _ends(result: str) -> str:
    """Return a result within its limit: of a longer one the beginning and, as it tells most, the end."""
    if len(result) <= MAX_RESULT_CHARACTERS:
        return result
    first = MAX_RESULT_CHARACTERS // 3
    return f"{result[:first]}…{result[first + 1 - MAX_RESULT_CHARACTERS :]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
