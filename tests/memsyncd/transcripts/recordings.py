"""A short session in each format: the same talk, with what that format puts between its words.

Each has two exchanges. In the first the model calls a tool before it answers; the second is answered at once.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memsyncd.transcripts import antigravity, claude_code, codex, copilot, cursor, gemini_cli, kimi_cli, kimi_code
from memsyncd.transcripts.reader import Format

FIRST, LOOKING, ANSWER = "rename the tax module", "I'll look for its users first.", "Renamed it; 3 imports follow."
SECOND, AGAIN = "and the tests?", "They pass."

DAY = "2026-11-02T08:0{}:00.000Z"
"""Minute by minute: the first exchange begins at minute 0, the second at minute 5."""


def jsonl(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the records as a transcript's bytes."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def claude(
    kind: str, name: str, parent: str | None, minute: int, message: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, **message},
        "uuid": name,
        "timestamp": DAY.format(minute),
        "sessionId": "s",
        "cwd": "/w/shop",
        **more,
    }


CLAUDE_CODE = [
    {"type": "summary", "summary": "Renaming", "leafUuid": "zz"},
    claude("user", "u1", None, 0, {"content": FIRST}, origin={"kind": "human"}, promptSource="typed"),
    claude(
        "assistant", "a1", "u1", 1, {"id": "m1", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]}
    ),
    claude("assistant", "a2", "a1", 1, {"id": "m1", "content": [{"type": "text", "text": LOOKING}]}),
    claude(
        "assistant",
        "a3",
        "a2",
        1,
        {
            "id": "m1",
            "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "t1", "name": "Grep", "input": {}}],
        },
    ),
    claude(
        "user",
        "r1",
        "a3",
        2,
        {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "tax.py"}]},
        toolUseResult={},
    ),
    claude(
        "assistant",
        "x1",
        None,
        2,
        {"id": "mx", "content": [{"type": "text", "text": "a subagent's words"}]},
        isSidechain=True,
        agentId="g",
    ),
    claude("user", "c1", "r1", 2, {"content": "a note of the harness"}, isMeta=True),
    claude(
        "assistant",
        "a4",
        "c1",
        3,
        {"id": "m2", "stop_reason": "end_turn", "content": [{"type": "text", "text": ANSWER}]},
    ),
    {"type": "system", "subtype": "stop_hook_summary", "uuid": "y1", "parentUuid": "a4", "isSidechain": False},
    claude("user", "b1", "y1", 4, {"content": "This session continues an earlier one."}, isCompactSummary=True),
    claude("user", "u2", "b1", 5, {"content": [{"type": "text", "text": SECOND}]}, origin=None),
    claude(
        "assistant",
        "a5",
        "u2",
        6,
        {"id": "m3", "stop_reason": "end_turn", "content": [{"type": "text", "text": AGAIN}]},
    ),
]


def rollout(minute: int, line: str, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": DAY.format(minute), "type": line, "payload": {"type": kind, **payload}}


CODEX = [
    {
        "timestamp": DAY.format(0),
        "type": "session_meta",
        "payload": {"id": "s", "cwd": "/w/shop", "base_instructions": {"text": "x" * 500}},
    },
    rollout(
        0,
        "response_item",
        "message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>…</environment_context>"}],
    ),
    rollout(0, "event_msg", "task_started", turn_id="1"),
    rollout(0, "response_item", "message", role="user", content=[{"type": "input_text", "text": FIRST}]),
    rollout(0, "event_msg", "user_message", message=FIRST),
    rollout(1, "event_msg", "agent_message", message=LOOKING),
    rollout(
        1,
        "response_item",
        "message",
        role="assistant",
        phase="commentary",
        content=[{"type": "output_text", "text": LOOKING}],
    ),
    rollout(2, "response_item", "function_call", name="shell", arguments="{}", call_id="c"),
    rollout(2, "response_item", "function_call_output", call_id="c", output="tax.py"),
    rollout(
        3,
        "response_item",
        "message",
        role="assistant",
        phase="final_answer",
        content=[{"type": "output_text", "text": ANSWER}],
    ),
    rollout(3, "event_msg", "agent_message", message=ANSWER),
    rollout(3, "event_msg", "task_complete", turn_id="1", last_agent_message=ANSWER),
    {
        "timestamp": DAY.format(4),
        "type": "compacted",
        "payload": {"message": "so far", "replacement_history": [{"role": "user", "content": "old"}]},
    },
    rollout(5, "event_msg", "user_message", message=SECOND),
    rollout(6, "event_msg", "task_complete", turn_id="2", last_agent_message=AGAIN),
]


def brain(number: int, source: str, kind: str, minute: int, content: str, **more: Any) -> dict[str, Any]:
    return {
        "step_index": number,
        "source": source,
        "type": kind,
        "status": "DONE",
        "created_at": DAY.format(minute),
        "content": content,
        **more,
    }


ANTIGRAVITY = [
    brain(
        0,
        "USER_EXPLICIT",
        "USER_INPUT",
        0,
        f"<USER_REQUEST>\n{FIRST}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>now</ADDITIONAL_METADATA>",
    ),
    brain(1, "SYSTEM", "SYSTEM_MESSAGE", 0, "for reference only: an earlier summary"),
    brain(2, "MODEL", "PLANNER_RESPONSE", 1, LOOKING, tool_calls=[{"name": "grep", "args": {}}], thinking="hm"),
    brain(3, "MODEL", "GENERIC", 2, "tax.py"),
    brain(4, "MODEL", "PLANNER_RESPONSE", 2, "no such tool", status="ERROR"),
    brain(5, "MODEL", "PLANNER_RESPONSE", 3, ANSWER),
    brain(6, "USER_EXPLICIT", "USER_INPUT", 5, SECOND),
    brain(7, "MODEL", "PLANNER_RESPONSE", 6, AGAIN, tool_calls=[]),
]

GEMINI_CLI = [
    {"sessionId": "s", "projectHash": "p", "startTime": DAY.format(0), "kind": "main"},
    {"id": "1", "timestamp": DAY.format(0), "type": "user", "content": [{"text": FIRST}]},
    {"id": "2", "timestamp": DAY.format(1), "type": "gemini", "content": "", "toolCalls": []},
    {
        "id": "2",
        "timestamp": DAY.format(1),
        "type": "gemini",
        "content": LOOKING,
        "toolCalls": [{"id": "t", "name": "grep"}],
        "tokens": {},
    },
    {"id": "3", "timestamp": DAY.format(2), "type": "info", "content": "Updated."},
    {"id": "4", "timestamp": DAY.format(3), "type": "gemini", "content": ANSWER, "thoughts": []},
    {"$set": {"lastUpdated": DAY.format(4)}},
    {"id": "5", "timestamp": DAY.format(5), "type": "user", "content": SECOND},
    {"id": "6", "timestamp": DAY.format(6), "type": "gemini", "content": [{"text": AGAIN}]},
]


def wire(kind: str, minute: int, **payload: Any) -> dict[str, Any]:
    return {"type": kind, **payload, "time": 1_793_606_400_000 + minute * 60_000}


def loop(kind: str, minute: int, step: str, **event: Any) -> dict[str, Any]:
    turn, number = step.split(".")
    return wire("context.append_loop_event", minute, event={"type": kind, "turnId": turn, "step": int(number), **event})


def spoken(text: str) -> list[dict[str, str]]:
    return [{"type": "think", "think": "hm"}, {"type": "text", "text": text}]


KIMI_CODE = [
    {"type": "metadata", "protocol_version": "1.5", "created_at": 1_793_606_400_000},
    wire("turn.prompt", 0, input=spoken(FIRST), origin={"kind": "user"}),
    wire(
        "context.append_message",
        0,
        message={"role": "user", "content": spoken(FIRST), "toolCalls": [], "origin": {"kind": "user"}},
    ),
    wire(
        "context.append_message",
        0,
        message={"role": "user", "content": spoken("a reminder"), "origin": {"kind": "injection"}},
    ),
    loop("step.begin", 1, "t1.1"),
    loop("content.part", 1, "t1.1", part={"type": "think", "think": "hm"}),
    loop("content.part", 1, "t1.1", part={"type": "text", "text": LOOKING}),
    loop("tool.call", 1, "t1.1", name="grep"),
    loop("tool.result", 2, "t1.1", output="tax.py"),
    loop("step.end", 2, "t1.1", finishReason="tool_calls"),
    loop("step.begin", 3, "t1.2"),
    loop("content.part", 3, "t1.2", part={"type": "text", "text": ANSWER[:8]}),
    loop("content.part", 3, "t1.2", part={"type": "text", "text": ANSWER[8:]}),
    loop("step.end", 3, "t1.2", finishReason="end_turn"),
    wire("turn.ended", 3),
    wire("usage.record", 3, input=10),
    wire("context.apply_compaction", 4, summary="so far"),
    wire("turn.prompt", 4, input=spoken("check the queue"), origin={"kind": "cron_job"}),
    wire("turn.prompt", 5, input=spoken(SECOND), origin={"kind": "user"}),
    loop("content.part", 6, "t2.1", part={"type": "text", "text": AGAIN}),
    loop("step.end", 6, "t2.1", finishReason="end_turn"),
]


def old_wire(kind: str, minute: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1_793_606_400.0 + minute * 60, "message": {"type": kind, "payload": payload}}


KIMI_CLI = [
    {"type": "metadata", "protocol_version": "1"},
    old_wire("TurnBegin", 0, user_input=FIRST),
    old_wire("StepBegin", 0, n=1),
    old_wire("ContentPart", 1, type="think", think="hm"),
    old_wire("ContentPart", 1, type="text", text=LOOKING),
    old_wire("ToolCall", 1, id="t"),
    old_wire(
        "SubagentEvent", 1, event={"type": "ContentPart", "payload": {"type": "text", "text": "a subagent's words"}}
    ),
    old_wire("StepBegin", 2, n=2),
    old_wire("ContentPart", 3, type="text", text=ANSWER[:8]),
    old_wire("ContentPart", 3, type="text", text=ANSWER[8:]),
    old_wire("TurnEnd", 3),
    old_wire("TurnBegin", 5, user_input=spoken(SECOND)),
    old_wire("StepBegin", 5, n=1),
    old_wire("ContentPart", 6, type="text", text=AGAIN),
    old_wire("TurnEnd", 6),
]


def happened(kind: str, name: str, minute: int, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": name, "timestamp": DAY.format(minute), "parentId": None, "data": data}


COPILOT = [
    happened("session.start", "e0", 0, sessionId="s"),
    happened("user.message", "e1", 0, content=FIRST, transformedContent=f"<now>{FIRST}"),
    happened("assistant.turn_start", "e2", 1, turnId="0"),
    happened(
        "assistant.message",
        "e3",
        1,
        messageId="m1",
        content=LOOKING,
        toolRequests=[{"toolCallId": "t", "name": "grep"}],
    ),
    happened("tool.execution_start", "e4", 1, toolCallId="t"),
    happened("assistant.message", "e5", 2, messageId="m9", content="a subagent's words", parentToolCallId="t"),
    happened("assistant.turn_end", "e6", 2, turnId="0"),
    happened("assistant.message", "e7", 3, messageId="m2", content=ANSWER, toolRequests=[]),
    happened("assistant.turn_end", "e8", 3, turnId="1"),
    happened("user.message", "e9", 5, content=SECOND),
    happened("assistant.message", "e10", 6, messageId="m3", content=AGAIN),
]

CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": f"<user_query>\n{FIRST}\n</user_query>"}]}},
    {
        "role": "assistant",
        "message": {"content": [{"type": "text", "text": LOOKING}, {"type": "tool_use", "name": "grep"}]},
    },
    {"role": "assistant", "message": {"content": [{"type": "text", "text": ANSWER}]}},
    {"role": "user", "message": {"content": [{"type": "text", "text": SECOND}]}},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": AGAIN}]}},
]

RECORDINGS: Mapping[str, tuple[Format, Sequence[Mapping[str, Any]]]] = {
    "claude-code": (claude_code.steps, CLAUDE_CODE),
    "codex": (codex.steps, CODEX),
    "antigravity": (antigravity.steps, ANTIGRAVITY),
    "gemini-cli": (gemini_cli.steps, GEMINI_CLI),
    "kimi-code": (kimi_code.steps, KIMI_CODE),
    "kimi-cli": (kimi_code.steps, KIMI_CLI),
    "kimi-cli alone": (kimi_cli.steps, KIMI_CLI),
    "copilot": (copilot.steps, COPILOT),
    "cursor": (cursor.steps, CURSOR),
}
