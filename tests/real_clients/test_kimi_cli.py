"""The older kimi-cli's own program, in Python: a question with a command in it, from our installed hooks to a memory."""

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

CONFIG = """
default_model = "fake"

[providers.fake]
type = "openai_legacy"
base_url = "{url}/v1"
api_key = "{key}"

[models.fake]
provider = "fake"
model = "fake"
max_context_size = 100000
"""


def test_a_session_of_kimi_cli_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt, the command and how it ended, and the end, its session's file the answer. What
    a hook prints it hands to nobody, so that nothing is recalled."""
    kimi = desk.client_program("kimi", "kimi-cli/bin")
    with FakeModels("Shell", {"command": COMMAND}) as fake:
        desk.write(".kimi/config.toml", CONFIG.format(url=fake.url, key=FAKE_KEY))
        desk.install("kimi-cli")
        done = desk.ask(fake, kimi, "--print", "-p", PROMPT, environ={})
        assert fake.wanted == []
        assert done.returncode == 0, done
        assert ANSWER in done.stdout
        _, _, tool, _ = desk.assert_recorded("kimi-cli")
        assert tool["failed"] is False
        fake.fails()
        desk.ask(fake, kimi, "--print", "-p", QUESTION, environ={})
        assert not fake.was_told(KEPT)
        desk.assert_failed("kimi-cli")
        assert desk.status()["counters"].get("recalls", 0) == 0
