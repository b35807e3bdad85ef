"""What a pause is, when it is over, and how `pauses.json` holds it. The rules are pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memsyncd import regular_file

VERSION = 1

MAX_BYTES = 4 << 20
"""Of the file; ten thousand paused projects have fewer."""

MAX_SECONDS = 3650 * 86_400.0
"""The longest `--for`; whoever means longer pauses without an end."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"([0-9]+)([smhd]?)")
_MAX_DIGITS = 12
"""Of a number of seconds that is not far above MAX_SECONDS."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Now: Unix seconds, and seconds since the system booted, sleep included, with what names that boot (empty where
    the system tells none)."""

    wall: float
    boot: str = ""
    up: float = 0.0


@dataclass(frozen=True, slots=True)
class Pause:
    """`seconds` is None for a pause without an end; `since`, `boot` and `up` are the Moment it began at."""

    since: float
    seconds: float | None = None
    boot: str = ""
    up: float = 0.0

    @property
    def until(self) -> float | None:
        """The Unix time of its end, None without one."""
        return None if self.seconds is None else self.since + self.seconds

    def is_over(self, now: Moment) -> bool:
        """Whether its time is over. Within one boot a wall clock that jumps changes nothing; after another boot a
        time before its begin shows a clock that was set back, and that must not prolong it."""
        if self.seconds is None:
            return False
        if self.boot and self.boot == now.boot:
            return now.up >= self.up + self.seconds
        return not self.since <= now.wall < self.since + self.seconds


def is_of_project(known: tuple[str, str], repo_id: str, directory: str) -> bool:
    """Whether a project, `known` by its identity and the root of its working tree, is that of an identity, or of a real
    path, both empty where there is none."""
    known_id, root = known
    is_below = directory == root or directory.startswith(root.rstrip("/") + "/")
    return bool((repo_id and known_id == repo_id) or (root and directory and is_below))


@dataclass(frozen=True, slots=True)
class PausedProject:
    """A project is told by its identity, and by its working tree, for what lies below it."""

    repo_id: str
    root: str
    pause: Pause


@dataclass(frozen=True, slots=True)
class PauseState:
    """What `pauses.json` holds. `unreadable` counts as a pause of everything until somebody resumes."""

    everything: Pause | None = None
    projects: Sequence[PausedProject] = ()
    unreadable: bool = False

    @property
    def is_paused(self) -> bool:
        """Whether everything is paused."""
        return self.everything is not None or self.unreadable

    def project(self, repo_id: str, directory: str = "") -> PausedProject | None:
        """Return the pause of a project, told by its identity or by a real path in its working tree."""
        return next(
            (each for each in self.projects if is_of_project((each.repo_id, each.root), repo_id, directory)), None
        )


class NoDuration(ValueError):
    """The message says what is wrong, to go behind what was given."""


def duration(text: str) -> float:
    """Return the seconds of `90`, `90s`, `15m`, `2h` or `3d`. Raises NoDuration for what is none, or is 0 or above
    MAX_SECONDS."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise NoDuration("write it like 90, 90s, 15m, 2h or 3d")
    digits = match[1].lstrip("0")
    seconds = int(digits[:_MAX_DIGITS] or 0) * _UNITS[match[2]]
    if len(digits) > _MAX_DIGITS or not 0 < seconds <= MAX_SECONDS:
        raise NoDuration("it is from 1s to 3650d, and a pause without it has no end")
    return seconds


def read(path: Path) -> PauseState:
    """Return what the file holds; nothing where there is none. Raises nothing."""
    try:
        document = regular_file.document(path, MAX_BYTES)
        if document["v"] != VERSION:
            return PauseState(unreadable=True)
        everything = None if document["all"] is None else _pause(document["all"])
        projects = [
            PausedProject(as_text(each["repo_id"]), as_text(each["root"]), _pause(each["pause"]))
            for each in document["projects"]
        ]
    except FileNotFoundError:
        return PauseState()
    except (OSError, ValueError, KeyError, TypeError):
        return PauseState(unreadable=True)
    return PauseState(everything, projects)


def as_text(value: object) -> str:
    """Return a value that is a text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _pause(document: Mapping[str, Any]) -> Pause:
    seconds = document["seconds"]
    return Pause(
        float(document["since"]),
        None if seconds is None else float(seconds),
        str(document["boot"]),
        float(document["up"]),
    )


def encoded(state: PauseState) -> bytes:
    """Return the file's content."""
    document = {
        "v": VERSION,
        "all": None if state.everything is None else asdict(state.everything),
        "projects": [asdict(each) for each in state.projects],
    }
    return json.dumps(document).encode()
