"""Windsurf's Cascade (hooks-and-apis 1I). It has no session events, no time limits, and shows the model nothing."""

from daemon.installing.harness import Event, Handler, Harness, Place, Tools

HARNESS = Harness(
    name="windsurf",
    title="Windsurf",
    form="list",
    events=(
        Event("pre_user_prompt", "user-prompt"),
        Event("post_write_code", "post-tool"),
        Event("post_run_command", "post-tool"),
        Event("post_mcp_tool_use", "post-tool"),
        Event("post_cascade_response", "stop"),
    ),
    handler=Handler(limit="", constant={"show_output": False}),
    user=Place("hooks.json", ".codeium/windsurf"),
    project=Place("hooks.json", ".windsurf"),
    tools=Tools(user=Place("mcp_config.json", ".codeium/windsurf")),
)
