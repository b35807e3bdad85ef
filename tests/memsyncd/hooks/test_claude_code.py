"""Claude Code's hook JSON becomes records."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.hooks.adapters import records_for
from memsyncd.hooks.handoff import RECORD_ACTIONS, Handoff
from memsyncd.hooks.record import KINDS, UNKNOWN_SESSION, Record

COMMON = {"session_id": "s1", "prompt_id": "p1", "cwd": "/w/shop", "transcript_path": "/t/s1.jsonl"}
ACTIONS = sorted(RECORD_ACTIONS | {"flush", "post-compact"})


def records(action: str, hook_input: Mapping[str, Any], **fields: Any) -> tuple[Record, ...]:
    handoff = Handoff(id="h1", action=action, hook_input=hook_input, harness="claude-code", **fields)
    return records_for(handoff, "claude-code")


def only(action: str, hook_input: Mapping[str, Any], **fields: Any) -> Record:
    [record] = records(action, {**COMMON, **hook_input}, **fields)
    return record


def test_a_session_start_tells_how_it_started() -> None:
    """Source and model are kept; the prompt id of an earlier turn does not name the start."""
    record = only("session-start", {"source": "resume", "model": "m", "context_tokens": 9})
    assert record == Record(
        "session_start", "s1", {"source": "resume", "model": "m"}, cwd="/w/shop", transcript_path="/t/s1.jsonl"
    )
    assert only("session-start", {"source": None}).payload == {}


def test_a_prompt_is_kept_whole() -> None:
    """A prompt is one record with all of its text, named after its turn."""
    text = "  fix it\n" * 10_000
    record = only("user-prompt", {"prompt": text})
    assert (record.kind, record.payload, record.turn_id) == ("user_prompt", {"prompt": text}, "p1")


def test_a_prompt_in_parts_is_joined() -> None:
    """A prompt sent as a list of parts is the text in them."""
    parts = [{"type": "text", "text": "one"}, {"type": "image", "data": "x"}, "two"]
    assert only("user-prompt", {"prompt": parts}).payload == {"prompt": "one\ntwo"}
    assert only("user-prompt", {"prompt": parts[0]}).payload == {"prompt": "one"}


@pytest.mark.parametrize("prompt", [None, "", " \n", 0, {}, []])
def test_a_prompt_without_words_is_no_event(prompt: object) -> None:
    """Where there is no text there is no record."""
    assert records("user-prompt", {**COMMON, "prompt": prompt}) == ()


def test_a_picture_alone_is_an_empty_turn() -> None:
    """Its answer is no answer to the prompt before it. Of the picture its kind, its size and a hash are kept."""
    picture = "data:image/png;base64," + "QUJD" * 5_000
    record = only("user-prompt", {"prompt": [{"type": "image_url", "image_url": {"url": picture}}]})
    assert (record.kind, record.payload["prompt"]) == ("user_prompt", "")
    told = json.dumps(record.payload["unfamiliar"])
    assert f"[image/png of {len(picture)} characters, sha256 " in told
    assert "QUJD" not in told


def test_a_prompt_of_the_harness_itself_is_an_empty_turn() -> None:
    """What no person wrote leaves the turn as evidence and none of its text."""
    text = "<task-notification>agent 7 is done</task-notification>"
    record = only("user-prompt", {"prompt": text})
    assert record.kind == "user_prompt"
    assert record.payload == {"prompt": "", "ignored": "task-notification", "ignored_chars": len(text)}


def test_an_answer_is_the_last_message_of_a_stop() -> None:
    """A stop with an answer is one record, named after its turn; without one it is none."""
    record = only("stop", {"stop_hook_active": False, "last_assistant_message": "Done."})
    assert (record.kind, record.payload, record.turn_id) == ("assistant_stop", {"text": "Done."}, "p1")
    for nothing in ({}, {"last_assistant_message": ""}, {"last_assistant_message": None}):
        assert records("stop", {**COMMON, **nothing}) == ()


def test_a_failed_turn_s_message_is_no_answer() -> None:
    """The text of a StopFailure is the error's, and never evidence of an answer."""
    failure = {**COMMON, "hook_event_name": "StopFailure", "last_assistant_message": "API error"}
    assert records("stop", failure) == ()
    assert records("flush", failure) == ()


def test_a_session_s_end_may_bring_the_answer() -> None:
    """A flush that carries the final answer records it as a stop would, and other flushes record nothing."""
    stop = only("stop", {"last_assistant_message": "Done."})
    assert only("flush", {"last_assistant_message": "Done."}, reason="session-end") == stop
    assert records("flush", {**COMMON, "reason": "other"}, reason="session-end") == ()


def test_a_subagent_s_run_is_told_by_its_id() -> None:
    """Start and stop of a subagent carry its id and type, the stop its final message in full."""
    agent = {"agent_id": "a1", "agent_type": "Explore"}
    start = only("subagent-start", agent)
    assert (start.kind, start.payload, start.turn_id, start.agent_id) == ("subagent_start", agent, "a1", "a1")
    text = "found " * 10_000
    stop = only("subagent-stop", {**agent, "last_assistant_message": text, "agent_transcript_path": "/t/a1.jsonl"})
    assert stop.kind == "subagent_stop"
    assert stop.payload == {**agent, "final_message": text, "agent_transcript_path": "/t/a1.jsonl"}
    again = only("subagent-stop", {**agent, "last_assistant_message": "more"})
    assert stop.turn_id != again.turn_id
    assert stop.turn_id == only("subagent-stop", {**agent, "last_assistant_message": text}).turn_id


def test_a_helper_of_the_harness_leaves_no_words() -> None:
    """An agent with an empty type works for the harness: its run is kept, its text is not."""
    record = only("subagent-stop", {"agent_id": "a2", "agent_type": "", "last_assistant_message": "A title"})
    assert "final_message" not in record.payload
    assert record.payload["left_out"]["chars"] == 7


def test_a_report_handed_back_is_the_subagent_s_message() -> None:
    """The report in a hand-back call counts as the subagent's final message."""
    call = {"tool_name": "SubagentHandback", "tool_use_id": "t1", "tool_input": {"message": "The report."}}
    record = only("post-tool", {**call, "agent_id": "a1", "agent_type": "Explore"})
    assert (record.kind, record.turn_id) == ("subagent_stop", "t1")
    assert record.payload == {"agent_id": "a1", "agent_type": "Explore", "final_message": "The report."}


def test_a_stop_inside_a_subagent_is_the_subagent_s() -> None:
    """A stop that names an agent is not the main agent's answer."""
    record = only("stop", {"agent_id": "a1", "agent_type": "Plan", "last_assistant_message": "Planned."})
    assert (record.kind, record.payload["final_message"]) == ("subagent_stop", "Planned.")


def test_tools_are_told_apart_by_their_use() -> None:
    """Each tool use has its own id, so that a turn's tools are not taken for one another; without one there is none."""
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"exit_code": 0}}
    assert only("post-tool", {**call, "tool_use_id": "t1"}).turn_id == "t1"
    assert only("post-tool", call).turn_id == ""


def test_a_failure_event_is_a_failure_whatever_the_response_says() -> None:
    """What comes as a tool's failure is one, with the error's text."""
    call = {"tool_name": "Bash", "tool_input": {"command": "ls x"}, "error": "Exit code 2", "is_interrupt": True}
    record = only("post-tool-failure", {**call, "tool_response": {"success": True}})
    assert record.kind == "tool_failure"
    assert (record.payload["failed"], record.payload["error"], record.payload["interrupted"]) == (
        True,
        "Exit code 2",
        True,
    )


@pytest.mark.parametrize(
    ("hook_input", "fields", "expected"),
    [
        ({"cwd": "/a"}, {"extra": {"project": "/b"}, "cwd": "/c"}, "/a"),
        ({"cwd": ""}, {"extra": {"project": "/b"}, "cwd": "/c"}, "/b"),
        ({}, {"extra": {"project": 7}, "cwd": "/c"}, "/c"),
        ({"cwd": None}, {}, ""),
    ],
)
def test_the_directory_is_the_first_that_is_told(
    hook_input: dict[str, Any], fields: dict[str, Any], expected: str
) -> None:
    """The directory is the hook's own, else the project's, else where the hook ran."""
    [record] = records("session-start", hook_input, **fields)
    assert record.cwd == expected


@pytest.mark.parametrize(
    ("hook_input", "session"),
    [
        ({}, UNKNOWN_SESSION),
        ({"session_id": ""}, UNKNOWN_SESSION),
        ({"session_id": 7}, UNKNOWN_SESSION),
        ({"conversation_id": "c1"}, "c1"),
    ],
)
def test_a_hook_without_a_session_has_the_unknown_one(hook_input: dict[str, Any], session: str) -> None:
    """A session that is not named, or not by a text, is the unknown one."""
    [record] = records("session-start", hook_input)
    assert record.session_id == session


def test_an_unknown_action_is_kept_under_its_name_within_bounds() -> None:
    """An action we do not know keeps the hook's JSON, cut to 64 KB, under its own name."""
    hook_input = {"trigger": "auto", "compact_summary": "x" * 500_000, "list": list(range(10_000)), "big": 10**100}
    record = only("post-compact", hook_input)
    assert record.kind == "post-compact"
    assert record.payload["hook_input"]["trigger"] == "auto"
    assert record.payload["hook_input"]["compact_summary"].startswith("xxx")
    assert len(json.dumps(record.payload)) <= 66_000


def test_what_was_no_object_is_kept_as_it_came() -> None:
    """The text of input that was no JSON object becomes evidence under the action's name, of a session it may name."""
    [record] = records("stop", {}, extra={"raw": '{"session_id": "s9", "cwd": "/x", "text": "torn'})
    assert (record.kind, record.session_id, record.cwd) == ("stop", "s9", "/x")
    assert record.payload["raw"].endswith("torn")
    [record] = records("user-prompt", {}, extra={"raw": "words"})
    assert (record.kind, record.session_id, record.payload) == ("user-prompt", UNKNOWN_SESSION, {"raw": "words"})


def test_what_was_too_large_keeps_its_size_and_its_session() -> None:
    """Of input over the limit, the size, the head and the session named in it are kept."""
    head = '{"session_id": "s1", "cwd": "/w", "tool_response": "' + "x" * 4000
    [record] = records("post-tool", {"memsyncd_oversized": True, "bytes": 1 << 27, "head": head})
    assert (record.kind, record.session_id, record.cwd) == ("post-tool", "s1", "/w")
    assert record.payload == {"raw": head, "oversized_bytes": 1 << 27}


@pytest.mark.parametrize("harness", ["", "codex"])
def test_other_harnesses_are_read_alike(harness: str) -> None:
    """A harness without an adapter of its own, or a handoff that names none, is read as Claude Code's."""
    handoff = Handoff(id="h", action="user-prompt", hook_input={"session_id": "s", "prompt": "hi"}, harness=harness)
    [record] = records_for(handoff, "kimi")
    assert (record.kind, record.session_id, record.payload) == ("user_prompt", "s", {"prompt": "hi"})


def test_secrets_are_taken_out_before_a_cut() -> None:
    """A secret that a cut would halve is handed to the redaction whole."""
    secret = "sk-" + "x" * 40
    command = "y" * 1980 + " " + secret
    handoff = Handoff(id="h", action="post-tool", hook_input={"tool_name": "Bash", "tool_input": {"command": command}})
    [record] = records_for(handoff, "claude-code", redact=lambda text: text.replace(secret, "[REDACTED]"))
    assert record.payload["command"].endswith("[REDACTED]")
    assert "sk-" not in json.dumps(record.payload)


NAMES = """
    prompt tool_name tool_input tool_response tool_use_id error agent_id agent_type last_assistant_message source model
    duration_ms command file_path edits content text stdout isImage exit_code success isError memsyncd_oversized head
    bytes message hook_event_name interrupted new_string pattern
"""
KEYS = st.sampled_from([*COMMON, *NAMES.split()])
TEXTS = st.text() | st.sampled_from(
    ["Bash", "Edit", "Grep", "SubagentHandback", "PostToolUse", "\ud800", "/a/b", "a/b"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ACTIONS) | st.text(),
    st.dictionaries(KEYS | TEXTS, JSON, max_size=12),
    st.dictionaries(st.sampled_from(["raw", "project"]), JSON),
)
def test_no_json_at_all_is_too_odd(action: str, hook_input: dict[str, Any], extra: dict[str, Any]) -> None:
    """Whatever a hook sends, the adapter raises nothing, and what it returns are JSON values of known kinds."""
    for record in records(action, hook_input, extra=extra):
        assert record.kind in KINDS or record.kind == action[:200]
        json.dumps(record.payload, allow_nan=False)
        texts = (record.session_id, record.cwd, record.turn_id, record.agent_id, record.transcript_path)
        assert all(isinstance(text, str) for text in texts)


def test_deep_nesting_is_cut() -> None:
    """JSON nested deeper than Python recurses raises nothing and is cut."""
    deep: Any = "end"
    for _ in range(5000):
        deep = {"a": [deep]}
    for action in ACTIONS:
        for record in records(
            action, {**COMMON, "tool_input": deep, "tool_response": deep, "error": [deep], "x": deep}
        ):
            assert len(json.dumps(record.payload)) < 70_000


def test_numbers_beyond_all_bounds_are_told_in_words() -> None:
    """A number with more digits than Python prints costs nothing but itself."""
    huge = 10**5000
    for action in ACTIONS:
        hook_input = {"error": {"code": huge}, "duration_ms": huge, "tool_response": [huge], "x": {"y": huge}}
        for record in records(action, {**COMMON, **hook_input}):
            json.dumps(record.payload)
