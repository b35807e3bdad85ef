"""The name by which a data directory is known to those that share a queue, made at its first start."""

import os
from collections.abc import Sequence
from pathlib import Path

from daemon.fleet.identity import NAME, own_name
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario


def name_itself(arguments: Sequence[str]) -> int:
    """Make the name, or read it."""
    own_name(Path(os.environ["HOME"], "m"))
    return 0


class Naming(Scenario):
    """It is made whole or not at all, and stays."""

    name = "a name in a shared queue"
    program = recovery_program = f"{__name__}:name_itself"
    recovery = ((), ())

    def seed(self, home: Home) -> None:
        home.places.data.mkdir(mode=0o700)

    def meanwhile(self, case: Case) -> None:
        path = case.home.places.data / NAME
        case.notes["name"] = path.read_text() if path.exists() else None

    def assert_none_is_lost(self, case: Case) -> None:
        assert (case.home.places.data / NAME).read_text() == (case.notes["name"] or own_name(case.home.places.data))

    def leaves_the_same(self, case: Case) -> bool:
        """Sweep as a daemon does, which is not run here."""
        for path in case.home.places.data.glob(".*.tmp"):
            path.unlink()
        return True
