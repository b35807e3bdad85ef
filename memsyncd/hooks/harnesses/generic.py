"""Anything that can run a command with JSON on its standard input: every name that a harness is known to use.

The command line says what happened (`memsyncd hook stop --harness NAME`); without it an `event` of these names does.
"""

from memsyncd.hooks.adapter import Adapter, Ending, ExitTwo, Fields, Meaning, Tools, keys, names

ADAPTER = Adapter(
    name="generic",
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
    },
    fields=Fields(
        event=keys("hook_event_name", "event", "event_name"),
        session=keys("session_id", "conversation_id", "sessionId", "conversationId", "thread_id"),
        turn=keys("prompt_id", "turn_id", "generation_id", "message_id"),
        project=(("cwd",), ("workspace_roots", 0), ("workspacePaths", 0), ("directory",), ("project",)),
        transcript=keys("transcript_path", "transcriptPath"),
        prompt=keys("prompt", "user_prompt", "message", "text"),
        answer=keys("last_assistant_message", "prompt_response", "response", "answer", "text"),
        tool=keys("tool_name", "toolName", "tool"),
        tool_input=keys("tool_input", "toolArgs", "tool_args", "args"),
        tool_response=keys("tool_response", "tool_output", "tool_result", "toolResult", "result", "output"),
        tool_id=keys("tool_use_id", "tool_call_id", "call_id", "toolCallId"),
        error=keys("error", "error_message"),
        agent_id=keys("agent_id", "agentId"),
        agent_type=keys("agent_type", "agentType", "agent_name"),
        agent_answer=keys("last_assistant_message", "response", "result", "text"),
    ),
    tools=Tools(commands=("command", "command_line", "cmd"), is_json_text=True, handback="SubagentHandback"),
    ending=Ending(ExitTwo.UNKNOWN, units_per_second=0),
    failures=frozenset({"StopFailure"}),
    familiar=names("permission_mode stop_hook_active trigger reason timestamp"),
)
