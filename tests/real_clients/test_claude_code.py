"""Claude Code's own program: a question with a command in it, from our installed hooks to a memory."""

import pytest

from tests.real_clients.conftest import FAKE_KEY, PROMPT, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
)


def test_a_session_of_claude_code_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command, the answer and the end, and the session's words are found."""
    claude = desk.program("claude")
    desk.install("claude-code")
    with FakeModels("Bash", {"command": COMMAND, "description": "Print"}) as fake:
        environ = {"ANTHROPIC_BASE_URL": fake.url, "ANTHROPIC_API_KEY": FAKE_KEY, **dict.fromkeys(QUIET, "1")}
        done = desk.ask(fake, claude, "-p", PROMPT, "--allowedTools", "Bash", environ=environ)
    assert fake.wanted == []
    assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
    desk.assert_recorded("claude-code")
