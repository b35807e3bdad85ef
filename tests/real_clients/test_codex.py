"""Codex's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

CONFIG = """
model = "fake"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
apps = false
"""


def test_a_session_of_codex_is_remembered(desk: Desk) -> None:
    """Its hooks, approved by its own option, tell the start, the prompt, the command, the answer and the end, and the next
    session is told of it."""
    codex = desk.client_program("codex")
    options = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox")
    with FakeModels("exec_command", {"cmd": COMMAND}) as fake:
        desk.write(".codex/config.toml", CONFIG.format(url=fake.url))
        desk.install("codex")
        ask = partial(desk.ask, fake, codex, "exec", *options, environ={"FAKE_KEY": FAKE_KEY})
        done = ask(PROMPT)
        assert fake.wanted == []
        assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done
        desk.assert_recorded("codex")
        ask(QUESTION)
        assert fake.was_told(KEPT)
