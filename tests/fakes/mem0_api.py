"""A fake of the hosted platform's API as hooks-and-apis 3A tells it, on loopback; in a test's process or in its own.

    python -m tests.fakes.mem0_api --port-file FILE --delay SECONDS

prints a JSON line for each request, writes the body of each add that is carried out, a line each, to the file of
--commits, and ends at SIGTERM or SIGINT.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.fakes.loopback_http import Reply, Request
from tests.fakes.mem0_behaviours import Behaviour
from tests.fakes.mem0_routes import Api, route_of
from tests.fakes.mem0_store import Event, Store
from tests.fakes.scripted_server import ScriptedServer, json_reply

KEY = "fake-key"


class FakeMem0(ScriptedServer):
    """The server and what it saw. Routes: add, event, events, search, list, delete, ping.

    An extraction ends `extraction_seconds` after its add and after `extraction_polls` questions; both may be changed
    at any time and hold for later adds.
    """

    def __init__(self, *, extraction_seconds: float = 0.0, extraction_polls: int = 0, port: int = 0) -> None:
        super().__init__(port)
        self.extraction_seconds = extraction_seconds
        self.extraction_polls = extraction_polls
        self.keys = {KEY}
        self._store = Store(time.time)
        self._api = Api(self._store)

    def commits(self) -> list[Any]:
        """Return the bodies of the adds that were carried out."""
        return self._api.commits

    def events(self) -> list[Event]:
        """Return the extraction events, oldest first."""
        with self.changed:
            self._store.ripen()
            return list(self._store.events.values())

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories, oldest first."""
        with self.changed:
            self._store.ripen()
            return list(self._store.memories.values())

    def finish_extractions(self) -> None:
        """End every extraction that can end, now."""
        with self.changed:
            self._store.ripen(now=float("inf"))

    def forget_event(self, event_id: str) -> None:
        """Let the API know nothing of this event any more."""
        with self.changed:
            self._store.events[event_id].fate = "VANISHED"

    @staticmethod
    def route_of(request: Request) -> tuple[str, str]:
        """Return the route's name and the id in the path, each empty where there is none."""
        return route_of(request)

    def carry_out(self, request: Request, authorization: str, behaviour: Behaviour) -> Reply:
        """Do what the request asks for and return the true answer."""
        if authorization.removeprefix("Token ") not in self.keys:
            return json_reply(401, {"detail": "Authentication credentials were not provided or are wrong."})
        route, found = route_of(request)
        status, document = self._api.act(
            route, found, request, behaviour, seconds=self.extraction_seconds, polls=self.extraction_polls
        )
        return json_reply(status, document)


def main() -> None:
    """Run apart, for benchmarks and for what outlives the test's own threads."""
    parser = argparse.ArgumentParser(description="A fake of the hosted platform on loopback.")
    parser.add_argument("--port-file", type=Path, required=True, help="written when connections are taken")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds until an extraction ends")
    parser.add_argument("--polls", type=int, default=0, help="questions until an extraction ends")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--commits", type=Path, help="where the adds that are carried out are written down")
    parser.add_argument("--quiet", action="store_true", help="print no line for each request")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    fake = FakeMem0(extraction_seconds=options.delay, extraction_polls=options.polls, port=options.port)
    fake.latency = options.latency
    if not options.quiet:
        fake.on_reply = _print
    if options.commits:
        ledger = options.commits.open("wb", buffering=0)
        fake.on_commit = lambda request: ledger.write(request.body + b"\n")
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
