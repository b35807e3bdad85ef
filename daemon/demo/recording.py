"""The recorded session of a Claude Code user, in the event shapes of its hooks (hooks-and-apis 1A)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

SECRET = "sk-" + "demo" * 6
"""Planted in a prompt, to show that it goes nowhere. Put together here so that no scanner takes it for a real one."""

QUESTION = "Where are the percentages for taxes kept, and who changes them?"
EXPECTED = "config/tax"
"""What a right answer to the question contains; the question uses other words than the session."""

NEXT_SESSION = "9c04d6aa-1b0e-4f57-8e11-5a2f3d7c8b21"
"""The session that begins with the question."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hook call. `note` says in a few words what happened; `reason` is a flush's."""

    action: str
    note: str
    hook_input: dict[str, Any]
    reason: str = ""


def steps(project: Path) -> Sequence[Step]:
    """Return the recording as it happens in the directory `project`."""
    text = resources.files(__package__).joinpath("session.jsonl").read_text(encoding="utf-8")
    placed = text.replace("{{PROJECT}}", json.dumps(str(project))[1:-1]).replace("{{SECRET}}", SECRET)
    return [Step(**json.loads(line)) for line in placed.splitlines()]
