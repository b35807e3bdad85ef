"""From the bytes of a handoff file to a handoff."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.intake.document import TornError, handoff_from
from memsyncd.hooks.handoff import FLUSH, NotAHandoffError

HANDOFF = {"v": 1, "id": "i", "harness": "codex", "action": "user-prompt", "hook_input": {"prompt": "hello"}}


def test_a_whole_handoff_is_read_with_its_unknown_keys() -> None:
    """Every field is taken over and a key of a later version is kept."""
    handoff = handoff_from(json.dumps({**HANDOFF, "colour": "blue"}).encode(), stem="x")
    assert (handoff.id, handoff.harness, handoff.action) == ("i", "codex", "user-prompt")
    assert handoff.extra == {"colour": "blue"}


def test_a_handoff_of_an_existing_plugin_is_a_flush() -> None:
    """Four keys and no action: a flush named after its file (facts 1.3)."""
    content = b'{"hook_input": {"session_id": "s"}, "reason": "idle", "delay_seconds": 42}'
    handoff = handoff_from(content, stem="idle-ab-cd")
    assert (handoff.action, handoff.id, handoff.reason, handoff.delay_seconds) == (FLUSH, "idle-ab-cd", "idle", 42.0)


@pytest.mark.parametrize("content", [b"", b"{", b'{"hook_input": {', b'{"a": 1} trailing', b"\x00\x01", b"{'a': 1}"])
def test_what_is_not_one_whole_document_is_torn(content: bytes) -> None:
    """Half a document may still be growing, so it is told apart from a wrong one."""
    with pytest.raises(TornError):
        handoff_from(content, stem="x")


@pytest.mark.parametrize(
    "content", [b"[]", b"1", b'"a"', b"null", b"{}", b'{"hook_input": 3}', b"[" * 100_000 + b"]" * 100_000]
)
def test_another_shape_is_no_handoff(content: bytes) -> None:
    """Well-formed JSON of another shape is named as such, however deep it is nested."""
    with pytest.raises((NotAHandoffError, TornError)):
        handoff_from(content, stem="x")


def test_a_stray_half_character_costs_nothing_but_itself() -> None:
    """Escaped lone surrogates, raw ones and broken bytes become U+FFFD; the rest of the prompt arrives."""
    escaped = handoff_from(b'{"hook_input": {"prompt": "a\\ud800b"}}', stem="x")
    raw = handoff_from(b'{"hook_input": {"prompt": "a\xed\xa0\x80b"}}', stem="x")
    broken = handoff_from(b'{"hook_input": {"prompt": "a\xffb"}}', stem="x")
    for handoff in (escaped, raw, broken):
        prompt = handoff.hook_input["prompt"]
        assert prompt.startswith("a") and prompt.endswith("b") and "\ufffd" in prompt
        prompt.encode()


def test_a_pair_of_escaped_surrogates_is_one_character() -> None:
    """Cleaning a document does not break the characters in it that are whole."""
    handoff = handoff_from(b'{"hook_input": {"prompt": "\\ud83d\\ude00 \\ud800"}}', stem="x")
    assert handoff.hook_input["prompt"] == "\U0001f600 \ufffd"


def test_a_number_beyond_a_double_is_kept_as_text() -> None:
    """JSON allows any number; what the store cannot hold as one is kept as words and costs nobody anything."""
    handoff = handoff_from(b'{"hook_input": {"a": 1e999, "b": [-1e999, 1]}}', stem="x")
    assert handoff.hook_input == {"a": "inf", "b": ["-inf", 1]}


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    """Some editors and shells put a mark in front (never-again 91)."""
    assert handoff_from(b"\xef\xbb\xbf" + json.dumps(HANDOFF).encode(), stem="x").harness == "codex"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_handoff_or_one_of_two_errors(content: bytes) -> None:
    """Nothing else is ever raised, whatever lies in the spool."""
    try:
        handoff_from(content, stem="x")
    except (TornError, NotAHandoffError):
        pass


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {"hook_input": st.dictionaries(st.text(max_size=8), JSON, max_size=4)},
        optional=dict.fromkeys(
            ("id", "action", "reason", "delay_seconds", "wait_for_inflight", "process", "cwd", "harness"), JSON
        ),
    )
)
def test_malformed_fields_are_read_as_absent(document: dict[str, object]) -> None:
    """A field of another type never costs the handoff: its hook input arrives whole."""
    handoff = handoff_from(json.dumps(document).encode(), stem="x")
    assert handoff.hook_input == document["hook_input"]
    assert isinstance(handoff.delay_seconds, float)
