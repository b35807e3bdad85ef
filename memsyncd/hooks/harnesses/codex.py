"""OpenAI Codex CLI (1B): Claude Code's names, `turn_id` for the turn, and no event for a tool that failed.

`last_assistant_message` may be null; the transcript tells the answer then. Tools are a shell and patches, whose text
is an edit and never kept; a response may be a text that holds JSON with the exit code in its `metadata`.
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, Tools, kept, keys, names

ADAPTER = Adapter(
    name="codex",
    events={
        "SessionStart": Meaning("session-start"),
        "UserPromptSubmit": Meaning("user-prompt"),
        "PostToolUse": Meaning("post-tool"),
        "SubagentStart": Meaning("subagent-start"),
        "SubagentStop": Meaning("subagent-stop"),
        "Stop": Meaning("stop"),
        "PreCompact": Meaning("flush", "pre-compact"),
        "SessionEnd": Meaning("flush", "session-end"),
        **kept("PreToolUse PermissionRequest PostCompact Interrupt"),
    },
    fields=Fields(turn=keys("turn_id")),
    tools=Tools(
        files=frozenset({"apply_patch", "Read", "Write", "Edit"}),
        edits=frozenset({"apply_patch", "Write", "Edit"}),
        shells=frozenset({"Bash", "shell", "exec_command", "local_shell"}),
        commands=("command", "cmd"),
        is_json_text=True,
    ),
    ending=Ending(default_seconds=600, end_seconds=1),
    familiar=names("permission_mode stop_hook_active trigger reason"),
    printed={"user-prompt": "hookSpecificOutput", "subagent-start": "hookSpecificOutput"},
)
