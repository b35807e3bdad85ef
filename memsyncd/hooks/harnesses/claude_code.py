"""Claude Code (1A). Stop tells the answer, never after an interrupt; what follows an API error is StopFailure."""

from memsyncd.hooks.adapter import Adapter, Ending, Meaning, Tools, kept, names

ADAPTER = Adapter(
    name="claude-code",
    events={
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
        **kept(
            "Setup InstructionsLoaded UserPromptExpansion MessageDisplay PreToolUse PermissionRequest PermissionDenied"
            " PostToolBatch Notification TaskCreated TaskCompleted TeammateIdle ConfigChange CwdChanged DirectoryAdded"
            " FileChanged WorktreeCreate WorktreeRemove PostCompact PreModelSwitch PostModelSwitch Elicitation"
            " ElicitationResult"
        ),
    },
    failures=frozenset({"StopFailure"}),
    tools=Tools(handback="SubagentHandback"),
    # a hook's own `timeout` raises the 1.5 s that all share at a session's end
    ending=Ending(default_seconds=600, end_seconds=1.5),
    familiar=names(
        "scratchpad_dir permission_mode effort session_title agent_name seconds_since_last_response context_tokens"
        " prompt_cache_likely_expired estimated_cache_write_usd stop_hook_active background_tasks session_crons"
        " error_details trigger custom_instructions reason"
    ),
    printed={"user-prompt": "hookSpecificOutput", "subagent-start": "hookSpecificOutput"},
)
