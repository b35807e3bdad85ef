"""Telling our command lines from everybody else's: to the whole line, so that no one's own script is ever taken."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COMMAND_KEYS = ("command", "bash")
"""Where the harnesses keep a handler's command line (hooks-and-apis 1A to 1I)."""

OTHER_MEMORY = re.compile(r"mem0|claude-mem|openmemory|supermemory|agent-memory|memsync", re.IGNORECASE)
"""What the lines of other programs that record sessions have in them; a sign, not a proof."""

_SCRIPT = "/memsyncd/hooks/drop.py"
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy|graalpy)[^/]*", re.DOTALL)
"""Builds have names of their own, such as python3.11-dbg, python3.13t and python3.12-intel64."""
_OPTIONS = frozenset({"--harness", "--reason", "--home"})
_GUARDS: tuple[list[str], ...] = (["2>/dev/null", "||", "true"], [])


@dataclass(frozen=True, slots=True)
class OwnLine:
    """What one of our lines runs. `interpreter` is empty for the console script, which `script` then is."""

    interpreter: str
    script: str
    action: str


def own_line(command: object) -> OwnLine | None:
    """Return what a command line of ours runs, whichever version of memsyncd wrote it; None for anybody else's.

    The forms so far: `PYTHON -I -S /…/memsyncd/hooks/drop.py ACTION --harness H …`, with and without the guard behind
    it, and `memsyncd hook ACTION --harness H …`, either behind `MEMSYNCD_HOME=DIR`.
    """
    if not isinstance(command, str):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words and words[0].startswith("MEMSYNCD_HOME="):
        words = words[1:]
    for guard in _GUARDS:
        if words[-len(guard) or len(words) :] == guard:
            words = words[: len(words) - len(guard)]
            break
    interpreter, script, rest = _program(words)
    names_harness = any(word.partition("=")[0] == "--harness" for word in rest[1:])
    if not script or not names_harness or not _are_ours(rest[1:]):
        return None
    return OwnLine(interpreter, script, rest[0])


def own_handler(handler: Mapping[str, Any]) -> OwnLine | None:
    """Return what a hook handler runs if it is ours."""
    return next((line for key in COMMAND_KEYS if (line := own_line(handler.get(key)))), None)


def other_memory(handler: Mapping[str, Any]) -> str:
    """Return the command line of a handler that is not ours and looks as if it recorded the session too, else ""."""
    for key in COMMAND_KEYS:
        command = handler.get(key)
        if isinstance(command, str) and own_line(command) is None and OTHER_MEMORY.search(command):
            return command
    return ""


def _program(words: list[str]) -> tuple[str, str, list[str]]:
    """Return interpreter, script and the words behind; three empty ones where it is no program of ours."""
    if len(words) > 1 and words[1] == "hook" and words[0].rpartition("/")[2] == "memsyncd":
        return "", words[0], words[2:]
    if words and _PYTHON.fullmatch(words[0]):
        flags = 1
        while flags < len(words) and words[flags] in ("-I", "-S"):
            flags += 1
        if flags < len(words) and words[flags].endswith(_SCRIPT):
            return words[0], words[flags], words[flags + 1 :]
    return "", "", []


def _are_ours(words: list[str]) -> bool:
    """Tell whether words are our options and nothing else: a line that goes on to something else is somebody's."""
    rest = list(words)
    while rest:
        option, equals, _value = rest.pop(0).partition("=")
        if option not in _OPTIONS or (not equals and not rest):
            return False
        if not equals:
            rest.pop(0)
    return True
