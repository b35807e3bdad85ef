"""What a command is killed in the middle of: where it begins, what it talks to, and what must be so in the end."""

import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.forker import DAEMON, Ended, Forker
from tests.end_to_end.killing.step import Point, plain

ONCE = ("run", "--once")

KEPT = ("m/clock.json", "m/history.ring")
"""Files that a run which takes a little longer begins to keep; there is one of each."""


@dataclass
class Case:
    """One kill: a home of its own, copied from the scenario's, and the fake of the service that it calls."""

    home: Home
    forker: Forker
    service: Any
    services: dict[int, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    """What a scenario remembers of this kill."""

    def run(
        self, arguments: Sequence[str], at: Point | None = None, program: str = DAEMON, stdin: Path | None = None
    ) -> Ended:
        """Run a command, up to a point."""
        home = self.home
        return self.forker.run(
            arguments, home.root, home.environ, services=self.services, at=at, program=program, stdin=stdin
        )

    def rows(self, database: Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a database of the home answers."""
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute(statement, values).fetchall()

    def files(self) -> Counter[str]:
        """Return the home's files by name, without what differs from run to run."""
        home = self.home.root
        found = (path.relative_to(home) for path in home.rglob("*") if not path.is_dir())
        return Counter(plain(str(path)) for path in found)

    def age(self, suffix: str) -> None:
        """Make the files that end so as old as if they had lain there for two days."""
        for path in self.home.root.rglob(f"*{suffix}"):
            os.utime(path, (time.time() - 2 * 86_400,) * 2)

    def databases(self) -> list[Path]:
        """Return the home's databases."""
        return sorted(self.home.root.rglob("*.sqlite3"))


class Scenario:
    """A command and its surroundings. One object serves every kill, from several threads."""

    name: str
    arguments: Sequence[str] = ONCE
    program: str = DAEMON
    stdin: str = ""
    """The file below the home that is the command's standard input, if any."""
    recovery: Sequence[Sequence[str]] = (ONCE,)
    """The commands that come after the kill, none of which is killed."""
    recovery_program: str = DAEMON
    standing = frozenset({"poll", "telemetry"})
    """Kinds of jobs that are never over."""
    codes: Sequence[int] = (0,)
    """How it may end where it is not killed."""
    repeats = 1
    """So many of the requests that change something may come once more than without a kill."""

    def serving(self) -> AbstractContextManager[Any]:
        """Return the fake of the service that is called, if any; it outlives the kill."""
        return nullcontext()

    def connect(self, case: Case) -> None:
        """Tell the home of the fake."""

    def seed(self, home: Home) -> None:
        """Put into a home what every kill begins with; it is made once and copied."""

    def prepare(self, case: Case) -> None:
        """Do what has to be done for each kill anew."""

    def unseed(self) -> None:
        """Remove what `seed` made elsewhere."""

    def meanwhile(self, case: Case) -> None:
        """Do what happens between the kill and the next run."""

    def requests(self, case: Case) -> Counter[Any]:
        """Return the requests so far that change something there."""
        return Counter()

    def leaves_the_same(self, case: Case) -> bool:
        """Whether the killed command must leave the same files in the end as one that was not killed."""
        return True

    def assert_none_is_lost(self, case: Case) -> None:
        """Assert that everything is where it should be, once."""

    def live_jobs(self, case: Case) -> list[Any]:
        """Return the jobs that should be over and are not, or are dead."""
        queue = case.home.places.queue_file
        rows = case.rows(queue, "SELECT id, kind, state, reason FROM jobs") if queue.exists() else []
        return [row for row in rows if row[1] not in self.standing and row[2] not in ("done", "cancelled")]


@dataclass(frozen=True)
class Reference:
    """What the command did without being killed."""

    files: Mapping[str, int]
    requests: Mapping[Any, int]


class Stage:
    """A scenario that is set up. Use it as a context; `rehearse` comes before the first kill."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._home: Home | None = None
        self._reference: Reference | None = None

    def __enter__(self) -> Self:
        self._home = new_home()
        self.scenario.seed(self._home)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._home is not None
        self._home.close()
        self.scenario.unseed()

    def rehearse(self, forker: Forker) -> Sequence[Point]:
        """Run the scenario once without a kill, and the commands that come after one; return the points it has."""
        with self._case(forker) as case:
            ended = self._killed(case, None)
            self._recover(case)
            self._reference = Reference(case.files(), self.scenario.requests(case))
            self._assert_sound(case, self._reference)
            return ended.points

    def kill(self, forker: Forker, at: Point) -> bool:
        """Kill the command at a point, come back, and assert that all is well; False where the point never came."""
        assert self._reference is not None
        with self._case(forker) as case:
            ended = self._killed(case, at)
            self._recover(case)
            self._assert_sound(case, self._reference)
            return ended.was_killed

    @contextmanager
    def _case(self, forker: Forker) -> Iterator[Case]:
        assert self._home is not None
        with self.scenario.serving() as service:
            home = new_home()
            try:
                shutil.copytree(self._home.root, home.root, symlinks=True, dirs_exist_ok=True, ignore=_not_copied)
                home.project = self._home.project
                case = Case(home, forker, service)
                self.scenario.connect(case)
                self.scenario.prepare(case)
                yield case
            finally:
                home.close()

    def _killed(self, case: Case, at: Point | None) -> Ended:
        scenario = self.scenario
        stdin = case.home.root / scenario.stdin if scenario.stdin else None
        ended = case.run(scenario.arguments, at, scenario.program, stdin)
        assert ended.was_killed or ended.code in scenario.codes, f"exit code {ended.code}: {ended.log[-3000:]}"
        return ended

    def _recover(self, case: Case) -> None:
        self.scenario.meanwhile(case)
        case.age(".tmp")  # its writer is dead, and has a day (CONTRACT "A spool")
        for arguments in self.scenario.recovery:
            ended = case.run(arguments, program=self.scenario.recovery_program)
            assert ended.code in self.scenario.codes, f"exit code {ended.code} after the kill: {ended.log[-3000:]}"

    def _assert_sound(self, case: Case, reference: Reference) -> None:
        scenario = self.scenario
        scenario.assert_none_is_lost(case)
        more = scenario.requests(case)
        more.subtract(reference.requests)
        assert sum(count for count in more.values() if count > 0) <= scenario.repeats, f"asked again: {more}"
        live = scenario.live_jobs(case)
        assert not live, live
        for database in case.databases():
            assert case.rows(database, "PRAGMA integrity_check") == [("ok",)], database
        if scenario.leaves_the_same(case):
            left = case.files() - Counter(reference.files)
            left -= Counter(dict.fromkeys(KEPT, 1))
            assert not left, f"left behind: {left}"


def new_home() -> Home:
    """Return a home whose path is short enough for its socket."""
    return Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")))


def _not_copied(directory: str, names: list[str]) -> set[str]:
    return {name for name in names if name in ("nudge", "run", "shop", "daemon.log")}
