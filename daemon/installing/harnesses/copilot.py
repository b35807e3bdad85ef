"""GitHub Copilot CLI (hooks-and-apis 1H, 5C): a file of our own. Names in capitals bring the snake_case payload."""

from daemon.installing.harness import Event, Handler, Harness, Place, Setting, Switch, Tools

HARNESS = Harness(
    name="copilot",
    title="Copilot CLI",
    form="list",
    version=1,
    events=(
        Event("SessionStart", "session-start"),
        Event("UserPromptSubmit", "user-prompt"),
        Event("PostToolUse", "post-tool"),
        Event("PostToolUseFailure", "post-tool-failure"),
        Event("SubagentStop", "subagent-stop"),
        Event("Stop", "stop"),
        Event("PreCompact", "flush", "pre-compact"),
        Event("SessionEnd", "flush", "session-end", is_always_told=True),
    ),
    handler=Handler(command="bash", limit="timeoutSec", constant={"type": "command"}),
    user=Place("memsyncd.json", ".copilot/hooks", variable="COPILOT_HOME", inside="hooks"),
    project=Place("memsyncd.json", ".github/hooks"),
    notes=("Copilot CLI also reads a project's .claude/settings*.json: hooks of ours there tell each event twice.",),
    switches=(
        Switch(
            Setting(("disableAllHooks",)),
            value=True,
            sentence="disableAllHooks is true, so Copilot CLI runs no hook of this file",
        ),
    ),
    tools=Tools(
        user=Place("mcp-config.json", ".copilot", variable="COPILOT_HOME"),
        project=Place("mcp.json", ".github"),
        constant={"type": "local", "tools": ["*"]},
    ),
)
