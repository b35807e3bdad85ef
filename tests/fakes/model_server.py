"""A fake of an OpenAI-compatible model server on loopback: good answers, nonsense, slow, busy, refusing, no JSON."""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fakes.listening import Listening
from tests.fakes.loopback_http import LoopbackServer, Reply, Request
from tests.fakes.mem0_behaviours import NORMAL, Behaviour, answer

MODEL = "tiny-model"

Piece = Sequence[Mapping[str, str]]


def memory(text: str, category: str = "decisions_and_constraints", lane: str = "project") -> dict[str, str]:
    """Return one entry of an answer."""
    return {"text": text, "category": category, "lane": lane}


def completion(text: str | None, *, tokens: int = 0, **message: Any) -> dict[str, Any]:
    """Return a chat completion that says `text`."""
    usage = {"usage": {"total_tokens": tokens}} if tokens else {}
    told = {"role": "assistant", "content": text, **message}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": told, "finish_reason": "stop"}], **usage}


def says(text: str) -> Behaviour:
    """Answer with this text in place of memories."""
    return answer(200, completion(text))


def first_words(piece: Piece) -> list[dict[str, str]]:
    """Return one memory for each thing the person says: what a good model might make of short sentences."""
    return [memory(message["content"]) for message in piece if message["role"] == "user"]


class FakeModel(Listening):
    """The server and what it was asked. `remember` makes the memories; `tokens` is what each answer says it cost.

    `knows` names what of a request it understands beyond messages and model; another key is refused with 400, as real
    ones do. The next requests can be spoilt one each by `script`, or all by `always`.
    """

    def __init__(
        self, *, keys: set[str] | None = None, remember: Callable[[Piece], list[dict[str, str]]] = first_words
    ) -> None:
        self.keys = keys
        self.remember = remember
        self.tokens = 0
        self.knows = {"response_format", "temperature", "max_tokens", "stream"}
        self.pings = 0
        self._requests: list[Request] = []
        self._script: deque[Behaviour] = deque()
        self._always = NORMAL
        self._changed = threading.Condition(threading.RLock())
        self._server = LoopbackServer(self._handle)

    @property
    def url(self) -> str:
        """The API's base."""
        return f"{self._server.url}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """Let the next questions meet these, one each."""
        with self._changed:
            self._script.extend(behaviours)

    def always(self, behaviour: Behaviour | None) -> None:
        """Let every question meet this, until None is given."""
        with self._changed:
            self._always = behaviour or NORMAL

    def stop_listening(self) -> None:
        """Be away."""
        self._server.refuse_connections()

    def listen(self) -> None:
        """Be there again, on the same port."""
        self._server.accept_connections()

    def requests(self) -> list[Any]:
        """Return the bodies of the questions so far."""
        with self._changed:
            return [request.json for request in self._requests]

    def wait_for(self, predicate: Callable[["FakeModel"], bool], timeout: float = 60.0) -> None:
        """Wait until `predicate(self)` holds. Raises AssertionError after `timeout` s."""
        with self._changed:
            assert self._changed.wait_for(lambda: predicate(self), timeout), "the fake model waited in vain"

    def _handle(self, request: Request, authorization: str) -> Reply:
        with self._changed:
            if self.keys is not None and authorization.removeprefix("Bearer ") not in self.keys:
                return _reply(
                    401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}
                )
            if request.path == "/v1/models":
                self.pings += 1
                return _reply(200, {"object": "list", "data": [{"id": MODEL}]})
            if request.path != "/v1/chat/completions":
                return Reply(404, b"404 page not found", {"Content-Type": "text/plain"})
            self._requests.append(request)
            behaviour = self._script.popleft() if self._script else self._always
            self._changed.notify_all()
            status, document = self._answer(request.json) if behaviour.status is None else (behaviour.status, None)
        body = behaviour.body if document is None else json.dumps(document).encode()
        return Reply(
            status, body, behaviour.headers, behaviour.wait, behaviour.cut, behaviour.cut_after, behaviour.drip
        )

    def _answer(self, body: Any) -> tuple[int, Any]:
        strange = set(body) - {"model", "messages"} - self.knows
        if strange:
            return 400, {"error": {"message": f"unknown parameter {min(strange)}", "type": "invalid_request_error"}}
        if body["model"] != MODEL:
            return 404, {"error": {"message": f"model {body['model']!r} not found", "type": "not_found_error"}}
        memories = self.remember(json.loads(body["messages"][-1]["content"]))
        return 200, completion(json.dumps({"memories": memories}), tokens=self.tokens)


def _reply(status: int, document: Any) -> Reply:
    return Reply(status, json.dumps(document).encode())
