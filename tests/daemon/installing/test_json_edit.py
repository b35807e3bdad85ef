"""Changing JSON by path: laid out like its neighbours, and nothing else touched."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.installing.editing import json_edit
from daemon.installing.errors import Unfit
from tests.daemon.installing.documents import NAMES, VALUES, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "k": [\n    1\n  ]\n}\n'),
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ('{"a":1}', '{"a":1, "k": [1]}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [\n\t\t1\n\t]\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "k": [\r\n        1\r\n    ]\r\n}'),
        ('{\n  "a": 1, // last\n}', '{\n  "a": 1, // last\n  "k": [\n    1\n  ],\n}'),
        ('{\n  "a": 1 // last\n  // "b": 2\n}', '{\n  "a": 1, // last\n  "k": [\n    1\n  ]\n  // "b": 2\n}'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "k": [\n    1\n  ]\n}'),
        ('{"a": 1 // c\n}', '{"a": 1, // c\n"k": [1]\n}'),
        ("\ufeff{}", '\ufeff{\n  "k": [\n    1\n  ]\n}'),
        ('{"k": [0]}', '{"k": [0, 1]}'),
        ('{"k": []}', '{"k": [1]}'),
        ('{\n  "k": [\n    0,\n  ]\n}', '{\n  "k": [\n    0,\n    1,\n  ]\n}'),
        ('{\n  "k": []\n}', '{\n  "k": [\n    1\n  ]\n}'),
        ('{"k": 5, "k": []}', '{"k": 5, "k": [1]}'),
    ],
)  # fmt: skip
def test_one_more_element(before: str, after: str) -> None:
    """What is added stands as its neighbours stand; comments keep their places."""
    assert json_edit.append(before, ("k",), 1) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
        ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
        ('{"a": 1}', ("a",), "{}"),
        ('{ "a": 1, }', ("a",), "{}"),
        ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
        ('{\n  "a": 1, // mine\n  "b": 2\n}', ("b",), '{\n  "a": 1 // mine\n}'),
        ('{\n  // about a\n  "a": 1\n}', ("a",), "{\n  // about a\n}"),
        ('{"z": 0, // z\n"a": 1}', ("a",), '{"z": 0 // z\n}'),
        ("[1, 2, 3]", (1,), "[1, 3]"),
    ],
)
def test_one_less(before: str, path: tuple[str | int, ...], after: str) -> None:
    """What goes takes its comma and the white space before it along, and nobody's comment."""
    assert json_edit.remove(before, path) == after
    json_edit.read(after)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), VALUES)
def test_a_member_put_in_and_taken_out_leaves_no_trace(data: Any, document: dict[str, Any], value: Any) -> None:
    """In any object that holds something, adding and removing is the identity to the byte."""
    document.pop("ours", None)
    text = data.draw(written(document))
    added = json_edit.put(text, ("ours",), value)
    assert json_edit.read(added) == {**document, "ours": value}
    if document:
        assert json_edit.remove(added, ("ours",)) == text


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(VALUES, min_size=1, max_size=4))
def test_any_element_can_go(data: Any, items: list[Any]) -> None:
    """Removing the nth element removes just that, and no comment with it."""
    text = data.draw(written({"k": items}))
    index = data.draw(st.integers(0, len(items) - 1))
    after = json_edit.remove(text, ("k", index))
    assert json_edit.read(after) == {"k": items[:index] + items[index + 1 :]}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), VALUES)
def test_a_value_is_replaced_in_its_place(data: Any, document: dict[str, Any], value: Any) -> None:
    """Putting a value where one is leaves the order of members and everything else."""
    key = data.draw(st.sampled_from(sorted(document)))
    after = json_edit.read(json_edit.put(data.draw(written(document)), (key,), value))
    assert after == {**document, key: value}
    assert list(after) == list(document)


@pytest.mark.parametrize(
    ("text", "path"), [("[]", ("a",)), ('{"a": 5}', ("a", "b")), ('{"a": null}', ("a",)), ('{"a": {}}', ("a",))]
)
def test_what_has_another_shape_is_not_forced(text: str, path: tuple[str, ...]) -> None:
    """A list is only added to a list, a member to an object; otherwise a sentence says where."""
    with pytest.raises(Unfit, match="line 1"):
        json_edit.append(text, path, 1)
