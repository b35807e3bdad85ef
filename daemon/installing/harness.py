"""What is to be known of a harness to put our entries into its configuration. Each is data, in a file of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from daemon.installing.errors import Unsupported

NAME = "memsyncd"
"""Under this name the entry of an MCP server is ours."""

SECONDS, MILLISECONDS = 1, 1000
"""How many of a harness's time units make a second."""

LIMIT = 5.0
"""Seconds a harness waits for a hook of ours: its own work takes milliseconds, an answer for a prompt at most two
seconds (CONTRACT: `POST /recall`), and a disk that stands still must not stop the agent (never-again 28)."""

FormName = Literal["groups", "list", "object", "tables", "script"]


@dataclass(frozen=True, slots=True)
class Event:
    """A harness's event and what is dropped for it. `limit` is in seconds. `is_always_told` of a session's end: every
    orderly one is told, in every version and mode, so a harness that tells none has lost its hook."""

    name: str
    action: str
    reason: str = ""
    limit: float = LIMIT
    is_always_told: bool = False


@dataclass(frozen=True, slots=True)
class Handler:
    """How an entry is written: where the line goes, where the time limit and in which unit, and what else is in it.

    Without a `limit` key the harness has no such setting.
    """

    command: str = "command"
    limit: str = "timeout"
    units_per_second: int = SECONDS
    constant: Mapping[str, Any] = field(default_factory=dict)

    def entry(self, line: str, seconds: float) -> dict[str, Any]:
        """Return the handler for one line."""
        entry = {**self.constant, self.command: line}
        if self.limit:
            entry[self.limit] = int(seconds * self.units_per_second)
        return entry


@dataclass(frozen=True, slots=True)
class Place:
    """A file of one user's or one project's. `variable` names an environment variable that moves the directory;
    `inside` is added to what it says. Where a file of `others` exists already, that one is it."""

    name: str
    directory: str
    variable: str = ""
    inside: str = ""
    others: tuple[str, ...] = ()

    def path(self, root: Path, environ: Mapping[str, str]) -> Path:
        """Return the file below `root`, which is the home or the project."""
        moved = environ.get(self.variable, "") if self.variable else ""
        directory = Path(moved) / self.inside if moved.startswith("/") else root / self.directory
        return next((path for other in self.others if (path := directory / other).exists()), directory / self.name)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the harness that is looked at: in the hooks' own file, or in `place`."""

    path: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting whose `value` keeps hooks from running, and the sentence about it."""

    setting: Setting
    value: Any
    sentence: str


@dataclass(frozen=True, slots=True)
class Tools:
    """Where a harness keeps its MCP servers: an entry for each at `path` of a file, {command, args, env} with what is
    `constant`, or OpenCode's {type, command: [...], environment}. `program` is a client's own command for it, where the
    user's file is the client's to write."""

    user: Place | None = None
    project: Place | None = None
    path: tuple[str, ...] = ("mcpServers",)
    constant: Mapping[str, Any] = field(default_factory=dict)
    is_opencode: bool = False
    program: str = ""

    @property
    def own(self) -> Setting:
        """The entry of ours."""
        return Setting((*self.path, NAME))


@dataclass(frozen=True, slots=True)
class Harness:
    """One harness. `notes` are told after an installation. `switches` are looked at, and so are `plugins`: settings
    that name what else is loaded, as a list or as names with true or false."""

    name: str
    title: str
    form: FormName
    events: tuple[Event, ...]
    handler: Handler = field(default_factory=Handler)
    user: Place | None = None
    project: Place | None = None
    version: int | None = None
    notes: tuple[str, ...] = ()
    switches: tuple[Switch, ...] = ()
    plugins: tuple[Setting, ...] = ()
    tools: Tools = field(default_factory=Tools)

    def keeps_all_in_one(self, *, is_project: bool) -> bool:
        """Return whether hooks and MCP servers stand in the same file."""
        return self.tools.project == self.project if is_project else self.tools.user == self.user

    def file(self, root: Path, environ: Mapping[str, str], *, is_project: bool) -> Path:
        """Return the hooks' file below the home or a project. Raises Unsupported where there is none."""
        place = self.project if is_project else self.user
        if place is None:
            raise Unsupported(f"{self.title} reads no hooks from a project; install them without --project.")
        return place.path(root, {} if is_project else environ)
