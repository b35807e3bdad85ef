"""Hook input that is not one plain JSON object in UTF-8 is kept as well as it can be."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.hooks.odd_input import document

ASTRAL = "\U0001f600"


def kept(raw: bytes) -> tuple[Any, dict[str, Any], list[str]]:
    """Return the value of hook_input, the further members, and the names of the oddities."""
    oddities: list[BaseException] = []
    value, members = document(raw, len(raw), oddities)
    value.decode("utf-8")
    return json.loads(value), json.loads('{"": 0' + members + "}"), [type(oddity).__name__ for oddity in oddities]


@pytest.mark.parametrize(
    "raw",
    [
        b'\xef\xbb\xbf{"a": "\xc3\xa4"}',
        '\ufeff{"a": "ä"}'.encode("utf-16-le"),
        '\ufeff{"a": "ä"}'.encode("utf-16-be"),
        '{"a": "ä"}'.encode("utf-16-le"),
        '{"a": "ä"}'.encode("utf-16-be"),
    ],
)
def test_byte_order_marks_and_utf_16_are_understood(raw: bytes) -> None:
    """A byte-order mark goes and UTF-16 is decoded; nothing was lost, so nothing is noted."""
    assert kept(raw) == ({"a": "ä"}, {"": 0}, [])


@pytest.mark.parametrize(
    ("raw", "text", "repaired"),
    [
        (rb'{"a": "x\ud800y"}', "x\ufffdy", True),
        (rb'{"a": "\udc00\ud800"}', "\ufffd\ufffd", True),
        (rb'{"a": "\ud83d\ude00"}', ASTRAL, False),
        (rb'{"a": "\\ud800"}', "\\ud800", False),
        (b'{"a": "x\xed\xa0\x80y"}', "x\ufffdy", True),
        (b'{"a": "\xed\xa0\xbd\xed\xb8\x80"}', ASTRAL, False),
        (b'{"a": "caf\xe9"}', "caf\ufffd", True),
        (b'{"a": "two\nlines"}', "two\nlines", False),
        ('{"a": "x'.encode("utf-16-le") + b"\x00\xd8" + '"}'.encode("utf-16-le"), "x\ufffd", True),
    ],
)
def test_halves_and_strays_are_replaced_and_noted(raw: bytes, text: str, repaired: bool) -> None:
    """Half characters become U+FFFD with a note, whole ones written in halves are joined without one."""
    assert kept(raw) == ({"a": text}, {"": 0, "repaired": True} if repaired else {"": 0}, [])


@pytest.mark.parametrize("raw", [b"", b" \n", b"\xef\xbb\xbf"])
def test_nothing_is_an_empty_object(raw: bytes) -> None:
    """Empty input is no failure."""
    assert kept(raw) == ({}, {"": 0}, [])


@pytest.mark.parametrize("raw", [b"words", b"[1]", b'"x"', b"{} {}", b'{"a": 1', b'{"a": ' + b"9" * 5000 + b"]"])
def test_what_is_no_object_is_kept_as_text(raw: bytes) -> None:
    """Text that is no JSON object is kept beside an empty hook_input, and noted."""
    assert kept(raw) == ({}, {"": 0, "raw": raw.decode()}, ["NotAJSONObjectError"])


def test_text_is_kept_up_to_its_bound() -> None:
    """Of text that is no object, 64 KB are kept."""
    value, members, _ = kept(b"x" * 100_000)
    assert (value, len(members["raw"])) == ({}, 65_536)


def test_numbers_json_does_not_know_become_null() -> None:
    """NaN and Infinity do not cost the rest of the object."""
    assert kept(b'{"a": NaN, "b": -Infinity, "c": 1}')[0] == {"a": None, "b": None, "c": 1}


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-16-le")))
def test_no_bytes_at_all_are_too_odd(raw: bytes) -> None:
    """Whatever bytes come, the result is an object in UTF-8 and well-formed members."""
    value, members, _ = kept(raw)
    assert isinstance(value, dict)
    assert set(members) <= {"", "raw", "repaired"}


@pytest.mark.parametrize(
    "raw",
    [
        b'\xef\xbb\xbf{"a": "x\\ud800"}',
        b'{"a": "x\xed\xa0\x80"}',
        '\ufeff{"a": "x\ud800"}'.encode("utf-16-le", "surrogatepass"),
    ],
)
def test_the_hook_leaves_such_input_as_valid_utf_8(every: Any, raw: bytes) -> None:
    """Through the real hook, under each interpreter, odd text ends as a file that any JSON parser reads."""
    every(raw)
    [path] = every.files()
    handoff = json.loads(path.read_bytes().decode("utf-8"))
    assert (handoff["hook_input"], handoff["repaired"]) == ({"a": "x\ufffd"}, True)


def test_input_cannot_smuggle_in_keys_of_the_handoff(every: Any) -> None:
    """Text crafted to close hook_input early is no object, and stays text."""
    crafted = b'{}, "action": "flush", "reason": "manual", "x": {}'
    every(crafted)
    assert (every.only()["action"], every.only()["hook_input"]) == ("stop", {})
    assert every.only()["raw"] == crafted.decode()
    assert [words[3] for words in every.log()] == ["NotAJSONObjectError"]
