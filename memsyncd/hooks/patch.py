"""What a patch in a tool's input changes: its files and how much is new, never a line of it (facts 9.2).

Codex edits with patches of its own form, given as a text, as a word of a command, or inside a shell's command line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BEGIN = "*** Begin Patch"
KEYS = ("command", "input", "patch", "patchText")

_FILE = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.{1,4096}?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Changed:
    """`new_chars` are the characters of added lines, without their ends."""

    paths: tuple[str, ...]
    new_chars: int


def changed(tool_input: Mapping[str, Any]) -> Changed | None:
    """Return what the patch in a tool's input changes; None where there is none."""
    for key in KEYS:
        given = tool_input.get(key)
        texts = given if isinstance(given, list) else [given]
        for text in texts:
            if isinstance(text, str) and BEGIN in text:
                return _changed(text[text.index(BEGIN) :])
    return None


def _changed(text: str) -> Changed:
    added = (line[1:] for line in text.splitlines() if line.startswith("+"))
    return Changed(tuple(dict.fromkeys(_FILE.findall(text))), sum(map(len, added)))
