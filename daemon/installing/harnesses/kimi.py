"""Kimi Code (hooks-and-apis 1D, 5C). Its configuration does not load with a fifth key in an entry."""

from daemon.installing.harness import Event, Harness, Place, Tools

EVENTS = (
    Event("SessionStart", "session-start"),
    Event("UserPromptSubmit", "user-prompt"),
    Event("PostToolUse", "post-tool"),
    Event("PostToolUseFailure", "post-tool-failure"),
    Event("SubagentStop", "subagent-stop"),
    Event("Stop", "stop"),
    Event("PreCompact", "flush", "pre-compact"),
    Event("SessionEnd", "flush", "session-end"),
)

HARNESS = Harness(
    name="kimi",
    title="Kimi Code",
    form="tables",
    events=EVENTS,
    user=Place("config.toml", ".kimi-code", variable="KIMI_CODE_HOME"),
    tools=Tools(
        user=Place("mcp.json", ".kimi-code", variable="KIMI_CODE_HOME"), project=Place("mcp.json", ".kimi-code")
    ),
)
