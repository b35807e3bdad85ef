"""Every harness's recorded session through the very lines that are installed for it, into one real daemon, to a memory."""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from daemon.installing.harnesses import HARNESSES
from memsyncd.clock import rfc3339
from memsyncd.hooks.adapters import ADAPTERS
from tests.end_to_end.conftest import Home
from tests.memsyncd.hooks import payloads

IDLE_SECONDS = "2"
"""After so long without a word a session is over whose harness tells no end."""

ORDER = ("session-start", "user-prompt", "post-tool", "post-tool-failure", "subagent-start", "subagent-stop", "stop")
GENERIC = ("SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop", "SessionEnd")

RECORDED = {
    "claude-code": "session_start user_prompt tool_result tool_failure subagent_start subagent_stop assistant_stop",
    "codex": "session_start user_prompt tool_failure subagent_start subagent_stop assistant_stop",
    "cursor": "session_start user_prompt tool_result tool_failure subagent_stop assistant_stop",
    "kimi": "session_start user_prompt tool_result tool_failure subagent_stop assistant_stop",
    "kimi-cli": "session_start user_prompt tool_result tool_failure subagent_stop assistant_stop",
    "antigravity": "user_prompt assistant_stop",
    "gemini-cli": "session_start user_prompt tool_result assistant_stop",
    "copilot": "session_start user_prompt tool_result tool_failure subagent_stop assistant_stop",
    "opencode": "session_start user_prompt tool_result tool_failure assistant_stop",
    "windsurf": "user_prompt tool_result tool_result tool_result assistant_stop",
    "generic": "session_start user_prompt tool_result subagent_stop assistant_stop",
}
"""What of each session is recorded, in this order, whether it came by a payload or by a transcript."""


def remembered(harness: str) -> str:
    return f"Remember: the {harness} releases of this shop are cut from the branch release-{harness}."


ANSWER = "Noted."


def transcript(harness: str, at: float) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return where a harness that tells no answer keeps its session, and what it holds after one exchange."""
    prompt, moment = remembered(harness), rfc3339(at)
    part = {"type": "text", "text": ANSWER}
    if harness == "kimi":
        event = {"turnId": "1", "step": 1}
        return ".kimi-code/sessions/shop_0123456789ab/s9/agents/main/wire.jsonl", [
            {
                "type": "turn.prompt",
                "input": [{"type": "text", "text": prompt}],
                "origin": {"kind": "user"},
                "time": at * 1000,
            },
            {
                "type": "context.append_loop_event",
                "event": {**event, "type": "content.part", "part": part},
                "time": at * 1000,
            },
            {
                "type": "context.append_loop_event",
                "event": {**event, "type": "step.end", "finishReason": "end_turn"},
                "time": at * 1000,
            },
        ]
    if harness == "kimi-cli":
        said = [("TurnBegin", {"user_input": prompt}), ("ContentPart", part), ("TurnEnd", {})]
        return ".kimi/sessions/0123456789ab/k-cli-1/wire.jsonl", [
            {"timestamp": at, "message": {"type": kind, "payload": payload}} for kind, payload in said
        ]
    if harness == "copilot":
        return ".copilot/session-state/p4/events.jsonl", [
            {"type": "user.message", "id": "1", "timestamp": moment, "data": {"content": prompt}},
            {
                "type": "assistant.message",
                "id": "2",
                "timestamp": moment,
                "data": {"messageId": "m", "content": ANSWER},
            },
        ]
    steps = [("USER_EXPLICIT", "USER_INPUT", prompt), ("MODEL", "PLANNER_RESPONSE", ANSWER)]
    return ".gemini/antigravity-cli/brain/k1/.system_generated/logs/transcript.jsonl", [
        {
            "step_index": number,
            "source": source,
            "type": kind,
            "status": "DONE",
            "created_at": moment,
            "content": content,
        }
        for number, (source, kind, content) in enumerate(steps)
    ]


def installed(harness: str) -> Sequence[tuple[str, str, str]]:
    """Return the events that are registered for a harness as they come in a session: name, action, reason."""
    if harness == "generic":
        found = [(name, *_generic(name)) for name in GENERIC]
    else:
        found = [(event.name, event.action, event.reason) for event in HARNESSES[harness].events]
    ends = [each for each in found if each[2] == "session-end"]
    return [each for action in ORDER for each in found if each[1] == action] + ends


def _generic(name: str) -> tuple[str, str]:
    meant = ADAPTERS["generic"].events[name]
    return meant.action, meant.reason


def play(home: Home, harness: str) -> None:
    for name, action, reason in installed(harness):
        if action == "stop" and harness in ("kimi", "kimi-cli", "copilot", "antigravity"):
            place, records = transcript(harness, time.time())
            file = home.root / place
            file.parent.mkdir(parents=True)
            file.write_text("".join(json.dumps(record) + "\n" for record in records))
        home.hook(action, payloads.of(harness, name).at(home.project, home.root), reason=reason, harness=harness)


def events(home: Home, harness: str) -> list[tuple[str, dict[str, Any]]]:
    with closing(sqlite3.connect(home.spool(harness) / "evidence.sqlite3")) as connection:
        rows = connection.execute("SELECT kind, payload_json FROM events ORDER BY id").fetchall()
    return [(kind, json.loads(payload)) for kind, payload in rows]


def statuses(home: Home, harness: str) -> set[str]:
    with closing(sqlite3.connect(home.spool(harness) / "evidence.sqlite3")) as connection:
        return {row[0] for row in connection.execute("SELECT status FROM flushes")}


def found(home: Home, harness: str) -> bool:
    question = {"query": f"From which branch are the {harness} releases cut?", "cwd": str(home.project), "top_k": 10}
    answer = home.client.post("/search", question)
    return any(f"release-{harness}" in memory["memory"] for memory in answer["memories"])


def test_every_harness_s_session_becomes_a_memory(home: Home) -> None:
    """From the installed lines and the recorded payloads of each harness, in the order of a session, through one
    daemon: what is recorded is what its adapter says, answers without a payload come from the transcript, an end that
    nobody tells is noticed, and the memory can be found."""
    home.environ["MEM0_CODE_IDLE_FLUSH_SECONDS"] = IDLE_SECONDS
    home.start()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda harness: play(home, harness), RECORDED))
    for harness, kinds in RECORDED.items():
        home.until(lambda harness=harness: found(home, harness), f"nothing of {harness} is remembered")
        recorded = events(home, harness)
        assert [kind for kind, _ in recorded] == kinds.split(), harness
        [prompt] = [payload for kind, payload in recorded if kind == "user_prompt"]
        [answer] = [payload for kind, payload in recorded if kind == "assistant_stop"]
        assert prompt["prompt"] == remembered(harness)
        assert answer["text"].startswith(ANSWER)
    home.until_quiet()
    for harness in RECORDED:
        assert statuses(home, harness) == {"semantic-succeeded"}, harness
        assert not list((home.spool(harness) / "pending").iterdir())
