"""The payloads of every event of every harness, made from what is known of them, and the records they become.

`payloads/HARNESS/EVENT.json` is what comes on a hook's standard input; `EVENT-NAME.json` is another one of that event.
Behind a dot the harness's name says how it was configured. `records/HARNESS.json` has the records of those that mean
something.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parent
PROJECT, HOME = "/home/dev/shop", "/home/dev"
"""Where the payloads' agents stand, and whose they are."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One payload: `event` is the harness's name of what happened."""

    group: str
    name: str
    text: str

    @property
    def harness(self) -> str:
        return self.group.partition(".")[0]

    @property
    def event(self) -> str:
        return self.name.partition("-")[0]

    @property
    def hook_input(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found

    def at(self, project: Path, home: Path) -> dict[str, Any]:
        """Return the payload of an agent that stands in `project`, of a user whose home it is."""
        moved = self.text.replace(PROJECT, json.dumps(str(project))[1:-1]).replace(HOME, json.dumps(str(home))[1:-1])
        found: dict[str, Any] = json.loads(moved)
        return found

    def __str__(self) -> str:
        return f"{self.group}/{self.name}"


@cache
def recorded() -> Sequence[Recorded]:
    """Return every payload."""
    files = sorted((PLACE / "payloads").glob("*/*.json"))
    return [Recorded(file.parent.name, file.stem, file.read_text(encoding="utf-8")) for file in files]


def of(harness: str, name: str) -> Recorded:
    """Return one payload."""
    return next(each for each in recorded() if (each.group, each.name) == (harness, name))


@cache
def expected(group: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the records of a group's payloads by name; a field that is not there is empty."""
    found: dict[str, Any] = json.loads((PLACE / "records" / f"{group}.json").read_text(encoding="utf-8"))
    return found
