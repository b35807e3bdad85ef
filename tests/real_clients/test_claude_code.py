"""Claude Code's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
)


def test_a_session_of_claude_code_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command, the answer and the end, and the next session is told of it."""
    claude = desk.client_program("claude")
    desk.install("claude-code")
    with FakeModels("Bash", {"command": COMMAND, "description": "Print"}) as fake:
        environ = {"ANTHROPIC_BASE_URL": fake.url, "ANTHROPIC_API_KEY": FAKE_KEY, **dict.fromkeys(QUIET, "1")}
        ask = partial(desk.ask, fake, claude, "--allowedTools=Bash", "-p", environ=environ)
        done = ask(PROMPT)
        assert fake.wanted == []
        assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
        desk.assert_recorded("claude-code")
        fake.fails()
        ask(QUESTION)
        assert fake.was_told(KEPT)
        desk.assert_failed("claude-code")
