"""Windsurf's Cascade (1I): capture only. What an event is about lies in `tool_info`.

The facts name `tool_info` alone, and of what is in it the prompt; the other names are those of its documentation as we
know them, unverified. There are no sessions, no compaction and no results of commands.
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, Tools, kept, keys

ADAPTER = Adapter(
    name="windsurf",
    events={
        "pre_user_prompt": Meaning("user-prompt"),
        "post_write_code": Meaning("post-tool"),
        "post_run_command": Meaning("post-tool"),
        "post_mcp_tool_use": Meaning("post-tool"),
        "post_read_code": Meaning("post-tool"),
        "post_cascade_response": Meaning("stop"),
        **kept(
            "pre_read_code pre_write_code pre_run_command pre_mcp_tool_use post_cascade_response_with_transcript"
            " post_setup_worktree"
        ),
    },
    fields=Fields(
        event=keys("agent_action_name", "hook_event_name"),
        session=keys("trajectory_id", "session_id"),
        turn=keys("execution_id"),
        project=(("cwd",), ("tool_info", "cwd"), ("tool_info", "workspace_path")),
        transcript=(("tool_info", "transcript_path"), ("transcript_path",)),
        model=keys("model_name"),
        prompt=(("tool_info", "user_prompt"), ("prompt",)),
        answer=(("tool_info", "response"), ("tool_info", "cascade_response"), ("response",)),
        tool=(("tool_info", "mcp_tool_name"),),
        tool_input=(("tool_info", "mcp_tool_arguments"), ("tool_info",)),
        tool_response=(("tool_info", "mcp_result"),),
        tool_id=(),
        agent_id=(),
        agent_type=(),
    ),
    tools=Tools(
        files=frozenset({"read_code", "write_code"}),
        edits=frozenset({"write_code"}),
        searches=frozenset(),
        shells=frozenset({"run_command"}),
        commands=("command_line", "command"),
        paths=("file_path", "path"),
        by_event={
            "post_read_code": "read_code",
            "post_write_code": "write_code",
            "post_run_command": "run_command",
            "post_mcp_tool_use": "mcp",
        },
    ),
    ending=Ending(units_per_second=0),
    familiar=frozenset({"timestamp"}),
    tells_end=False,
)
