"""Our hooks put into a harness's own configuration."""

import json

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario

OWN = {"theme": "dark", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}


class Installing(Scenario):
    """The file is the user's own or has our entries, whole; doing it again has the same effect as doing it once."""

    name = "hooks installed"
    arguments = ("hooks", "install", "--harness", "claude-code")
    recovery = (arguments,)

    def seed(self, home: Home) -> None:
        (home.root / ".claude").mkdir()
        (home.root / ".claude" / "settings.json").write_text(json.dumps(OWN, indent=2))

    def meanwhile(self, case: Case) -> None:
        assert self._settings(case)["theme"] == "dark"

    def assert_none_is_lost(self, case: Case) -> None:
        settings = self._settings(case)
        commands = [hook["command"] for entry in settings["hooks"]["Stop"] for hook in entry["hooks"]]
        assert commands[0] == "true"
        assert len(commands) == 2

    def _settings(self, case: Case) -> dict:  # type: ignore[type-arg]
        found: dict = json.loads((case.home.root / ".claude" / "settings.json").read_text())  # type: ignore[type-arg]
        return found
