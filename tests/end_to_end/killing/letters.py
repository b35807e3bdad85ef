"""A dead letter brought back by a person."""

import shutil

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.embedded import recorded
from tests.end_to_end.killing.scenario import ONCE, Case, Scenario


class LetterBack(Scenario):
    """It is where it was or it waits again, whole, and in the end it is recorded once."""

    name = "a dead letter brought back"
    arguments = ("jobs", "retry", "handoff:claude-code/x")
    recovery = (arguments, ONCE)
    codes = (0, 1)  # it may be back by then

    def seed(self, home: Home) -> None:
        home.exchange("s1", 1)
        spool = home.spool()
        for name in ("dead", "corrupt"):
            (spool / name).mkdir(mode=0o700)
        first, second = sorted((spool / "pending").iterdir())
        first.rename(spool / "dead" / "x.json")
        second.unlink()
        (spool / "dead" / "x.reason.json").write_text('{"reason": "expired", "detail": "", "file": "x.json"}')

    def leaves_the_same(self, case: Case) -> bool:
        """Look beyond a reason that has lost its letter: retention removes it with the letters of its age."""
        shutil.rmtree(case.home.spool() / "dead")
        return True

    def assert_none_is_lost(self, case: Case) -> None:
        assert recorded(case, "claude-code") == 1
        assert not list((case.home.spool() / "dead").glob("x.json"))
