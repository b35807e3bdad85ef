"""From a line to a message of the protocol, or to the error that answers it. Pure.

The SDK passes over what it cannot parse, and its client then waits in vain (never-again 132); here whatever may have
been a request gets an answer, with its id where that can be told.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memsyncd.mcp_server.lines import KEPT_BYTES, MAX_LINE_BYTES, TooLong
from memsyncd.recall.cutting import repaired

_ID = rb'(?P<id>-?[0-9]{1,18}|"[^"\\]{1,128}")'
_HEAD_ID = re.compile(rb'\A\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*' + _ID + rb"\s*,")
_TAIL_ID = re.compile(rb',\s*"id"\s*:\s*' + _ID + rb"\s*\}\s*\Z")
"""Where programs write a request's id: among the first keys or as the last."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that is no message: what to answer."""

    answer: JSONRPCError


def parsed(line: bytes | TooLong) -> JSONRPCMessage | Refusal:
    """Return the message in a line, or what to answer in its place."""
    if isinstance(line, TooLong):
        return _refusal(_id_at_the_ends(line), INVALID_REQUEST, f"The message has more than {MAX_LINE_BYTES:,} bytes")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _second_look(line)
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        return _second_look(line)  # the SDK takes a request with an impossible id for a notification
    return _with_acceptable_call(message)


def _with_acceptable_call(message: JSONRPCMessage) -> JSONRPCMessage | Refusal:
    """Refuse a call that names no tool, or gives it no object, in words that a model can act on: the SDK has none."""
    if not isinstance(message, JSONRPCRequest) or message.method != "tools/call":
        return message
    params = message.params or {}
    if not isinstance(params.get("name"), str):
        return _refusal(message.id, INVALID_PARAMS, "name must be the text that names a tool: tools/list has them")
    arguments = params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        example = '{"key": "staging-host"}'
        return _refusal(
            message.id, INVALID_PARAMS, f"arguments must be a JSON object, not a list or a text, such as {example}"
        )
    return message


def _second_look(line: bytes) -> JSONRPCMessage | Refusal:
    """Look again at what the strict parser refuses: JavaScript writes half characters, for one."""
    try:
        document = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        ends = TooLong(line[:KEPT_BYTES], line[-KEPT_BYTES:])  # of what is nested too deep, for one
        return _refusal(_id_at_the_ends(ends), PARSE_ERROR, "The line is no JSON: send one JSON object a line")
    if isinstance(document, list):
        return _refusal(None, INVALID_REQUEST, "Batches are no longer part of MCP: send one message a line")
    if not isinstance(document, dict):
        return _refusal(None, INVALID_REQUEST, "A message is a JSON object")
    identity = document.get("id")
    request_id = identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    if "id" in document and request_id is None and "method" in document:
        return _refusal(None, INVALID_REQUEST, "A request's id is a text or a whole number")
    try:
        return _with_acceptable_call(jsonrpc_message_adapter.validate_python(_mended(document), by_name=False))
    except (ValidationError, RecursionError):
        return _refusal(request_id, INVALID_REQUEST, "The message is no JSON-RPC 2.0 request or notification")


def _mended(value: Any) -> Any:
    """Return JSON with each half character replaced."""
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, list):
        return [_mended(each) for each in value]
    if isinstance(value, dict):
        return {repaired(name): _mended(each) for name, each in value.items()}
    return value


def _id_at_the_ends(line: TooLong) -> RequestId | None:
    match = _HEAD_ID.match(line.head) or _TAIL_ID.search(line.tail)
    if match is None:
        return None
    try:
        identity: RequestId = json.loads(match["id"])
    except ValueError:
        return None
    return identity


def _refusal(request_id: RequestId | None, code: int, message: str) -> Refusal:
    if isinstance(request_id, str):
        request_id = repaired(request_id)  # half a character can be written by nobody
    return Refusal(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))
