"""A fake of the hosted platform's API as hooks-and-apis 3A tells it, on loopback; in a test's process or in its own.

    python -m tests.fakes.mem0_api --port-file FILE --delay SECONDS

prints a JSON line for each request and ends at SIGTERM or SIGINT.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes.loopback_http import LoopbackServer, Reply, Request
from tests.fakes.mem0_behaviours import NORMAL, Behaviour
from tests.fakes.mem0_routes import Api, route_of
from tests.fakes.mem0_store import Event, Store

KEY = "fake-key"


class FakeMem0:
    """The server and what it saw. Routes: add, event, events, search, list, delete, ping.

    An extraction ends `extraction_seconds` after its add and after `extraction_polls` questions; both may be changed
    at any time and hold for later adds. `on_request` is called with each request before anything is done about it,
    `on_commit` after an add is committed and before its answer leaves; both from the server's thread.
    """

    def __init__(self, *, extraction_seconds: float = 0.0, extraction_polls: int = 0, port: int = 0) -> None:
        self.extraction_seconds = extraction_seconds
        self.extraction_polls = extraction_polls
        self.keys = {KEY}
        self.latency = 0.0
        self.on_request: Callable[[Request], None] = lambda _: None
        self.on_commit: Callable[[Request], None] = lambda _: None
        self.on_reply: Callable[[Request, Reply], None] = lambda _, __: None
        self._store = Store(time.time)
        self._requests: list[Request] = []
        self._api = Api(self._store)
        self._scripts: dict[str, deque[Behaviour]] = {}
        self._always: dict[str, Behaviour] = {}
        self._changed = threading.Condition(threading.RLock())
        self._server = LoopbackServer(self._handle, port)

    def start(self) -> Self:
        """Listen on loopback."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop listening and cut every connection."""
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The base URL."""
        return self._server.url

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return self._server.port

    @property
    def connections(self) -> int:
        """How many connections were ever taken."""
        return self._server.connections

    def script(self, route: str, *behaviours: Behaviour) -> None:
        """Let the next requests of `route` meet these, one each; what comes after them is served as usual."""
        with self._changed:
            self._scripts.setdefault(route, deque()).extend(behaviours)

    def always(self, route: str, behaviour: Behaviour | None) -> None:
        """Let every request of `route` (`*`: any) meet this, until None is given."""
        with self._changed:
            if behaviour is None:
                self._always.pop(route, None)
            else:
                self._always[route] = behaviour

    def refuse_connections(self) -> None:
        """Be down."""
        self._server.refuse_connections()

    def accept_connections(self) -> None:
        """Be up again, on the same port."""
        self._server.accept_connections()

    def requests(self, route: str = "") -> list[Request]:
        """Return the requests so far, all or those of one route."""
        with self._changed:
            return [request for request in self._requests if not route or route_of(request)[0] == route]

    def accepted_batches(self) -> list[tuple[str, int, str]]:
        """Return packet, batch number and run id of every add that was committed, in order, repeats and all."""
        with self._changed:
            return [
                (
                    str((body.get("metadata") or {}).get("memsyncd_packet", "")),
                    int((body.get("metadata") or {}).get("memsyncd_batch", -1)),
                    str(body.get("run_id", "")),
                )
                for body in self._api.commits
            ]

    def delivered_messages(self) -> list[tuple[str, str]]:
        """Return role and content of every message committed, in order."""
        with self._changed:
            return [(one["role"], one["content"]) for body in self._api.commits for one in body["messages"]]

    def events(self) -> list[Event]:
        """Return the extraction events, oldest first."""
        with self._changed:
            self._store.ripen()
            return list(self._store.events.values())

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories, oldest first."""
        with self._changed:
            self._store.ripen()
            return list(self._store.memories.values())

    def finish_extractions(self) -> None:
        """End every extraction that can end, now."""
        with self._changed:
            self._store.ripen(now=float("inf"))

    def forget_event(self, event_id: str) -> None:
        """Let the API know nothing of this event any more."""
        with self._changed:
            self._store.events[event_id].fate = "VANISHED"

    def wait_for(self, predicate: Callable[["FakeMem0"], bool], timeout: float = 10.0) -> None:
        """Wait until `predicate(self)` holds, looked at after every request. Raises AssertionError after `timeout` s."""
        with self._changed:
            assert self._changed.wait_for(lambda: predicate(self), timeout), "the fake platform waited in vain"

    def _handle(self, request: Request, authorization: str) -> Reply:
        with self._changed:
            self._requests.append(request)
        self.on_request(request)
        route, found = route_of(request)
        with self._changed:
            script = self._scripts.get(route)
            usual = self._always.get(route) or self._always.get("*") or NORMAL
            behaviour = script.popleft() if script else usual
            reply = self._reply(route, found, request, authorization, behaviour)
            self._changed.notify_all()
        self.on_reply(request, reply)
        return reply

    def _reply(self, route: str, found: str, request: Request, authorization: str, behaviour: Behaviour) -> Reply:
        status, document = 200, None
        if behaviour.commit:
            if authorization.removeprefix("Token ") not in self.keys:
                status, document = 401, {"detail": "Authentication credentials were not provided or are wrong."}
            else:
                commits = len(self._api.commits)
                status, document = self._api.act(
                    route, found, request, behaviour, seconds=self.extraction_seconds, polls=self.extraction_polls
                )
                if len(self._api.commits) > commits:
                    self.on_commit(request)
        body = json.dumps(document).encode()
        if behaviour.status is not None:
            status, body = behaviour.status, behaviour.body
        wait = behaviour.wait or self.latency
        return Reply(status, body, behaviour.headers, wait, behaviour.cut, behaviour.cut_after, behaviour.drip)


def main() -> None:
    """Run apart, for benchmarks."""
    parser = argparse.ArgumentParser(description="A fake of the hosted platform on loopback.")
    parser.add_argument("--port-file", type=Path, required=True, help="written when connections are taken")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds until an extraction ends")
    parser.add_argument("--polls", type=int, default=0, help="questions until an extraction ends")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--quiet", action="store_true", help="print no line for each request")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    fake = FakeMem0(extraction_seconds=options.delay, extraction_polls=options.polls, port=options.port)
    fake.latency = options.latency
    if not options.quiet:
        fake.on_reply = _print
    with fake:
        part = options.port_file.with_suffix(".part")
        part.write_text(str(fake.port))
        part.replace(options.port_file)
        stop.wait()


def _print(request: Request, reply: Reply) -> None:
    route, found = route_of(request)
    metadata = (request.json or {}).get("metadata") or {} if route == "add" else {}
    line = {
        "at": request.at,
        "method": request.method,
        "path": request.path,
        "route": route,
        "id": found,
        "status": reply.status,
        "bytes": len(request.body),
        "packet": metadata.get("memsyncd_packet", ""),
        "batch": metadata.get("memsyncd_batch"),
    }
    sys.stdout.write(json.dumps(line) + os.linesep)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
