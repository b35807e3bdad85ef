"""A handoff so large that the daemon notes that it has it in hand."""

from daemon.intake.in_hand import HEAVY_BYTES
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.embedded import recorded
from tests.end_to_end.killing.scenario import Case, Scenario


class Heavy(Scenario):
    """One death is no reason to give it up; it is recorded once."""

    name = "a very large handoff"

    def seed(self, home: Home) -> None:
        said = {"session_id": "s1", "cwd": str(home.project), "prompt_id": "p1", "prompt": "word " * (HEAVY_BYTES // 4)}
        home.hook("user-prompt", said)

    def assert_none_is_lost(self, case: Case) -> None:
        assert recorded(case, "claude-code") == 1
        assert not [*case.home.spool().glob("pending/*"), *case.home.spool().glob("dead/*")]
