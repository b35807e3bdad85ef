"""A request and a response of the status socket, as its routes see them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

PROTOCOL = 1
"""The version of what the socket speaks (CONTRACT: `/status`'s `protocol`)."""

PROTOCOL_HEADER = "Memsyncd-Protocol"
"""On every response; a client that finds none knows that something else answers."""


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is as it came, still percent-encoded; `query` likewise, without its question mark. `headers` have names in
    lower case; one that came more than once has its values joined by commas."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """`headers` are those beside type, length and connection."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


class Handler(Protocol):
    """What answers requests. It raises nothing but what is a fault of ours."""

    async def __call__(self, request: Request) -> Response:
        """Answer; cancelled when the client is gone or the daemon stops."""

    def close(self) -> None:
        """Release what answering needed."""


def json_response(status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return `document` as the response's body."""
    body = json.dumps(document, ensure_ascii=True, default=str).encode() + b"\n"
    return Response(status, body, headers=headers or {})


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as every route tells one: `{"error": sentence}`."""
    return json_response(status, {"error": sentence}, headers)
