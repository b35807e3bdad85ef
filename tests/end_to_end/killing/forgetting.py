"""A project forgotten: without a daemon, through a running one, and on the platform too."""

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from memsyncd.telemetry.salt import NAME as SALT
from memsyncd.telemetry.salt import Salt
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.beside import run_beside
from tests.end_to_end.killing.hosted import served
from tests.end_to_end.killing.scenario import ONCE, Case, Scenario
from tests.end_to_end.test_forgetting import WORD, search, tell, where
from tests.fakes.mem0_api import FakeMem0
from tests.fakes.posthog import PROJECT_KEY

TOLD = {
    "MEMSYNCD_TELEMETRY_ENABLED": "true",
    "MEMSYNCD_TELEMETRY_ENDPOINT": "http://127.0.0.1:9",
    "MEMSYNCD_TELEMETRY_API_KEY": PROJECT_KEY,
}
"""Telemetry is on, and nobody listens: what is told of the project waits on the disk too."""


def forget_through_the_daemon(arguments: Sequence[str]) -> int:
    """Run the daemon and have it forget a directory's project."""
    asked = {"cwd": arguments[0], "yes": True}
    return run_beside(lambda client: client.post("/forget", asked, seconds=30.0))


class Forgetting(Scenario):
    """Everything that can hold a word does. What was asked for is finished, or was never begun."""

    name = "a project forgotten, without a daemon"

    def seed(self, home: Home) -> None:
        self._dropped = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
        self.arguments = ("forget", "--yes", "--cwd", str(home.project))
        home.environ |= TOLD
        tell(home, "s1")
        shutil.copytree(home.spool() / "pending", self._dropped, dirs_exist_ok=True)
        home.start()
        home.end("s1")
        home.until(lambda: search(home), "it was not learned")
        home.until_quiet()
        home.stop()
        tell(home, "s2")
        dead = home.spool() / "dead"
        shutil.copy(next(self._dropped.glob("*.json")), dead / "x.json")
        (dead / "x.reason.json").write_text('{"reason": "expired"}')

    def unseed(self) -> None:
        shutil.rmtree(self._dropped)

    def connect(self, case: Case) -> None:
        case.home.environ |= TOLD

    def meanwhile(self, case: Case) -> None:
        """Let the very files come again that the hooks had dropped before."""
        if (case.home.places.data / "forgotten.json").exists():
            for path in self._dropped.glob("*.json"):
                shutil.copy(path, case.home.spool() / "pending" / path.name)

    def leaves_the_same(self, case: Case) -> bool:
        """Look beyond what waits to be told; how often that was tried is in its name."""
        for path in case.home.root.rglob("telemetry*"):
            if path.suffix in (".jsonl", ".sending"):
                path.unlink()
        return (case.home.places.data / "forgotten.json").exists()

    def assert_none_is_lost(self, case: Case) -> None:
        data = case.home.places.data
        begun = (data / "forgotten.json").exists()
        hashed = Salt(data / SALT).hash("s1")
        assert hashed is not None
        for word in (WORD, hashed):
            held = where(data, word)
            assert bool(held) is not begun, (word, held)


class ForgettingBesideDaemon(Forgetting):
    """The daemon that carries it out is the one that dies."""

    name = "a project forgotten by the daemon"
    program = f"{__name__}:forget_through_the_daemon"

    def seed(self, home: Home) -> None:
        super().seed(home)
        self.arguments = (str(home.project),)


class ForgettingRemotely(Scenario):
    """The platform's memories of the project go as well, each deleted by its id."""

    name = "a project forgotten, on the platform too"
    standing = Scenario.standing | {"forget"}  # it looks for late memories until the extraction wait is over

    def serving(self) -> AbstractContextManager[Any]:
        return FakeMem0()

    def connect(self, case: Case) -> None:
        served(case)
        case.home.environ["MEM0_CODE_EXTRACTION_WAIT_SECONDS"] = "2"

    def seed(self, home: Home) -> None:
        self.arguments = ("forget", "--yes", "--remote", "--cwd", str(home.project))
        for number in range(2):
            tell(home, "s1", number=number, word=f"{WORD}{number}")
        home.end("s1")

    def prepare(self, case: Case) -> None:
        assert case.run(ONCE).code == 0
        assert len(case.service.memories()) == 2

    def meanwhile(self, case: Case) -> None:
        """Let a minute pass: what a crash leaves to the job is looked for after half of it."""
        with closing(sqlite3.connect(case.home.places.queue_file)) as connection:
            connection.execute("UPDATE jobs SET not_before = not_before - 60 WHERE kind = 'forget'")
            connection.commit()

    def leaves_the_same(self, case: Case) -> bool:
        return (case.home.places.data / "forgotten.json").exists()

    def requests(self, case: Case) -> Counter[Any]:
        return Counter(request.path for request in case.service.requests("delete"))

    def assert_none_is_lost(self, case: Case) -> None:
        begun = self.leaves_the_same(case)
        assert bool(case.service.memories()) is not begun
        assert bool(where(case.home.places.data, WORD)) is not begun
