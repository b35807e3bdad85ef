"""A pause of everything begun and ended, with handoffs that wait, and that of a project ended."""

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.embedded import recorded
from tests.end_to_end.killing.scenario import ONCE, Case, Scenario


class Pausing(Scenario):
    """It holds everywhere or it never began: a run after it takes in nothing, or all. A resume ends either."""

    name = "a pause of everything"
    arguments = ("pause",)
    recovery = (("resume",), ONCE)

    def seed(self, home: Home) -> None:
        home.exchange("s1", 1)
        home.end("s1")

    def meanwhile(self, case: Case) -> None:
        held = (case.home.places.data / "paused").exists()
        assert case.run(ONCE).code == 0
        waiting = list((case.home.spool() / "pending").glob("*.json"))
        assert len(waiting) == (3 if held else 0), (held, waiting)
        assert (case.home.spool() / "paused").exists() is held

    def assert_none_is_lost(self, case: Case) -> None:
        assert recorded(case, "claude-code") == 2
        assert not [*case.home.root.rglob("paused"), *case.home.root.glob("m/spools/*/pending/*")]


class Resumed(Pausing):
    """The first run after a pause takes in what waited, and takes the mark of the pause away."""

    name = "the first run after a pause"
    arguments = ONCE
    recovery = (ONCE,)

    def prepare(self, case: Case) -> None:
        for arguments in (("pause",), ("resume",)):
            assert case.run(arguments).code == 0

    def meanwhile(self, case: Case) -> None:
        """Do nothing: what waited may have been taken in, or not."""


class Resuming(Pausing):
    """Doing it again ends whatever is left of the pause."""

    name = "the end of a pause"
    arguments = ("resume",)

    def prepare(self, case: Case) -> None:
        assert case.run(("pause",)).code == 0

    def meanwhile(self, case: Case) -> None:
        """Do nothing: what was held may be held still, or not."""


class ProjectResuming(Scenario):
    """The pause goes on or it has been: what its hooks dropped is never known, and what waited before it is."""

    name = "the end of a project's pause"

    def seed(self, home: Home) -> None:
        project = ("--project", str(home.project))
        self.arguments = ("resume", *project)
        self.recovery = (self.arguments, ONCE)
        home.exchange("s1", 1)
        home.end("s1")
        assert home.run("pause", *project).returncode == 0
        home.exchange("s2", 1, prompt="We decided on the zanzibar bucket.")
        home.end("s2")

    def meanwhile(self, case: Case) -> None:
        assert case.run(ONCE).code == 0

    def assert_none_is_lost(self, case: Case) -> None:
        assert recorded(case, "claude-code") == 2
        assert not [*case.home.root.glob("m/pauses.json"), *case.home.root.glob("m/spools/*/pending/*")]
        assert b"zanzibar" not in (case.home.spool() / "evidence.sqlite3").read_bytes()
