"""GitHub Copilot CLI (1H): snake_case for an event that is registered with a capital, camelCase otherwise.

agentStop brings no answer but the transcript's path. No turn and no tool call has an id. With a capital, tools have
Claude Code's names and results snake_case keys (seen with 1.0.102); a shell's result is a success whatever its command
ended with. Copilot also runs hooks of a project's `.claude/settings*.json`; it stamps what it sends with a time, as
Claude Code does not.
"""

from memsyncd.hooks.adapter import Adapter, Ending, ExitTwo, Fields, Meaning, Signature, Tools, kept, keys, names

_EVENTS = {
    "sessionStart": Meaning("session-start"),
    "userPromptSubmitted": Meaning("user-prompt"),
    "postToolUse": Meaning("post-tool"),
    "postToolUseFailure": Meaning("post-tool-failure"),
    "agentStop": Meaning("stop"),
    "subagentStart": Meaning("subagent-start"),
    "subagentStop": Meaning("subagent-stop"),
    "preCompact": Meaning("flush", "pre-compact"),
    "sessionEnd": Meaning("flush", "session-end"),
    **kept("userPromptTransformed preToolUse permissionRequest errorOccurred notification preMcpToolCall"),
}

ADAPTER = Adapter(
    name="copilot",
    events={
        **_EVENTS,
        **{name[0].upper() + name[1:]: meaning for name, meaning in _EVENTS.items()},
        "UserPromptSubmit": _EVENTS["userPromptSubmitted"],
        "Stop": _EVENTS["agentStop"],
    },
    fields=Fields(
        session=keys("session_id", "sessionId"),
        turn=(),
        transcript=keys("transcript_path", "transcriptPath"),
        answer=keys("last_assistant_message"),
        tool=keys("tool_name", "toolName"),
        tool_input=keys("tool_input", "tool_args", "toolArgs"),
        tool_response=keys("tool_result", "tool_response", "toolResult"),
        tool_id=(),
        agent_id=keys("agent_id", "agentId"),
        agent_type=keys("agent_type", "agentType", "agent_name", "agentName"),
        agent_answer=keys("last_assistant_message", "response"),
        agent_transcript=keys("agent_transcript_path"),
    ),
    tools=Tools(
        files=frozenset({"view", "edit", "create", "str_replace_editor", "Read", "Edit", "Write"}),
        edits=frozenset({"edit", "create", "str_replace_editor", "Edit", "Write"}),
        searches=frozenset({"grep", "glob", "web_fetch", "web_search", "Grep", "Glob", "WebFetch", "WebSearch"}),
        shells=frozenset({"bash", "powershell", "Bash"}),
        paths=("path", "file_path"),
        texts=("file_text", "new_str", "content"),
        outputs=("textResultForLlm", "text_result_for_llm"),
        verdict_keys=("resultType", "result_type"),
        verdicts={"success": False, "failure": True, "rejected": True, "denied": True},
        exit_told=r"<shellId: \w+ completed with exit code (-?\d+)>\s*\Z",
        has_error_key=True,
    ),
    ending=Ending(
        ExitTwo.WARNS, default_seconds=30, failure_denies=frozenset({"preToolUse", "PreToolUse", "permissionRequest"})
    ),
    familiar=names(
        "timestamp initialPrompt initial_prompt reason stopReason stop_reason stop_hook_active stopHookActive trigger"
        " customInstructions custom_instructions agentDisplayName agent_display_name"
    ),
    printed={"user-prompt": "additionalContext"},
    signatures=(Signature(frozenset({"claude-code"}), has=("timestamp",), lacks=("permission_mode", "prompt_id")),),
)
