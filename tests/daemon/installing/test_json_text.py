"""Reading JSON with comments, and where it goes wrong."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.installing.editing.json_text import MAX_DEPTH, parse
from daemon.installing.errors import NotParsable
from tests.daemon.installing.documents import VALUES, written


@settings(max_examples=60, deadline=None)
@given(st.data(), VALUES)
def test_a_document_says_what_was_written_into_it(data: Any, value: Any) -> None:
    """Whatever comments, blanks and commas stand around them, the values are the ones written."""
    assert parse(data.draw(written(value))).value == value


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        ("", 1, 1, "ends too early"),
        ("{", 1, 2, "name in double quotes"),
        ('{"a": 1 "b": 2}', 1, 9, "comma"),
        ('{\n  "a": 1,\n  b: 2\n}', 3, 3, "name in double quotes"),
        ("{'a': 1}", 1, 2, "name in double quotes"),
        ('{"a" 1}', 1, 6, "colon"),
        ('{"a": }', 1, 7, "no value"),
        ('{"a": NaN}', 1, 7, "no value"),
        ('{"a": 01}', 1, 7, "no value"),
        ('{"a": truer}', 1, 7, "no value"),
        ('{"a": "b\nc"}', 1, 7, "no value"),
        ('{"a": "\\x"}', 1, 7, "no value"),
        ("{,}", 1, 2, "name in double quotes"),
        ("[1,,2]", 1, 4, "no value"),
        ("{} {}", 1, 4, "follows"),
        ("{} # c", 1, 4, "follows"),
        ("{}\n/* open", 2, 1, "never ends"),
        ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, "nested"),
    ],
)
def test_what_is_no_json_is_told_by_line_and_column(text: str, line: int, column: int, why: str) -> None:
    """An error names the place where a person has to look."""
    with pytest.raises(NotParsable, match=why) as told:
        parse(text)
    assert (told.value.line, told.value.column) == (line, column)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n1a-', max_size=20))
def test_any_text_is_read_as_json_does_or_refused(text: str) -> None:
    """Nothing but NotParsable comes out of it, and what strict JSON takes means the same here."""
    try:
        value = parse(text).value
    except NotParsable:
        with pytest.raises(ValueError):
            json.loads(text)
        return
    try:
        assert json.loads(text) == value
    except ValueError:
        assert "/" in text or "," in text  # comments, or a comma behind the last item


def test_a_number_beyond_python_s_is_carried_along() -> None:
    """An integer of thousands of digits keeps nobody from changing something else."""
    assert parse('{"a": ' + "9" * 5000 + ', "b": 1}').value["b"] == 1
