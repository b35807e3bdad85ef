"""The evidence block that packets append to a session's last answer (facts 4.11, 4.12): commands and changed files.

    Commands run in this session:
    [failed/test] pytest tests/api
      E   ModuleNotFoundError: No module named 'httpx'
    Files changed in this session:
    - src/api/client.py

It is read back tolerantly: bullets, indentation and the files' heading may vary.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COMMANDS = re.compile(r"^commands (?:run|executed)\b[^\n]{0,60}:\s*$", re.IGNORECASE)
_FILES = re.compile(r"^(?:changed|modified|edited) (?:files|paths)\b[^\n]{0,60}:\s*$|"
                    r"^(?:files|paths) (?:changed|modified|edited)\b[^\n]{0,60}:\s*$", re.IGNORECASE)  # fmt: skip
_COMMAND = re.compile(r"^\s*(?:[-*]\s+)?\[([a-z_]+)(?:/([a-z_-]+))?\]\s+(\S.*)$", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*]\s+)?")

MAX_FILES = 20
"""As many as the block carries (facts 4.11)."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the block: `status` and `kind` as written, lower case; `result` one line or empty."""

    status: str
    kind: str
    command: str
    result: str = ""

    @property
    def failed(self) -> bool:
        """Whether the block says that it failed."""
        return self.status in {"failed", "failure", "error", "fail"}

    @property
    def succeeded(self) -> bool:
        """Whether the block says that it worked; `unknown` does not (facts 4.17)."""
        return self.status in {"succeeded", "success", "ok", "passed", "pass"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a message holds: the dialogue without the block, and the block's commands and files."""

    dialogue: str
    commands: Sequence[Command] = ()
    files: Sequence[str] = ()


def split(text: str) -> Evidence:
    """Return `text` with its evidence block, if any, taken apart."""
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if _opens(lines, number, line)), None)
    if start is None:
        return Evidence(text)
    commands: list[Command] = []
    files: list[str] = []
    in_commands = True
    for line in lines[start:]:
        if _COMMANDS.match(line.strip()) or _FILES.match(line.strip()):
            in_commands = _COMMANDS.match(line.strip()) is not None
            continue
        found = _COMMAND.match(line)
        if not line.strip():
            continue
        is_result = line.startswith((" ", "\t")) and bool(commands) and not commands[-1].result
        if in_commands and found and not is_result:
            commands.append(Command(found.group(1).lower(), (found.group(2) or "").lower(), found.group(3).strip()))
        elif in_commands and commands:
            last = commands[-1]
            result = f"{last.result} {_BULLET.sub('', line).strip()}".strip()
            commands[-1] = Command(last.status, last.kind, last.command, result[:500])
        elif not in_commands:
            files.append(_BULLET.sub("", line).strip().strip("`"))
    return Evidence("\n".join(lines[:start]).rstrip(), commands, files[:MAX_FILES])


def _opens(lines: Sequence[str], number: int, line: str) -> bool:
    """Whether a block starts here: its heading, followed by what such a heading leads, so that prose is left alone."""
    following = next((later for later in lines[number + 1 : number + 3] if later.strip()), "")
    if _COMMANDS.match(line.strip()):
        return _COMMAND.match(following) is not None
    return _FILES.match(line.strip()) is not None and " " not in _BULLET.sub("", following).strip()
