"""A fake of four model APIs on one port of loopback, for coding agents' own programs.

Anthropic's messages, OpenAI's responses and chat completions, Gemini's generateContent; each whole or as a stream of
events, as it is asked. The model calls a shell once, then answers. It is also the clients' proxy: what they ask it
for from elsewhere is refused, and its name kept. A program that asks no proxy is not seen.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from tests.fakes.loopback_http import LoopbackServer, Reply, Request

ANSWER = "Noted: the ledger is kept in cents."
COMMAND = "echo cents-are-whole"
FAILING = "echo cents-are-gone; exit 3"
STREAM = {"Content-Type": "text/event-stream"}
CALL = "call_1"

Named = tuple[str, Mapping[str, Any]]
"""An event of a stream: its name, empty where the API has none, and its data."""


class FakeModels:
    """The server and what it was asked. `shell` is the client's tool for commands; where a request does not offer it,
    or a result is in the conversation already, the model answers, after a result once it has done `thinking`."""

    def __init__(self, shell: str, arguments: Mapping[str, Any], thinking: Callable[[], object] = lambda: None) -> None:
        self.shell = shell
        self.thinking = thinking
        self.arguments = dict(arguments)
        self.wanted: list[str] = []
        """Addresses elsewhere that the client asked the proxy for."""
        self.paths: list[str] = []
        self.bodies: list[Mapping[str, Any]] = []
        self._lock = threading.Lock()
        self._server = LoopbackServer(self._handle)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()

    @property
    def url(self) -> str:
        """The server's address, without a slash at the end."""
        return self._server.url

    def fails(self) -> None:
        """Let the model call the shell with a command that fails from now on."""
        self.arguments = {key: FAILING if value == COMMAND else value for key, value in self.arguments.items()}

    def was_told(self, words: str) -> bool:
        """Tell whether the last question held these words."""
        return words in json.dumps(self.bodies[-1])

    def _handle(self, request: Request, _authorization: str) -> Reply:
        with self._lock:
            if request.method == "CONNECT" or "://" in request.path:
                self.wanted.append(request.path)
                return Reply(403)
            self.paths.append(f"{request.method} {request.path}")
        for suffix, answered in APIS.items():
            if request.method == "POST" and request.path.endswith(suffix) and isinstance(request.json, dict):
                self.bodies.append(request.json)
                return answered(self, request.json)
        return Reply(404, b"" if request.method == "HEAD" else b"{}")

    def calls(self, body: Mapping[str, Any], result: str) -> bool:
        """Tell whether the model calls the shell: it is offered, and `result` marks none in the conversation."""
        said = json.dumps(body.get("messages") or body.get("input") or body.get("contents"))
        if result in said:
            self.thinking()
            return False
        return f'"{self.shell}"' in json.dumps(body.get("tools") or [])


def _whole(document: Mapping[str, Any]) -> Reply:
    return Reply(200, json.dumps(document).encode())


def _stream(events: Iterable[Named], last: str = "") -> Reply:
    lines = [f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n" for name, data in events]
    return Reply(200, ("".join(lines) + last).encode(), STREAM)


def _messages(fake: FakeModels, body: Mapping[str, Any]) -> Reply:
    calls = fake.calls(body, '"tool_result"')
    block: dict[str, Any] = {"type": "text", "text": ANSWER}
    if calls:
        block = {"type": "tool_use", "id": "toolu_1", "name": fake.shell, "input": fake.arguments}
    reason = "tool_use" if calls else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    if not body.get("stream"):
        return _whole({**message, "content": [block], "stop_reason": reason, "usage": usage})
    empty = {**block, "input": {}} if calls else {**block, "text": ""}
    delta = {"type": "text_delta", "text": ANSWER}
    if calls:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(fake.arguments)}
    started = {**message, "content": [], "stop_reason": None, "usage": usage}
    events: Sequence[Mapping[str, Any]] = (
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    )
    return _stream((event["type"], event) for event in events)


def _tokens(_fake: FakeModels, _body: Mapping[str, Any]) -> Reply:
    return _whole({"input_tokens": 10, "totalTokens": 10})


def _responses(fake: FakeModels, body: Mapping[str, Any]) -> Reply:
    if fake.calls(body, "call_output"):
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": CALL,
            "name": fake.shell,
            "arguments": json.dumps(fake.arguments),
        }
    else:
        content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    if not body.get("stream"):
        return _whole(done)
    events: Sequence[Mapping[str, Any]] = (
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    )
    return _stream((event["type"], event) for event in events)


def _completions(fake: FakeModels, body: Mapping[str, Any]) -> Reply:
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    reason = "stop"
    if fake.calls(body, '"tool_call_id"'):
        function = {"name": fake.shell, "arguments": json.dumps(fake.arguments)}
        call = {"index": 0, "id": CALL, "type": "function", "function": function}
        message, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": "chat_1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return _whole({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    head["object"] = "chat.completion.chunk"
    said = {"index": 0, "delta": message, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": reason}
    chunks = ({**head, "choices": [said]}, {**head, "choices": [ended], "usage": usage})
    return _stream((("", chunk) for chunk in chunks), "data: [DONE]\n\n")


def _contents(fake: FakeModels, body: Mapping[str, Any]) -> Mapping[str, Any]:
    part: dict[str, Any] = {"text": ANSWER}
    if fake.calls(body, '"functionResponse"'):
        part = {"functionCall": {"id": CALL, "name": fake.shell, "args": fake.arguments}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


APIS: Mapping[str, Callable[[FakeModels, Mapping[str, Any]], Reply]] = {
    "/v1/messages": _messages,
    "/count_tokens": _tokens,
    ":countTokens": _tokens,
    "/responses": _responses,
    "/chat/completions": _completions,
    ":generateContent": lambda fake, body: _whole(_contents(fake, body)),
    ":streamGenerateContent": lambda fake, body: _stream([("", _contents(fake, body))]),
}
"""What a path ends with, and how it is answered."""
