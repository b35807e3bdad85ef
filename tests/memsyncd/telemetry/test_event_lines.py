"""An event and its line."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.telemetry.event import TelemetryEvent, full_name

SENDABLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.booleans() | st.integers() | FLOATS | SENDABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SENDABLE, inner, max_size=4),
    max_leaves=6,
)
PROPERTIES = st.dictionaries(SENDABLE, VALUES, max_size=5)
EXTRA = st.dictionaries(SENDABLE.filter(lambda key: key not in {"event", "uuid", "timestamp", "properties"}), VALUES)


@settings(max_examples=60, deadline=None)
@given(SENDABLE, SENDABLE, SENDABLE, PROPERTIES, EXTRA)
def test_what_is_written_is_read_again(
    event: str, uuid: str, timestamp: str, properties: dict[str, Any], extra: dict[str, Any]
) -> None:
    """Any event makes one line of ASCII JSON, from which the same event is read, other programs' keys kept."""
    written = TelemetryEvent(event, uuid, timestamp, properties, extra)
    line = written.to_line()
    assert line.isascii() and line.endswith(b"\n") and line.count(b"\n") == 1 and b"\r" not in line
    assert TelemetryEvent.from_line(line) == written


@settings(deadline=None)
@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_event_or_none(line: bytes) -> None:
    """Reading never raises, and what it reads can be written."""
    event = TelemetryEvent.from_line(line)
    if event is not None:
        assert TelemetryEvent.from_line(event.to_line()) == event


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"null", b"[]", b"3", b'"x"', b"{", b'{"event": "code.x", "uuid": "', b"\xff\xfe{}", b'{"event": 3}', b'{"uuid": []}',
        b'{"properties": []}', b'{"properties": "x"}', b'{"timestamp": 1.5}', b"[" * 100_000, b'{"properties": ' + b'{"a": ' * 5_000 + b"1" + b"}" * 5_001,
        b'{"properties": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}", b'{"properties": {"n": ' + b"9" * 5_000 + b"}}",
    ],
)  # fmt: skip
def test_what_is_no_event(line: bytes) -> None:
    """No object, a field of another type, a torn line, nesting or numbers beyond reason: none of them is an event."""
    assert TelemetryEvent.from_line(line) is None


def test_a_plugins_line_is_taken_as_it_is() -> None:
    """Keys of another recorder are kept beside the four; what is missing is empty, for the sender to judge."""
    event = TelemetryEvent.from_line(b'{"event": "code.recall", "distinct_id": "code-anon-1", "properties": {"n": 1}}')
    assert event == TelemetryEvent("code.recall", "", "", {"n": 1}, {"distinct_id": "code-anon-1"})


def test_a_byte_order_mark_is_no_damage() -> None:
    """Some programs begin every file with one."""
    assert TelemetryEvent.from_line(b'\xef\xbb\xbf{"event": "code.x"}\r\n') == TelemetryEvent("code.x", "", "")


def test_nulls_are_left_out() -> None:
    """Nulls are removed from objects at any depth, whoever wrote them (12.4); in a list they keep the places."""
    line = TelemetryEvent("code.x", "u", "t", {"a": None, "b": {"c": None, "d": [1, None]}}, {"e": None}).to_line()
    assert json.loads(line) == {"event": "code.x", "uuid": "u", "timestamp": "t", "properties": {"b": {"d": [1, None]}}}


def test_what_strict_readers_refuse_is_mended() -> None:
    """NaN, Infinity, a float out of range and half a surrogate pair would have an endpoint refuse the whole batch."""
    line = b'{"event": "code.x", "properties": {"a": NaN, "b": -Infinity, "c": 1e999, "d": "x\\ud800", "\\udc00": 1, "e": "\\ud83d\\ude00"}}'
    event = TelemetryEvent.from_line(line)
    assert event is not None
    assert event.properties == {"d": "x\ufffd", "\ufffd": 1, "e": "\U0001f600"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_json_does_not_know_are_not_written(number: float) -> None:
    """A line is JSON for every reader, or it is not made."""
    with pytest.raises(ValueError):
        TelemetryEvent("code.x", "u", "t", {"n": number}).to_line()


def test_names_have_the_prefix_once() -> None:
    """Events are called `code.<event>` (12.4)."""
    assert [full_name(name) for name in ("flush", "code.flush")] == ["code.flush", "code.flush"]
