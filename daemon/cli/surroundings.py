"""Where a command runs: environment, home, user and system, and what follows from them, looked up when asked for."""

import os
import pwd
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.cli import exits

if TYPE_CHECKING:
    from daemon.places import Places
    from daemon.settings import Loaded


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Made once by the command line's entry, and by tests; `wall` gives Unix seconds."""

    environ: Mapping[str, str]
    home: Path
    uid: int
    platform: str
    wall: Callable[[], float] = field(default=time.time)

    def places(self) -> "Places":
        """Return where everything lies; leaves with 78 where the environment names an impossible place."""
        from daemon.configuration_error import ConfigurationError  # noqa: PLC0415  (only when a command needs it)
        from daemon.places import resolve  # noqa: PLC0415

        try:
            return resolve(self.environ, self.home, self.uid, self.platform)
        except ConfigurationError as error:
            raise exits.Leave(exits.MISCONFIGURED, str(error)) from error

    def load(self, overrides: Mapping[str, str]) -> "Loaded":
        """Return the settings; raises ConfigurationError."""
        from daemon.settings import load  # noqa: PLC0415  (only when a command needs it)

        return load(self.places(), self.environ, overrides)


def of_this_process() -> Surroundings:
    """Return where this command runs."""
    environ, uid = dict(os.environ), os.getuid()
    return Surroundings(environ=environ, home=home_of(environ, uid), uid=uid, platform=sys.platform)


def home_of(environ: Mapping[str, str], uid: int) -> Path:
    """Return the user's home as hooks know it: HOME unless it is empty, else the user database's; an empty
    path, which `daemon.places` refuses, where neither tells one."""
    if environ.get("HOME"):
        return Path(environ["HOME"])
    try:
        return Path(pwd.getpwuid(uid).pw_dir or "/")
    except KeyError:
        return Path()


def here() -> str:
    """Return the present directory, "" where it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def overrides(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return `--set KEY=VALUE` options as a mapping; leaves with 2 where one is no pair."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise exits.Leave(exits.WRONG_USE, f"--set {pair}: write it as KEY=VALUE, like platform.kind=local.")
        found[name.strip()] = value
    return found
