"""OpenAI Codex CLI (hooks-and-apis 1B, 5C).

`async` is never used: older builds do not run such an entry at all. There is no event for a tool that failed.
"""

from daemon.installing.harness import Event, Handler, Harness, Place, Setting, Switch, Tools

CONFIG = Place("config.toml", ".codex", variable="CODEX_HOME")

HARNESS = Harness(
    name="codex",
    title="Codex",
    form="groups",
    events=(
        Event("SessionStart", "session-start"),
        Event("UserPromptSubmit", "user-prompt"),
        Event("PostToolUse", "post-tool"),
        Event("SubagentStart", "subagent-start"),
        Event("SubagentStop", "subagent-stop"),
        Event("Stop", "stop"),
        Event("PreCompact", "flush", "pre-compact"),
        Event("SessionEnd", "flush", "session-end", limit=3),  # more is cut to 3 s with a warning
    ),
    handler=Handler(constant={"type": "command"}),
    user=Place("hooks.json", ".codex", variable="CODEX_HOME"),
    project=Place("hooks.json", ".codex"),
    switches=tuple(
        Switch(Setting(("features", name), CONFIG), value=False, sentence=f"features.{name} is false in config.toml")
        for name in ("hooks", "codex_hooks")
    ),
    notes=("Codex runs a new or changed hook only after you approved it: open Codex and type /hooks.",),
    tools=Tools(
        user=CONFIG,
        project=Place("config.toml", ".codex"),
        path=("mcp_servers",),
    ),
)
