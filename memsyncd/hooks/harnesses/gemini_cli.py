"""Gemini CLI (1F): BeforeAgent is the prompt, AfterAgent the answer. No turn and no tool call has an id.

A failed tool comes with AfterTool and an `error` in its response. What a shell's program ended with is told at the end
of a text: an exit code that is not 0, or a signal, and the process's group (seen with 0.61.0).
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, Tools, kept, keys, names

END = r"\n</untrusted_context>\s*\Z"

ADAPTER = Adapter(
    name="gemini-cli",
    events={
        "SessionStart": Meaning("session-start"),
        "BeforeAgent": Meaning("user-prompt"),
        "AfterTool": Meaning("post-tool"),
        "AfterAgent": Meaning("stop"),
        "PreCompress": Meaning("flush", "pre-compact"),
        "SessionEnd": Meaning("flush", "session-end"),
        **kept("BeforeModel AfterModel BeforeToolSelection BeforeTool Notification"),
    },
    fields=Fields(turn=(), answer=keys("prompt_response"), tool_id=(), agent_id=(), agent_type=()),
    tools=Tools(
        files=frozenset({"read_file", "write_file", "replace"}),
        edits=frozenset({"write_file", "replace"}),
        searches=frozenset({"search_file_content", "grep_search", "glob", "google_web_search", "web_fetch"}),
        shells=frozenset({"run_shell_command"}),
        paths=("file_path", "absolute_path", "path"),
        outputs=("llmContent", "returnDisplay"),
        exit_told=r"\nExit Code: (-?\d+)(?:\n(?:Signal|Background PIDs|Process Group PGID): .*)*" + END,
        verdicts_told={
            r"\nSignal: .+(?:\n(?:Background PIDs|Process Group PGID): .*)*" + END: True,
            r"\nProcess Group PGID: \d+" + END: False,
        },
        has_error_key=True,
    ),
    ending=Ending(units_per_second=1000, default_seconds=60),
    familiar=names("timestamp reason stop_hook_active mcp_context original_request_name trigger"),
    printed={"user-prompt": "hookSpecificOutput"},
)
