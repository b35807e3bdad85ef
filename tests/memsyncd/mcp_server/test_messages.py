"""Lines become messages or the errors that answer them; no request is passed over in silence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from memsyncd.mcp_server.lines import TooLong
from memsyncd.mcp_server.messages import Refusal, parsed


def refused(line: bytes | TooLong) -> tuple[int, Any]:
    answer = parsed(line)
    assert isinstance(answer, Refusal), answer
    return answer.answer.error.code, answer.answer.id


def accepted(line: bytes) -> JSONRPCMessage:
    message = parsed(line)
    assert not isinstance(message, Refusal), message
    return message


@pytest.mark.parametrize(
    ("line", "code", "identity"),
    [
        (b"{", -32700, None),
        (b"hello", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001, -32700, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":NaN,', -32700, 5),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'"ping"', -32600, None),
        (b'{"id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (TooLong(b'{"jsonrpc":"2.0","id":12,"method":"tools/call","par', b'xxx"}}'), -32600, 12),
        (TooLong(b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call"', b'xxx"}}'), -32600, "a-1"),
        (TooLong(b'{"method":"tools/call","params":{"x', b'xxx"}},"jsonrpc":"2.0","id":3}'), -32600, 3),
        (TooLong(b'{"method":"tools/call","params":{"x', b'xxx","id":3}}'), -32600, None),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_is_no_message_is_answered(line: bytes | TooLong, code: int, identity: Any) -> None:
    """With the code of JSON-RPC and, where it can be told, the id for which somebody waits."""
    assert refused(line) == (code, identity)


@pytest.mark.parametrize("given", ["[]", '"{}"', "5", "true", '["\\ud800"]'])
def test_arguments_that_are_no_object_are_refused_in_words(given: str) -> None:
    """The SDK's own "Invalid request parameters" says nothing to go by; none at all are fine."""
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_stats","arguments":%s}}'
    answer = parsed((call % given).encode())
    assert isinstance(answer, Refusal)
    assert (answer.answer.error.code, answer.answer.id) == (-32602, 1)
    assert "arguments must be a JSON object" in answer.answer.error.message
    for fine in ("null", "{}"):
        accepted((call % fine).encode())
    assert refused(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}') == (-32602, 1)
    assert refused(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}') == (-32602, 1)


def test_messages_come_through() -> None:
    """Requests and notifications, also where a notification's text speaks of an id."""
    request = accepted(b'{"jsonrpc":"2.0","id":"7","method":"ping"}')
    assert isinstance(request, JSONRPCRequest)
    assert request.id == "7"
    notification = accepted(b'{"jsonrpc":"2.0","method":"notifications/x","params":{"id":1}}')
    assert isinstance(notification, JSONRPCNotification)


def test_half_a_character_is_mended() -> None:
    """JavaScript writes halves of a pair where a text was cut; the strict parser would lose the whole request."""
    request = accepted(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":["\\ud83d"],"\\ud83d\\ude00":"\xff"}}')
    assert isinstance(request, JSONRPCRequest)
    assert request.params == {"a": ["\ufffd"], "\U0001f600": "\ufffd"}


@settings(max_examples=40, deadline=None)
@given(
    some.one_of(
        some.binary(max_size=200),
        some.recursive(
            some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
            lambda inner: (
                some.lists(inner, max_size=3)
                | some.dictionaries(
                    some.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"])
                    | some.text(max_size=3),
                    inner,
                    max_size=6,
                )
            ),
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_no_line_raises(line: bytes) -> None:
    """Whatever comes is a message or a refusal that can be written."""
    answer = parsed(line)
    if isinstance(answer, Refusal):
        answer.answer.model_dump_json(by_alias=True).encode()
