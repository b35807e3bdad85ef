"""OpenCode's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
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
    the next session is told of it."""
    opencode = desk.client_program("opencode")
    with FakeModels("bash", {"command": COMMAND, "description": "Print"}) as fake:
        desk.write(".config/opencode/opencode.json", config(fake.url))
        desk.install("opencode")
        ask = partial(desk.ask, fake, opencode, "run", environ=dict.fromkeys(QUIET, "1"))
        done = ask(PROMPT)
        assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
        desk.assert_recorded("opencode", ended=False)
        fake.fails()
        ask(QUESTION)
        assert fake.was_told(KEPT)
        desk.assert_failed("opencode")
