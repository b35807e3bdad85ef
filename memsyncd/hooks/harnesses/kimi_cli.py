"""kimi-cli, the older Python program (1D): Kimi Code's fields, with a prompt in one text."""

from memsyncd.hooks.adapter import Adapter, Ending
from memsyncd.hooks.harnesses.kimi import EVENTS, FAMILIAR, FIELDS, TOOLS

ADAPTER = Adapter(
    name="kimi-cli",
    events=EVENTS,
    fields=FIELDS,
    tools=TOOLS,
    ending=Ending(default_seconds=30),
    failures=frozenset({"StopFailure"}),
    familiar=FAMILIAR,
    printed={"user-prompt": "plain"},
)
