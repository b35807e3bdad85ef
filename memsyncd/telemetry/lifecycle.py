"""The two events of an installation's life, once each: installed, and upgraded to a version (facts 12.26, 12.27)."""

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Literal

from memsyncd.telemetry import private_file

NAME = "telemetry-install.json"
SENTINEL_PREFIX = "telemetry-version-"

_PATIENCE_SECONDS = 1.0
"""How long another process may take over its change of the state."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.+_-]")

Due = Literal["install", "upgrade"]


class Lifecycle:
    """Which of the two is due in the data directory `data` for this `version`.

    `sample` comes before anything is written; `due` claims the event for this process, so that of many that start
    at once one records it; `release` gives it back where recording failed. A crash between claim and record loses
    it: none is told twice. While telemetry is off none of these is called, so nothing is used up. What stays is the
    state and one empty sentinel for each version that ran.
    """

    def __init__(self, data: Path, version: str) -> None:
        self._data = data
        self._version = version
        self._fresh: bool | None = None
        self._before: bytes | None = None
        self._claimed: Due | None = None

    def sample(self) -> bool:
        """Look whether the data directory is still as good as empty; the first look counts. Never raises."""
        if self._fresh is None:
            self._fresh = _is_fresh(self._data)
        return self._fresh

    def due(self) -> Due | None:
        """Return the event this process is to record, or None. Never raises: what cannot be claimed is not due."""
        fresh = self.sample()
        try:
            self._claimed = self._claim(fresh)
        except OSError:
            self._claimed = None
        return self._claimed

    def release(self) -> None:
        """Give back what `due` claimed, for the next start. Never raises."""
        claimed, self._claimed = self._claimed, None
        if claimed is None:
            return
        with contextlib.suppress(OSError):
            if self._before is None:
                private_file.remove(self._state, self._content(), patience=_PATIENCE_SECONDS)
            else:
                private_file.swap(self._state, self._content(), self._before, patience=_PATIENCE_SECONDS)
        with contextlib.suppress(OSError):
            self._sentinel.unlink(missing_ok=True)

    def _claim(self, fresh: bool) -> Due | None:
        self._before = private_file.read(self._state)
        if self._before is None:
            if not private_file.publish(self._state, self._content()):
                return None
            with contextlib.suppress(OSError):  # needed only should this version come again after another
                private_file.publish(self._sentinel, b"")
            return "install" if fresh else "upgrade"
        if _version_of(self._before) == self._version:
            return None
        won = private_file.publish(self._sentinel, b"")
        with contextlib.suppress(OSError):  # the sentinel alone is enough against a second time
            private_file.swap(self._state, self._before, self._content())
        return "upgrade" if won else None

    @property
    def _state(self) -> Path:
        return self._data / NAME

    @property
    def _sentinel(self) -> Path:
        return self._data / (SENTINEL_PREFIX + _NOT_IN_A_NAME.sub("_", self._version))

    def _content(self) -> bytes:
        return json.dumps({"version": self._version}).encode("ascii") + b"\n"


def _version_of(content: bytes) -> str | None:
    """Return the version a state names, or None where it is unreadable: it is then written anew (facts 20.12)."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    version = document.get("version") if isinstance(document, dict) else None
    return version if isinstance(version, str) else None


_WRITTEN_BY_OTHERS = frozenset(
    {
        "config.toml",
        "run",
        "daemon.lock",
        "logs",
        "nudge",
        "unanswered",
        "paused",
        "pauses.json",
        "pauses-ended.json",
        "hook-errors.log",
        "hook-errors.log.1",
    }
)
"""What a person, a service manager or a hook leaves in the data directory before the daemon's first start."""

_TELEMETRY = "telemetry-"
"""This room's own files: the state alone says what an earlier start told, and another process may be writing it."""

_LEFT_BY_HOOKS = frozenset({"pending", "paused"})


def _is_fresh(data: Path) -> bool:
    try:
        names = os.listdir(data)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return all(
        name in _WRITTEN_BY_OTHERS or name.startswith(_TELEMETRY) or (name == "spools" and _only_hooks(data / name))
        for name in names
    )


def _only_hooks(spools: Path) -> bool:
    try:
        return all(_LEFT_BY_HOOKS.issuperset(os.listdir(spools / harness)) for harness in os.listdir(spools))
    except OSError:
        return False
