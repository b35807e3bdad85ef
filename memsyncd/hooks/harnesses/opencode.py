"""OpenCode (1G): it runs no commands, so a JavaScript module of ours does, and sends Claude Code's names.

Who waits for it is that module: an exit code is seen by nobody, and a line has 5 s. No event tells that the program
ends. Subagents are sessions of their own; the module tells their tools as the parent's. A tool that failed is one that
the message's part tells as an error; a command's exit code stands beside its output.
"""

from memsyncd.hooks.adapter import Adapter, Ending, ExitTwo, Meaning, Tools, kept

ADAPTER = Adapter(
    name="opencode",
    events={
        "session.created": Meaning("session-start"),
        "chat.message": Meaning("user-prompt"),
        "tool.execute.after": Meaning("post-tool"),
        "message.part.updated": Meaning("post-tool-failure"),
        "session.idle": Meaning("stop"),
        "experimental.session.compacting": Meaning("flush", "pre-compact"),
        "session.deleted": Meaning("flush", "session-end"),
        **kept("session.error session.compacted"),
    },
    tools=Tools(
        files=frozenset({"read", "write", "edit", "multiedit", "patch"}),
        edits=frozenset({"write", "edit", "multiedit", "patch"}),
        searches=frozenset({"grep", "glob", "list", "webfetch", "websearch"}),
        shells=frozenset({"bash"}),
        paths=("filePath", "path"),
        texts=("content", "newString"),
    ),
    ending=Ending(ExitTwo.NO_PROCESS, units_per_second=0, default_seconds=5),
    familiar=frozenset({"trigger", "reason"}),
    printed={"user-prompt": "plain"},
    tells_end=False,
)
