"""Gemini CLI's own program: a question with a command in it, from our installed hooks to a memory."""

import pytest

from tests.real_clients.conftest import FAKE_KEY, PROMPT, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def test_a_session_of_gemini_cli_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command, the answer and the end, and the session's words are found."""
    gemini = desk.program("gemini")
    desk.write(".gemini/settings.json", SETTINGS)
    desk.install("gemini-cli")
    options = ("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust")
    with FakeModels("run_shell_command", {"command": COMMAND, "description": "Print"}) as fake:
        environ = {"GOOGLE_GEMINI_BASE_URL": fake.url, "GEMINI_API_KEY": FAKE_KEY}
        done = desk.ask(fake, gemini, *options, "-p", PROMPT, environ=environ)
    assert fake.wanted == []
    assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
    desk.assert_recorded("gemini-cli")
