"""What may be asked, and how a question that may not is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.searching.request import (
    ARGUMENTS,
    MAX_QUERY_CHARS,
    BadArgument,
    SearchRefused,
    SearchRequest,
    UnknownCategory,
    UnknownScope,
    Wildcard,
    parsed,
)


@pytest.mark.parametrize(
    ("arguments", "kind", "argument", "words"),
    [
        ({}, BadArgument, "query", "not empty"),
        ({"query": ""}, BadArgument, "query", "not empty"),
        ({"query": " \n"}, BadArgument, "query", "not empty"),
        ({"query": 5}, BadArgument, "query", "is a text"),
        ({"query": "x" * (MAX_QUERY_CHARS + 1)}, BadArgument, "query", "10,000"),
        ({"query": "half \ud800"}, BadArgument, "query", "half a character"),
        ({"cwd": "src"}, BadArgument, "cwd", "absolute"),
        ({"cwd": ["/w"]}, BadArgument, "cwd", "is a text"),
        ({"top_k": 0}, BadArgument, "top_k", "1 to 20"),
        ({"top_k": 21}, BadArgument, "top_k", "1 to 20"),
        ({"top_k": True}, BadArgument, "top_k", "whole number"),
        ({"top_k": 2.5}, BadArgument, "top_k", "whole number"),
        ({"top_k": "3"}, BadArgument, "top_k", "whole number"),
        ({"scope": "team"}, UnknownScope, "scope", "Unknown search scope 'team'"),
        ({"scope": "*"}, UnknownScope, "scope", "repo, dir, mine"),
        ({"scope": "MINE"}, UnknownScope, "scope", "repo, dir, mine"),
        ({"category": "secrets"}, UnknownCategory, "category", "Unknown category 'secrets'"),
        ({"category": "*"}, UnknownCategory, "category", "project_knowledge"),
        ({"run_id": " "}, BadArgument, "run_id", "not blank"),
        ({"run_id": "r" * 201}, BadArgument, "run_id", "200"),
        ({"user_id": "bob"}, BadArgument, "user_id", "Unknown argument 'user_id'"),
        ({"zeal": 1, "filters": {}}, BadArgument, "filters", "Unknown argument 'filters'"),
    ],
)
def test_a_wrong_question_is_named(
    arguments: dict[str, Any], kind: type[SearchRefused], argument: str, words: str
) -> None:
    """Facts 5.29, 7.15 and 13.5: the class, the argument and a sentence say what is wrong; the first unknown argument
    is named."""
    whole = arguments if "query" in arguments or not arguments else {"query": "x", **arguments}
    with pytest.raises(kind, match=words) as caught:
        parsed(whole)
    assert caught.value.argument == argument


@pytest.mark.parametrize("asterisk", ["*", "**", " * ", "s*", "*s", "\uff0a", "\ufe61", "\u2217", "a\u22c6"])
def test_a_wildcard_names_no_session(asterisk: str) -> None:
    """In whatever spelling, and anywhere in the id: some platform might take it for everybody's (facts 5.17, 5.27)."""
    with pytest.raises(Wildcard, match="no wildcard"):
        parsed({"query": "x", "run_id": asterisk})


def test_what_is_not_said_is_left_to_the_settings() -> None:
    """Null and an empty text say nothing; what is said counts."""
    asked = {"query": "x", "top_k": None, "scope": "", "category": None, "run_id": "", "cwd": ""}
    assert parsed(asked, top_k=7, scope="mine") == SearchRequest("x", top_k=7, scope="mine")
    assert parsed({"query": "x", "top_k": 2, "scope": "dir"}, top_k=7, scope="mine") == SearchRequest(
        "x", top_k=2, scope="dir"
    )


_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.lists(st.text()))


@given(st.dictionaries(st.one_of(st.sampled_from(ARGUMENTS), st.text(max_size=8)), _VALUES, max_size=8))
def test_whatever_is_asked_is_a_sound_question_or_refused(arguments: dict[str, Any]) -> None:
    """No JSON object raises anything else, and what passes keeps to every bound."""
    try:
        request = parsed(arguments)
    except SearchRefused:
        return
    assert request.query.strip()
    assert 1 <= request.top_k <= 20
    assert request.scope in ("repo", "dir", "mine")
    assert "*" not in request.run_id
