"""A fake of a PostHog-compatible endpoint's batch route as hooks-and-apis 4 tells it, on loopback."""

import json
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.listening import Listening
from tests.fakes.loopback_http import LoopbackServer, Reply, Request
from tests.fakes.mem0_behaviours import NORMAL, Behaviour

PROJECT_KEY = "phc" + "_" + "0" * 12

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class FakePostHog(Listening):
    """The server and what it saw. What is wrong with an event it answers with 200 and drops, as the real one does.

    The next requests can be spoilt one each by `script`, or all by `always`; the ways are those of `mem0_behaviours`.
    """

    def __init__(self, *, keys: set[str] | None = None, port: int = 0) -> None:
        self.keys = {PROJECT_KEY} if keys is None else keys
        self.on_request: Callable[[Request], None] = lambda _: None
        self._events: list[Mapping[str, Any]] = []
        self._dropped: list[Any] = []
        self._requests: list[Request] = []
        self._script: deque[Behaviour] = deque()
        self._always = NORMAL
        self._changed = threading.Condition(threading.RLock())
        self._server = LoopbackServer(self._handle, port)

    def script(self, *behaviours: Behaviour) -> None:
        """Let the next requests meet these, one each; what comes after them is served as usual."""
        with self._changed:
            self._script.extend(behaviours)

    def always(self, behaviour: Behaviour | None) -> None:
        """Let every request meet this, until None is given."""
        with self._changed:
            self._always = behaviour or NORMAL

    def refuse_connections(self) -> None:
        """Be down."""
        self._server.refuse_connections()

    def accept_connections(self) -> None:
        """Be up again, on the same port."""
        self._server.accept_connections()

    def requests(self) -> list[Request]:
        """Return the requests so far."""
        with self._changed:
            return list(self._requests)

    def batches(self) -> list[Any]:
        """Return the bodies of the requests so far."""
        return [request.json for request in self.requests()]

    def events(self) -> list[Mapping[str, Any]]:
        """Return the events taken in, in order, repeats and all."""
        with self._changed:
            return list(self._events)

    def deliveries(self) -> Counter[str]:
        """Return how often each UUID was taken in."""
        return Counter(event["uuid"] for event in self.events())

    def dropped(self) -> list[Any]:
        """Return the events that were answered with 200 and dropped in silence."""
        with self._changed:
            return list(self._dropped)

    def wait_for(self, predicate: Callable[["FakePostHog"], bool], timeout: float = 60.0) -> None:
        """Wait until `predicate(self)` holds, looked at after every request. Raises AssertionError after `timeout` s."""
        with self._changed:
            assert self._changed.wait_for(lambda: predicate(self), timeout), "the fake endpoint waited in vain"

    def _handle(self, request: Request, authorization: str) -> Reply:
        with self._changed:
            self._requests.append(request)
        self.on_request(request)
        with self._changed:
            behaviour = self._script.popleft() if self._script else self._always
            status, document = self._take(request) if behaviour.commit else (200, {})
            body = json.dumps(document).encode()
            if behaviour.status is not None:
                status, body = behaviour.status, behaviour.body
            self._changed.notify_all()
        return Reply(
            status, body, behaviour.headers, behaviour.wait, behaviour.cut, behaviour.cut_after, behaviour.drip
        )

    def _take(self, request: Request) -> tuple[int, Any]:
        if request.method != "POST" or request.path != "/batch/":
            return 404, {"detail": "Not found."}
        document = request.json
        if not isinstance(document, dict) or not isinstance(document.get("batch"), list):
            return 400, {"type": "validation_error", "detail": "the payload cannot be read"}
        if document.get("api_key") not in self.keys:
            return 401, {"type": "authentication_error", "detail": "the project key is not valid"}
        for event in document["batch"]:
            (self._events if _is_whole(event) else self._dropped).append(event)
        return 200, {"status": 1}


def _is_whole(event: Any) -> bool:
    if not isinstance(event, dict) or not event.get("event"):
        return False
    properties = event.get("properties")
    distinct_id = event.get("distinct_id") or (isinstance(properties, dict) and properties.get("distinct_id"))
    return bool(distinct_id) and _UUID.fullmatch(str(event.get("uuid", ""))) is not None
