"""Cursor (hooks-and-apis 1C, 5C). The answer comes with afterAgentResponse; `stop` brings none and is left out."""

from daemon.installing.harness import Event, Harness, Place, Tools

HARNESS = Harness(
    name="cursor",
    title="Cursor",
    form="list",
    version=1,
    events=(
        Event("sessionStart", "session-start"),
        Event("beforeSubmitPrompt", "user-prompt"),
        Event("postToolUse", "post-tool"),
        Event("postToolUseFailure", "post-tool-failure"),
        Event("subagentStop", "subagent-stop"),
        Event("afterAgentResponse", "stop"),
        Event("preCompact", "flush", "pre-compact"),
        Event("sessionEnd", "flush", "session-end"),
    ),
    user=Place("hooks.json", ".cursor"),
    project=Place("hooks.json", ".cursor"),
    notes=("Cursor can also run Claude Code's hooks (third-party hooks): with both, each event is told twice.",),
    tools=Tools(user=Place("mcp.json", ".cursor"), project=Place("mcp.json", ".cursor"), constant={"type": "stdio"}),
)
