"""Copilot CLI's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long


def test_a_session_of_copilot_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command and the end, its transcript the answer, and the
    next session is told of it."""
    copilot = desk.client_program("copilot")
    desk.install("copilot")
    with FakeModels("bash", {"command": COMMAND, "description": "Print"}) as fake:
        environ = {
            "COPILOT_PROVIDER_BASE_URL": f"{fake.url}/v1",
            "COPILOT_PROVIDER_API_KEY": FAKE_KEY,
            "COPILOT_MODEL": "fake",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }
        ask = partial(desk.ask, fake, copilot, "--allow-all-tools", "--no-auto-update", "-p", environ=environ)
        done = ask(PROMPT)
        assert fake.wanted == []
        assert done.returncode == 0, done
        assert ANSWER in done.stdout
        _, _, tool, _ = desk.assert_recorded("copilot")
        assert tool["failed"] is False
        fake.fails()
        ask(QUESTION)
        assert fake.was_told(KEPT)
        desk.assert_failed("copilot")
