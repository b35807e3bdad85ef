"""Gemini CLI's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def test_a_session_of_gemini_cli_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command, the answer and the end, and the next session is told of it."""
    gemini = desk.client_program("gemini")
    desk.write(".gemini/settings.json", SETTINGS)
    desk.install("gemini-cli")
    options = ("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust")
    with FakeModels("run_shell_command", {"command": COMMAND, "description": "Print"}) as fake:
        environ = {"GOOGLE_GEMINI_BASE_URL": fake.url, "GEMINI_API_KEY": FAKE_KEY}
        ask = partial(desk.ask, fake, gemini, *options, "-p", environ=environ)
        done = ask(PROMPT)
        assert fake.wanted == []
        assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
        desk.assert_recorded("gemini-cli")
        fake.fails()
        ask(QUESTION)
        assert fake.was_told(KEPT)
        desk.assert_failed("gemini-cli")
