"""Claude Code (hooks-and-apis 1A, 5C)."""

from daemon.installing.harness import Event, Handler, Harness, Place, Setting, Switch, Tools

HARNESS = Harness(
    name="claude-code",
    title="Claude Code",
    form="groups",
    events=(
        Event("SessionStart", "session-start"),
        Event("UserPromptSubmit", "user-prompt"),
        Event("PostToolUse", "post-tool"),
        Event("PostToolUseFailure", "post-tool-failure"),
        Event("SubagentStart", "subagent-start"),
        Event("SubagentStop", "subagent-stop"),
        Event("Stop", "stop"),
        Event("PreCompact", "flush", "pre-compact"),
        # the limit also raises the 1.5 s that all hooks share at a session's end
        Event("SessionEnd", "flush", "session-end", is_always_told=True),
    ),
    handler=Handler(constant={"type": "command"}),
    user=Place("settings.json", ".claude", variable="CLAUDE_CONFIG_DIR"),
    # a person's own file of the project, which git leaves out: the line holds paths of this machine
    project=Place("settings.local.json", ".claude"),
    switches=(
        Switch(
            Setting(("disableAllHooks",)),
            value=True,
            sentence="disableAllHooks is true, so Claude Code runs no hook at all",
        ),
    ),
    plugins=(Setting(("enabledPlugins",)),),
    tools=Tools(
        user=Place(".claude.json", "", variable="CLAUDE_CONFIG_DIR"),
        project=Place(".mcp.json", ""),
        constant={"type": "stdio"},
        program="claude",
    ),
)
