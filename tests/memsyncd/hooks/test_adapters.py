"""Each harness's payloads become records as its data says; nothing that comes is lost or fatal."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.hooks import context_output
from memsyncd.hooks.adapters import ADAPTERS, directory_of, harness_of, records_for, session_of, understood
from memsyncd.hooks.bounding import MAX_JSON
from memsyncd.hooks.handoff import FLUSH, REASONS, RECORD_ACTIONS, Handoff
from memsyncd.hooks.record import UNKNOWN_SESSION
from tests.memsyncd.hooks import payloads
from tests.memsyncd.hooks.payloads import Recorded

ACTIONS = sorted(RECORD_ACTIONS | {FLUSH})
MEANING = [each for each in payloads.recorded() if ADAPTERS[each.harness].events[each.event].action]
KEPT = [each for each in payloads.recorded() if each not in MEANING]


def handoff(one: Recorded, action: str = "", *, harness: str = "") -> Handoff:
    meant = ADAPTERS[one.harness].events[one.event].action
    return Handoff(
        id="h1", action=action or meant or one.event, hook_input=one.hook_input, harness=harness or one.harness
    )


@pytest.mark.parametrize("one", MEANING, ids=str)
def test_a_payload_becomes_its_records(one: Recorded) -> None:
    """What a harness tells is recorded as the table beside the payloads has it, and nothing else of it."""
    found = [
        {key: value for key, value in asdict(record).items() if value != ""}
        for record in records_for(handoff(one), one.harness)
    ]
    assert found == payloads.expected(one.group)[one.name]


@pytest.mark.parametrize("one", KEPT, ids=str)
def test_an_event_that_means_nothing_is_kept_whole(one: Recorded) -> None:
    """It is recorded under its own name, with the session and the project it names."""
    [record] = records_for(handoff(one), one.harness)
    assert (record.kind, record.payload) == (one.event, {"hook_input": one.hook_input})
    assert record.session_id == session_of(handoff(one)) != UNKNOWN_SESSION
    assert record.cwd == directory_of(handoff(one)) == payloads.PROJECT


def test_every_known_event_has_a_payload_and_every_payload_a_known_event() -> None:
    """The tables and the payloads know the same events, and every table of records has its payloads."""
    known = {(adapter.name, event) for adapter in ADAPTERS.values() for event in adapter.events}
    # Copilot's capitalised names of events that it only documents without
    told = {(each.harness, each.event) for each in payloads.recorded()}
    spare = {
        ("copilot", name) for name in ("AgentStop", "UserPromptSubmitted", "UserPromptTransformed", "PreMcpToolCall")
    }
    assert known - told == spare
    assert told <= known
    for group in {each.group for each in payloads.recorded()}:
        assert set(payloads.expected(group)) == {each.name for each in MEANING if each.group == group}


@pytest.mark.parametrize("one", MEANING, ids=str)
def test_an_event_s_name_stands_for_its_action(one: Recorded) -> None:
    """A hook registered with the harness's own name of the event, or with none where the payload has it, is
    understood as one registered with ours; a flush knows its reason."""
    meant = ADAPTERS[one.harness].events[one.event]
    named = understood(handoff(one, one.event), one.harness)
    assert (named.action, named.reason) == (meant.action, meant.reason)
    assert meant.reason in REASONS | {""}
    if one.harness == "antigravity" or one.group == "copilot.camel":
        return  # their payloads name no event
    unnamed = understood(handoff(one, "unknown"), one.harness)
    assert (unnamed.action, unnamed.reason) == (meant.action, meant.reason)


@pytest.mark.parametrize(
    ("registered", "one", "harness"),
    [
        ("claude-code", ("cursor", "beforeSubmitPrompt"), "cursor"),
        ("claude-code", ("cursor", "stop"), "cursor"),
        ("claude-code", ("copilot", "UserPromptSubmit"), "copilot"),
        ("claude-code", ("copilot", "Stop"), "copilot"),
        ("claude-code", ("claude-code", "Stop"), "claude-code"),
        ("claude-code", ("claude-code", "SessionEnd"), "claude-code"),
        ("cursor", ("cursor", "stop"), "cursor"),
        ("copilot", ("claude-code", "Stop"), "copilot"),
        ("gemini-cli", ("gemini-cli", "AfterAgent"), "gemini-cli"),
        ("mine", ("cursor", "stop"), "mine"),
    ],
)
def test_the_true_harness_is_told_from_the_payload(registered: str, one: tuple[str, str], harness: str) -> None:
    """A harness that runs another's hooks is known by what it sends, and read by its own table."""
    told = handoff(payloads.of(*one), harness=registered)
    assert harness_of(told, "") == understood(told, "").harness == harness


def test_no_harness_passes_for_another_in_its_own_hooks() -> None:
    """Not one recorded payload of a harness is taken for another's where its own hook brought it."""
    for one in payloads.recorded():
        assert harness_of(handoff(one), one.harness) == one.harness


def test_cursor_s_prompt_by_claude_code_s_hook_is_cursor_s() -> None:
    """It has Cursor's session, turn and project."""
    one = payloads.of("cursor", "beforeSubmitPrompt")
    assert records_for(handoff(one, harness="claude-code"), "claude-code") == records_for(handoff(one), "cursor")


@pytest.mark.parametrize("one", MEANING, ids=str)
def test_a_field_nobody_has_told_us_of_is_kept(one: Recorded) -> None:
    """A newer version's field stays with the record, of a tool its name alone; known ones are no news. Where there is
    no record without it, as of a session's end, all of it is kept as what it was."""
    told = handoff(one)
    newer = Handoff(
        id="h1",
        action=told.action,
        harness=one.harness,
        hook_input={**told.hook_input, "newer_field": {"deep": ["words"]}},
    )
    known, found = records_for(told, one.harness), records_for(newer, one.harness)
    if not known:
        [record] = found
        assert (record.kind, record.payload) == (told.action, {"hook_input": newer.hook_input})
        assert record.session_id == session_of(told)
        empty = replace(newer, hook_input={**told.hook_input, "newer_field": None, "newest_field": []})
        assert records_for(empty, one.harness) == ()
        return
    for old, new in zip(known, found, strict=True):
        assert "unfamiliar" not in old.payload and "unfamiliar_keys" not in old.payload
        if new.kind.startswith("tool_"):
            assert new.payload == {**old.payload, "unfamiliar_keys": ["newer_field"]}
        else:
            assert new.payload == {**old.payload, "unfamiliar": {"newer_field": {"deep": ["words"]}}}


def test_what_may_be_printed_is_what_the_drop_prints() -> None:
    """Each adapter names the form in which a context goes back, and the drop, which reads no adapter, has that one."""
    text = "Releases are cut on Fridays."
    told = {(adapter.name, action): form for adapter in ADAPTERS.values() for action, form in adapter.printed.items()}
    assert set(told) == set(context_output.FORMS)
    for (harness, action), form in told.items():
        printed = context_output.output(text, harness, action)
        if form == "plain":
            assert printed == text.encode() + b"\n"
        else:
            document = json.loads(printed)
            assert list(document) == [form]
            assert "decision" not in document and text in json.dumps(document)


def test_a_session_and_a_project_are_found_in_any_known_place() -> None:
    """Where a payload has them elsewhere than its harness does they are found all the same; else there is none."""
    told = Handoff(id="h", action="stop", harness="codex", hook_input={"conversationId": "c", "workspacePaths": ["/w"]})
    assert (session_of(told), directory_of(told)) == ("c", "/w")
    odd = Handoff(id="h", action="stop", harness="cursor", hook_input={"workspace_roots": [], "conversation_id": ""})
    assert (session_of(odd), directory_of(odd)) == (UNKNOWN_SESSION, "")


def test_a_harness_without_an_adapter_is_read_by_every_known_name() -> None:
    """Whatever runs a command with JSON on its standard input can be recorded."""
    hook = {"thread_id": "t", "workspacePaths": ["/w"], "user_prompt": "why is CI red?", "generation_id": "g"}
    [record] = records_for(Handoff(id="h", action="user-prompt", hook_input=hook, harness="aider"), "aider")
    assert (record.session_id, record.cwd, record.turn_id) == ("t", "/w", "g")
    assert record.payload == {"prompt": "why is CI red?"}


def test_a_subagent_s_stop_without_an_id_is_its_own() -> None:
    """It gets a name made of what it says, so that no other run is closed by it and two stops with other words are
    two."""
    said = [
        records_for(
            Handoff(
                id="h", action="subagent-stop", harness="kimi", hook_input={"agent_name": "coder", "response": text}
            ),
            "kimi",
        )[0]
        for text in ("Two callers.", "Two callers.", "Three.")
    ]
    assert said[0] == said[1] != said[2]
    assert all(record.agent_id.startswith("unknown-agent-") and not record.turn_id for record in said)


KEYS = st.sampled_from(sorted({key for adapter in ADAPTERS.values() for key in adapter.known}))
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["apply_patch", "Shell", "Edit", "*** Begin Patch\n*** Add File: x\n+y", '{"exit_code": 1}', "{", "\ud800", "/a/b"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from([*sorted(ADAPTERS), "another"]),
    st.sampled_from(ACTIONS) | st.sampled_from(["unknown", "Stop", "PreInvocation"]) | TEXTS,
    st.dictionaries(KEYS | TEXTS, JSON, max_size=12),
)
def test_whatever_comes_is_no_error_and_is_not_lost(harness: str, action: str, hook_input: dict[str, Any]) -> None:
    """Any JSON for any harness and action: nothing raises, the handoff stays as it was, what is recorded are bounded
    JSON values, and what means nothing, or is new, is kept."""
    told = Handoff(id="h1", action=action, hook_input=hook_input, harness=harness)
    before = json.dumps(hook_input)
    records = records_for(told, "claude-code")
    assert json.dumps(hook_input) == before
    adapter = ADAPTERS.get(harness, ADAPTERS["generic"])
    meant = understood(told, "claude-code")
    new = set(hook_input) - adapter.known
    for record in records:
        json.dumps(record.payload, allow_nan=False)
        if meant.action not in ACTIONS and "raw" not in record.payload:
            assert len(json.dumps(record.payload["hook_input"])) <= MAX_JSON
        elif new and meant.harness == harness and record.kind in ("session_start", "user_prompt", "assistant_stop"):
            assert len(record.payload["unfamiliar"]) >= 1
    if meant.action not in ACTIONS or meant.action in ("session-start", "post-tool", "post-tool-failure"):
        assert len(records) == 1
