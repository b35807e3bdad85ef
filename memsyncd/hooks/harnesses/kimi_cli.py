"""kimi-cli, the older Python program (1D): Kimi Code's fields, with a prompt in one text, empty where it has a picture.

`tool_output` is the printed form of its result object, cut, which tells first whether the tool has failed. Of what a
hook prints it looks for a decision alone, and hands none of it to the model (seen with 1.49.0).
"""

from dataclasses import replace

from memsyncd.hooks.adapter import Adapter, Ending
from memsyncd.hooks.harnesses.kimi import EVENTS, FAMILIAR, FIELDS, TOOLS

ADAPTER = Adapter(
    name="kimi-cli",
    events=EVENTS,
    fields=FIELDS,
    tools=replace(TOOLS, verdicts_told={r"\Ais_error=True ": True, r"\Ais_error=False ": False}, success_event=""),
    ending=Ending(default_seconds=30),
    failures=frozenset({"StopFailure"}),
    familiar=FAMILIAR,
)
