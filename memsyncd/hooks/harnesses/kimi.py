"""Kimi Code (1D): a prompt is a list of parts, no turn has an id, and no event brings an answer or a transcript's path.

The answer is read from the session's wire.jsonl. `tool_output` is cut to 2,000 characters before it comes. A command
that exits with another code than 0 comes as PostToolUseFailure (seen with 2.1.0).
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, Tools, kept, keys, names

FIELDS = Fields(
    turn=(),
    tool_response=keys("tool_output"),
    tool_id=keys("tool_call_id"),
    error=keys("error", "error_message"),
    agent_id=keys("agent_id"),
    agent_type=keys("agent_name"),
    agent_answer=keys("response"),
)

TOOLS = Tools(
    files=frozenset({"ReadFile", "WriteFile", "StrReplaceFile", "Read", "Write", "Edit"}),
    edits=frozenset({"WriteFile", "StrReplaceFile", "Write", "Edit"}),
    searches=frozenset({"Grep", "Glob", "SearchWeb", "FetchURL", "WebSearch", "WebFetch"}),
    shells=frozenset({"Shell", "Bash"}),
    paths=("path", "file_path"),
    texts=("content", "new", "new_string"),
    success_event="PostToolUse",
)

EVENTS = {
    "SessionStart": Meaning("session-start"),
    "UserPromptSubmit": Meaning("user-prompt"),
    "PostToolUse": Meaning("post-tool"),
    "PostToolUseFailure": Meaning("post-tool-failure"),
    "SubagentStart": Meaning("subagent-start"),
    "SubagentStop": Meaning("subagent-stop"),
    "Stop": Meaning("stop"),
    "StopFailure": Meaning("stop"),
    "PreCompact": Meaning("flush", "pre-compact"),
    "SessionEnd": Meaning("flush", "session-end"),
    **kept("PreToolUse PostCompact Notification"),
}

FAMILIAR = names(
    "stop_hook_active error_type reason trigger token_count estimated_token_count sink notification_type title body"
    " severity"
)

ADAPTER = Adapter(
    name="kimi",
    events={
        **EVENTS,
        **kept(
            "PermissionRequest PermissionResult UserPromptQueued TurnStarted Interrupt SessionHeartbeat TaskStarted"
        ),
    },
    fields=FIELDS,
    tools=TOOLS,
    ending=Ending(default_seconds=30),
    failures=frozenset({"StopFailure"}),
    familiar=FAMILIAR | {"session_title", "client_type", "is_steer", "profile"},
    printed={"user-prompt": "plain"},
)
