"""What the tools answer: keys, both formats, errors, and answers that fit."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.notes import answers, rendering
from memsyncd.notes.catalogue import TOOLS
from memsyncd.notes.limits import MAX_ANSWER_CHARS, MAX_KEY_CHARS, MAX_NAMESPACE_CHARS
from memsyncd.notes.note import Found, Hit, NamespaceCount, Note
from tests.clocks import HandClock
from tests.memsyncd.notes.conftest import Asking


def test_the_seven_tools_have_the_names_arguments_and_defaults_of_old() -> None:
    """In a stable order, each taking a format that is markdown by default, and no argument beside its own."""
    described = {
        tool.name: {name: rule.get("default") for name, rule in tool.input_schema()["properties"].items()}
        for tool in TOOLS
    }
    assert described == {
        "memory_remember": {
            "key": None, "value": None, "namespace": "default", "ttl_seconds": None, "format": "markdown",
        },
        "memory_recall": {"key": None, "namespace": "default", "format": "markdown"},
        "memory_forget": {"key": None, "namespace": "default", "format": "markdown"},
        "memory_search": {"query": None, "namespace": None, "limit": 10, "format": "markdown"},
        "memory_list_namespaces": {"format": "markdown"},
        "memory_clear_namespace": {"namespace": None, "format": "markdown"},
        "memory_stats": {"format": "markdown"},
    }  # fmt: skip
    assert {tool.name: tool.input_schema()["required"] for tool in TOOLS if tool.input_schema()["required"]} == {
        "memory_remember": ["key", "value"],
        "memory_recall": ["key"],
        "memory_forget": ["key"],
        "memory_search": ["query"],
        "memory_clear_namespace": ["namespace"],
    }
    assert all(tool.input_schema()["additionalProperties"] is False for tool in TOOLS)
    assert not any(tool.hints.open_world for tool in TOOLS)


def test_answers_have_the_keys_of_old(ask: Asking, hands: HandClock) -> None:
    """And the status values."""
    hands.wall_now = 1_767_225_600.25
    assert ask("memory_remember", key="k", value="v") == {
        "message": 'Remembered "k" in "default".', "key": "k", "namespace": "default", "expires_in": "never",
        "expires_at": None, "status": "success",
    }  # fmt: skip
    timed = ask("memory_remember", key="k", value="v", ttl_seconds=60)
    assert (timed["expires_in"], timed["expires_at"]) == ("60s", 1_767_225_660.25)
    assert ask("memory_recall", key="k") == {
        "key": "k", "namespace": "default", "value": "v", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z", "accessed_at": "2026-01-01T00:00:00Z", "expires_at": 1_767_225_660.25,
        "access_count": 0, "status": "success",
    }  # fmt: skip
    assert ask("memory_search", query="v") == {
        "query": "v", "total_matches": 1, "returned": 1, "status": "success",
        "results": [
            {"namespace": "default", "key": "k", "value": "v", "created_at": "2026-01-01T00:00:00Z", "access_count": 0}
        ],
    }  # fmt: skip
    assert ask("memory_list_namespaces") == {
        "namespace_count": 1, "status": "success",
        "namespaces": [{"namespace": "default", "total_entries": 1, "active_entries": 1, "expired_entries": 0}],
    }  # fmt: skip
    assert set(ask("memory_stats")) >= {
        "total_entries", "total_size_bytes", "total_size_human", "namespace_count", "oldest_entry", "newest_entry",
        "storage_path", "free_tier_limit", "pro_tier_limit", "status",
    }  # fmt: skip
    assert ask("memory_forget", key="k") == {
        "message": 'Forgot "k" in "default".', "key": "k", "namespace": "default", "status": "success",
    }  # fmt: skip
    ask("memory_remember", key="k", value="v")
    assert ask("memory_clear_namespace", namespace="default") == {
        "message": 'Deleted 1 note of "default".', "namespace": "default", "deleted_count": 1, "status": "success",
    }  # fmt: skip


def test_markdown_is_the_default(ask: Asking) -> None:
    """A heading, a line for each entry, the value last and as it is."""
    ask("memory_remember", key="two\nlines", value="# one\ntwo", ttl_seconds=60)
    answer = ask.tools.call("memory_recall", {"key": "two\nlines"})
    assert answer.text.startswith("## Success\n\n")
    assert '**key:** "two\\nlines"\n' in answer.text
    assert "**namespace:** default\n" in answer.text
    assert answer.text.endswith("**value:**\n\n# one\ntwo")
    assert "None" not in ask.tools.memory_stats().text
    assert "1. **namespace:** default" in ask.tools.memory_search("one").text
    assert ask.tools.memory_recall("none").text.startswith("## Error\n\n**error:** ")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("memory_recal", {}, "memory_recall"),
        ("memory_recall", {}, "needs key"),
        ("memory_recall", {"key": "k", "key2": 1}, "did you mean key"),
        ("memory_recall", {"key": 5}, "key must be text, not a number"),
        ("memory_recall", {"key": None}, "key must be text, not null"),
        ("memory_recall", {"key": "k", "format": "xml"}, "markdown or json"),
        ("memory_recall", {"key": "k", "format": ["json"]}, "markdown or json"),
        ("memory_search", {"query": " "}, "query must not be blank"),
        ("memory_search", {"query": "q" * 3_000}, "2,000"),
        ("memory_search", {"query": "q", "limit": "ten"}, "limit must be a whole number, not text"),
        ("memory_search", {"query": "q", "limit": True}, "a boolean"),
        ("memory_search", {"query": "q", "namespace": {}}, "an object"),
        ("memory_list_namespaces", {"a\ud800": 1}, "has no argument"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(ask: Asking, name: str, arguments: dict[str, Any], says: str) -> None:
    """As an error answer, in text that UTF-8 can carry."""
    answer = ask.tools.call(name, arguments)
    assert answer.is_error
    assert says in answer.text
    assert answer.text.encode()


def test_null_leaves_an_optional_argument_open(ask: Asking) -> None:
    """As does a whole number written as a fraction."""
    ask("memory_remember", key="k", value="v", namespace=None, ttl_seconds=60.0)
    assert ask("memory_recall", key="k")["namespace"] == "default"
    assert ask("memory_search", query="v", namespace=None, limit=None)["returned"] == 1


def test_a_note_that_is_elsewhere_is_pointed_at(ask: Asking) -> None:
    """The error names namespaces that have a note of that key."""
    ask("memory_remember", key="k", value="v", namespace="shop")
    assert 'There is one of this key in "shop"' in ask("memory_recall", key="k")["error"]
    assert 'There is one of this key in "shop"' in ask("memory_forget", key="k")["error"]
    assert "memory_search" in ask("memory_recall", key="other")["error"]


ANY = st.text(st.characters(exclude_categories=["Cs"]))
WIDE = st.sampled_from(["a", "é", '"', "\\", "\x00", "\n", "\u2028", "😀", "\x7f"])


def long_text(most: int) -> st.SearchStrategy[str]:
    """Return texts that are short, or made of one character up to the limit: the widest JSON there is."""
    return ANY.map(lambda text: text[:most]) | st.builds(lambda sign, count: sign * count, WIDE, st.integers(1, most))


@settings(max_examples=20, deadline=None)
@given(
    long_text(MAX_KEY_CHARS), long_text(MAX_NAMESPACE_CHARS), long_text(100_000), st.sampled_from(["json", "markdown"])
)
def test_a_recalled_note_always_fits(key: str, namespace: str, value: str, answer_format: str) -> None:
    """Whatever a note holds, its answer is whole, at most 25,000 characters, and begins as the value does."""
    document, text = rendering.fitting_note(Note(namespace, key, value, 0, 0, 0), answer_format)
    assert len(text) <= MAX_ANSWER_CHARS
    assert value.startswith(document["value"])
    assert (document["value"] == value) == ("truncated" not in document)
    if answer_format == "json":
        assert json.loads(text) == document
    if "truncated" in document:
        assert len(text) > MAX_ANSWER_CHARS - 50


HITS = st.lists(
    st.builds(
        lambda namespace, key, value, count: Hit(namespace, key, value, len(value) + count, 0, 0, 0, 1.0),
        long_text(MAX_NAMESPACE_CHARS),
        long_text(MAX_KEY_CHARS),
        long_text(500),
        st.integers(0, 5),
    ),
    max_size=3,
).flatmap(lambda hits: st.integers(1, 34).map(lambda times: hits * times))


@settings(max_examples=20, deadline=None)
@given(long_text(2_000), HITS, st.sampled_from(["json", "markdown"]))
def test_a_search_always_fits(query: str, hits: Sequence[Hit], answer_format: str) -> None:
    """First values are cut, then results left out, which is told; names are whole."""
    document, text = rendering.fitting_search(query, Found(len(hits), hits), answer_format)
    assert len(text) <= MAX_ANSWER_CHARS
    assert document["returned"] == len(document["results"]) <= len(hits)
    assert document["total_matches"] == len(hits)
    for shown, hit in zip(document["results"], hits, strict=False):
        assert (shown["namespace"], shown["key"]) == (hit.namespace, hit.key)
        assert hit.value.startswith(shown["value"])
    if answer_format == "json":
        assert json.loads(text) == document


@settings(max_examples=12, deadline=None)
@given(long_text(MAX_NAMESPACE_CHARS), st.integers(0, 2_000), st.sampled_from(["json", "markdown"]))
def test_a_list_of_namespaces_always_fits(name: str, count: int, answer_format: str) -> None:
    """All are counted; those that do not fit are told as left out."""
    document, text = rendering.fitting_list([NamespaceCount(name, 1, 0)] * count, answer_format)
    assert len(text) <= MAX_ANSWER_CHARS
    assert document["namespace_count"] == count
    assert (len(document["namespaces"]) < count) == ("notice" in document)


@settings(max_examples=15, deadline=None)
@given(long_text(MAX_KEY_CHARS), long_text(MAX_NAMESPACE_CHARS))
def test_an_answer_that_repeats_names_always_fits(key: str, namespace: str) -> None:
    """Names in messages are cut, so that the widest ones leave room."""
    for document in (
        answers.forgotten(namespace, key),
        answers.failed(answers.missing(namespace, key, [namespace] * 5)),
    ):
        assert len(rendering.as_json(document)) <= MAX_ANSWER_CHARS
