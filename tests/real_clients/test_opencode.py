"""OpenCode's own program: a question with a command in it, from our installed hooks to a memory."""

import pytest

from tests.real_clients.conftest import FAKE_KEY, PROMPT, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

QUIET = ("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD")


def config(url: str) -> dict[str, object]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # which the program has in itself
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": FAKE_KEY},
        "models": {"fake": {"name": "fake"}},
    }
    models = {"model": "fake/fake", "small_model": "fake/fake", "provider": {"fake": provider}}
    return {"autoupdate": False, "share": "disabled", "permission": "allow", **models}


def test_a_session_of_opencode_is_remembered(desk: Desk) -> None:
    """Our module tells the start, the prompt, the command and the answer, the end is seen in the process being gone, and
    the session's words are found."""
    opencode = desk.program("opencode")
    with FakeModels("bash", {"command": COMMAND, "description": "Print"}) as fake:
        desk.write(".config/opencode/opencode.json", config(fake.url))
        desk.install("opencode")
        done = desk.ask(fake, opencode, "run", PROMPT, environ=dict.fromkeys(QUIET, "1"))
    assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
    desk.assert_recorded("opencode", ended=False)
