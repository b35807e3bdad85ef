"""Gemini CLI (hooks-and-apis 1F, 5C): the one whose limits are in milliseconds. A failed tool is told by AfterTool.

PreCompress comes before each call of the model, compressed or not (seen with 0.61.0): as a flush it would send every
prompt on without its answer.
"""

from daemon.installing.harness import MILLISECONDS, Event, Handler, Harness, Place, Tools

HARNESS = Harness(
    name="gemini-cli",
    title="Gemini CLI",
    form="groups",
    events=(
        Event("SessionStart", "session-start"),
        Event("BeforeAgent", "user-prompt"),
        Event("AfterTool", "post-tool"),
        Event("AfterAgent", "stop"),
        Event("SessionEnd", "flush", "session-end"),
    ),
    handler=Handler(units_per_second=MILLISECONDS, constant={"type": "command", "name": "memsyncd"}),
    user=Place("settings.json", ".gemini"),
    project=Place("settings.json", ".gemini"),
    notes=(),
    tools=Tools(user=Place("settings.json", ".gemini"), project=Place("settings.json", ".gemini")),
)
