"""Cursor (1C): `conversation_id` on every event, `generation_id` for each prompt, the project in `workspace_roots`.

The answer comes with afterAgentResponse; `stop` brings none. A tool's output is a text that holds JSON. Cursor can run
Claude Code's hooks beside its own, or instead: `cursor_version` tells. The fields of a subagent's events are not in the
facts; those looked for are the names that others use.
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, Signature, Tools, kept, keys, names

ADAPTER = Adapter(
    name="cursor",
    events={
        "sessionStart": Meaning("session-start"),
        "beforeSubmitPrompt": Meaning("user-prompt"),
        "postToolUse": Meaning("post-tool"),
        "postToolUseFailure": Meaning("post-tool-failure"),
        "subagentStart": Meaning("subagent-start"),
        "subagentStop": Meaning("subagent-stop"),
        "afterAgentResponse": Meaning("stop"),
        "stop": Meaning("stop"),
        "preCompact": Meaning("flush", "pre-compact"),
        "sessionEnd": Meaning("flush", "session-end"),
        **kept(
            "afterAgentThought preToolUse beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution"
            " beforeReadFile afterFileEdit beforeTabFileRead afterTabFileEdit workspaceOpen"
        ),
    },
    fields=Fields(
        session=keys("conversation_id", "session_id"),
        turn=keys("generation_id"),
        project=(("workspace_roots", 0), ("cwd",)),
        answer=keys("text", "last_assistant_message"),
        tool_response=keys("tool_output", "tool_response"),
        error=keys("error_message", "error"),
        duration_ms=(),  # `duration` has no unit in the facts
        agent_id=keys("subagent_id", "agent_id"),
        agent_type=keys("subagent_type", "agent_type"),
        agent_answer=keys("result", "summary", "text", "last_assistant_message"),
    ),
    tools=Tools(
        files=frozenset({"Read", "Write", "Edit", "Delete"}),
        edits=frozenset({"Write", "Edit", "Delete"}),
        searches=frozenset({"Grep", "Glob", "WebSearch", "WebFetch"}),
        shells=frozenset({"Shell", "Bash"}),
        paths=("file_path", "path", "target_file"),
        texts=("content", "contents", "new_string"),
        is_json_text=True,
    ),
    # only an entry that says failClosed lets a failed hook stop anything, and ours does not
    ending=Ending(),
    familiar=names(
        "model_id model_params cursor_version user_email is_background_agent composer_mode reason final_status"
        " attachments status loop_count agent_message duration failure_type trigger context_usage_percent"
        " context_tokens context_window_size message_count messages_to_compact is_first_compaction"
        " duration_ms"
    ),
    printed={"user-prompt": "additional_context"},
    signatures=(Signature(frozenset({"claude-code"}), has=("cursor_version",)),),
)
