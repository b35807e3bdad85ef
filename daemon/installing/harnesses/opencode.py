"""OpenCode (hooks-and-apis 1G, 5C): no command hooks but JavaScript modules, so ours runs the same lines.

Its events are those the module listens to; `../opencode_plugin.js` says for which it runs a line.
"""

from daemon.installing.harness import Event, Handler, Harness, Place, Setting, Tools

CONFIG = Place(
    "opencode.json",
    ".config/opencode",
    variable="XDG_CONFIG_HOME",
    inside="opencode",
    others=("opencode.json", "opencode.jsonc"),
)

HARNESS = Harness(
    name="opencode",
    title="OpenCode",
    form="script",
    events=(
        Event("session.created", "session-start"),
        Event("chat.message", "user-prompt"),
        Event("tool.execute.after", "post-tool"),
        Event("message.part.updated", "post-tool-failure"),
        Event("session.idle", "stop"),
        Event("experimental.session.compacting", "flush", "pre-compact"),
        Event("session.deleted", "flush", "session-end"),
    ),
    handler=Handler(limit=""),  # the module has its own
    user=Place("memsyncd.js", ".config/opencode/plugins", variable="XDG_CONFIG_HOME", inside="opencode/plugins"),
    project=Place("memsyncd.js", ".opencode/plugins"),
    plugins=(Setting(("plugin",), CONFIG),),
    tools=Tools(
        user=CONFIG,
        project=Place("opencode.json", "", others=("opencode.json", "opencode.jsonc")),
        path=("mcp",),
        is_opencode=True,
    ),
)
