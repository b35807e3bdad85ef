"""Google Antigravity (hooks-and-apis 1E): one named object, in a file that is dropped whole for one wrong value.

PreToolUse is never used: without a decision in its output the tool is denied. PostToolUse tells nothing that the
transcript, which Stop names, does not; a prompt is the first PreInvocation of a turn.
"""

from daemon.installing.harness import Event, Handler, Harness, Place, Tools

HARNESS = Harness(
    name="antigravity",
    title="Antigravity",
    form="object",
    events=(Event("PreInvocation", "user-prompt"), Event("Stop", "stop")),
    handler=Handler(constant={"type": "command"}),
    user=Place("hooks.json", ".gemini/config"),
    project=Place(
        "hooks.json",
        ".agents",
        others=("hooks.json", "../.agent/hooks.json", "../_agents/hooks.json", "../_agent/hooks.json"),
    ),
    tools=Tools(user=Place("mcp_config.json", ".gemini/config")),
)
