"""A handoff so large that the daemon notes that it has it in hand."""

from daemon.intake.in_hand import HEAVY_BYTES
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.embedded import recorded
from tests.end_to_end.killing.scenario import Case, Scenario


class Heavy(Scenario):
    """One death is no reason to give it up; it is recorded once."""

    name = "a very large handoff"

    def seed(self, home: Home) -> None:
        _say(home, "word " * (HEAVY_BYTES // 4))

    def meanwhile(self, case: Case) -> None:
        """Let the agent go on: the note goes with the next handoff that the daemon outlives."""
        _say(case.home, "And a short word.")

    def assert_none_is_lost(self, case: Case) -> None:
        assert recorded(case, "claude-code") == 2
        assert not [*case.home.spool().glob("pending/*"), *case.home.spool().glob("dead/*")]


def _say(home: Home, words: str) -> None:
    home.hook("user-prompt", {"session_id": "s1", "cwd": str(home.project), "prompt_id": words[:9], "prompt": words})
