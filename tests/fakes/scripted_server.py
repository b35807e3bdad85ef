"""What the fakes of HTTP platforms have in common: a server on loopback, what it saw, and a script of misbehaviours."""

import json
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from tests.fakes.listening import Listening
from tests.fakes.loopback_http import LoopbackServer, Reply, Request
from tests.fakes.mem0_behaviours import NORMAL, Behaviour


class ScriptedServer(Listening, ABC):
    """The server and what it saw. `latency` is seconds before each answer.

    `on_request` is called with each request before anything is done about it, `on_commit` after an add is committed
    and before its answer leaves, `on_reply` with each answer; all from the server's thread.
    """

    def __init__(self, port: int = 0) -> None:
        self.latency = 0.0
        self.on_request: Callable[[Request], None] = lambda _: None
        self.on_commit: Callable[[Request], None] = lambda _: None
        self.on_reply: Callable[[Request, Reply], None] = lambda _, __: None
        self.changed = threading.Condition(threading.RLock())
        self._requests: list[Request] = []
        self._with_key: list[Request] = []
        self._scripts: dict[str, deque[Behaviour]] = {}
        self._always: dict[str, Behaviour] = {}
        self._server = LoopbackServer(self._handle, port)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return self._server.port

    def script(self, route: str, *behaviours: Behaviour) -> None:
        """Let the next requests of `route` meet these, one each; what comes after them is served as usual."""
        with self.changed:
            self._scripts.setdefault(route, deque()).extend(behaviours)

    def always(self, route: str, behaviour: Behaviour | None) -> None:
        """Let every request of `route` (`*`: any) meet this, until None is given."""
        with self.changed:
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
        with self.changed:
            return [request for request in self._requests if not route or self.route_of(request)[0] == route]

    def with_key(self) -> list[Request]:
        """Return the requests so far that carried a key, whichever it was."""
        with self.changed:
            return [*self._with_key]

    def accepted_batches(self) -> list[tuple[str, int, str]]:
        """Return packet, batch number and run id of every add that was committed, in order, repeats and all."""
        with self.changed:
            return [
                (
                    str((body.get("metadata") or {}).get("memsyncd_packet", "")),
                    int((body.get("metadata") or {}).get("memsyncd_batch", -1)),
                    str(body.get("run_id", "")),
                )
                for body in self.commits()
            ]

    def delivered_messages(self) -> list[tuple[str, str]]:
        """Return role and content of every message committed, in order."""
        with self.changed:
            return [(one["role"], one["content"]) for body in self.commits() for one in body["messages"]]

    def wait_for(self, predicate: Callable[[Self], bool], timeout: float = 60.0) -> None:
        """Wait until `predicate(self)` holds, looked at after every request. Raises AssertionError after `timeout` s."""
        with self.changed:
            assert self.changed.wait_for(lambda: predicate(self), timeout), "the fake platform waited in vain"

    @staticmethod
    @abstractmethod
    def route_of(request: Request) -> tuple[str, str]:
        """Return the route's name and the id in the path, each empty where there is none."""

    @abstractmethod
    def commits(self) -> list[Any]:
        """Return the bodies of the adds that were carried out."""

    @abstractmethod
    def carry_out(self, request: Request, authorization: str, behaviour: Behaviour) -> Reply:
        """Do what the request asks for, with the lock held, and return the true answer."""

    def as_kept(self, request: Request) -> Request:
        """Return the request as it is kept: without a key."""
        return request

    def _handle(self, request: Request, authorization: str) -> Reply:
        kept = self.as_kept(request)
        with self.changed:
            self._requests.append(kept)
            if authorization or "x-api-key" in request.headers:
                self._with_key.append(kept)
        self.on_request(kept)
        route, _ = self.route_of(request)
        with self.changed:
            script = self._scripts.get(route)
            usual = self._always.get(route) or self._always.get("*") or NORMAL
            reply = self._reply(request, authorization, script.popleft() if script else usual)
            self.changed.notify_all()
        self.on_reply(kept, reply)
        return reply

    def _reply(self, request: Request, authorization: str, behaviour: Behaviour) -> Reply:
        true = Reply(200, b"null")
        if behaviour.commit:
            commits = len(self.commits())
            true = self.carry_out(request, authorization, behaviour)
            if len(self.commits()) > commits:
                self.on_commit(self.as_kept(request))
        status, body = true.status, true.body
        if behaviour.status is not None:
            status, body = behaviour.status, behaviour.body
        wait = behaviour.wait or true.wait or self.latency
        headers = {**true.headers, **behaviour.headers}
        return Reply(status, body, headers, wait, behaviour.cut, behaviour.cut_after, behaviour.drip)


def json_reply(status: int, document: Any, headers: dict[str, str] | None = None, *, wait: float = 0.0) -> Reply:
    """Return an answer that carries `document`."""
    return Reply(status, json.dumps(document).encode(), headers or {}, wait)
