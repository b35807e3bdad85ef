"""A fake of the self-hosted Mem0 server as hooks-and-apis 3B tells it, on loopback."""

import itertools
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.fakes.loopback_http import Reply, Request
from tests.fakes.mem0_behaviours import Behaviour
from tests.fakes.mem0_filters import BadFilterError
from tests.fakes.mem0_server_filters import IDS, check, checked_id, matches
from tests.fakes.mem0_store import iso, words
from tests.fakes.scripted_server import ScriptedServer, json_reply

SERVER_KEY = "m0sk_" + "fake"
MAX_TOP_K = 1_000

_ROUTES = [
    ("add", "POST", re.compile(r"/memories")),
    ("list", "GET", re.compile(r"/memories")),
    ("search", "POST", re.compile(r"/search")),
    ("get", "GET", re.compile(r"/memories/([^/]+)")),
    ("delete", "DELETE", re.compile(r"/memories/([^/]+)")),
]


class FakeMem0Server(ScriptedServer):
    """The server and what it saw. Routes: add, list, search, get, delete; everything else, and every path with a slash
    at its end, is a 404.

    An add is carried out at once and answered after `add_seconds`. `keys` is what X-API-Key may be; None: nobody is
    asked for one.
    """

    def __init__(self, *, add_seconds: float = 0.0, port: int = 0) -> None:
        super().__init__(port)
        self.add_seconds = add_seconds
        self.keys: set[str] | None = {SERVER_KEY}
        self._numbers = itertools.count(1)
        self._memories: dict[str, dict[str, Any]] = {}
        self._commits: list[Any] = []

    @staticmethod
    def route_of(request: Request) -> tuple[str, str]:
        """Return the route's name and the id in the path, each empty where there is none."""
        for name, method, pattern in _ROUTES:
            if request.method == method and (found := pattern.fullmatch(request.path)):
                return name, found[1] if found.groups() else ""
        return "", ""

    def commits(self) -> list[Any]:
        """Return the bodies of the adds that were carried out."""
        return self._commits

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories, oldest first."""
        with self.changed:
            return list(self._memories.values())

    def as_kept(self, request: Request) -> Request:
        """Return the request without its key; `x-api-key` only says whether there was one."""
        headers = {name: "given" if name == "x-api-key" else value for name, value in request.headers.items()}
        return replace(request, headers=headers)

    def carry_out(self, request: Request, authorization: str, behaviour: Behaviour) -> Reply:
        """Do what the request asks for and return the true answer, which has a request id as all of them."""
        traced = {"X-Request-ID": f"req-{request.number}"}
        if self.keys is not None and request.headers.get("x-api-key") not in self.keys:
            refused = {"detail": "Invalid or missing API key"}
            return json_reply(401, refused, {**traced, "WWW-Authenticate": "Bearer"})
        route, found = self.route_of(request)
        try:
            status, document = self._act(route, found, request)
        except BadFilterError as error:
            status, document = 400, {"detail": str(error)}
        wait = self.add_seconds if route == "add" and status == 200 else 0.0
        return json_reply(status, document, traced, wait=wait)

    def _act(self, route: str, found: str, request: Request) -> tuple[int, Any]:  # noqa: PLR0911  (a table)
        match route:
            case "add":
                return self._add(request.json)
            case "list":
                return self._list(request.query)
            case "search":
                return self._search(request.json)
            case "get":
                return 200, self._memories.get(found)
            case "delete" if self._memories.pop(found, None) is None:
                return 404, {"detail": "Memory not found"}
            case "delete":
                return 200, {"message": "Memory deleted successfully"}
            case _:
                return 404, {"detail": "Not Found"}

    def _add(self, body: Any) -> tuple[int, Any]:
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not all(isinstance(one, dict) and "role" in one for one in messages):
            return _invalid("body", "messages")
        if not any(body.get(key) for key in IDS):
            return 400, {"detail": "At least one identifier (user_id, agent_id, run_id) is required."}
        scope = {key: checked_id(key, body.get(key)) for key in IDS}
        self._commits.append(body)
        made = [self._remember(str(one["content"]), scope, body) for one in messages if one["role"] == "user"]
        return 200, {"results": [one for one in made if one is not None]}

    def _remember(self, text: str, scope: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Make one memory; an exact repeat within the same scope is nothing new."""
        if any(one["memory"] == text and all(one[key] == scope[key] for key in IDS) for one in self._memories.values()):
            return None
        identity = f"mem-{next(self._numbers):06d}"
        now = iso(time.time())
        self._memories[identity] = {
            "id": identity,
            "memory": text,
            "hash": f"hash-{identity}",
            **scope,
            "metadata": dict(body.get("metadata") or {}),
            "created_at": now,
            "updated_at": now,
        }
        return {"id": identity, "memory": text, "event": "ADD"}

    def _list(self, query: Mapping[str, str]) -> tuple[int, Any]:
        try:
            top_k = int(query.get("top_k", "20"))
        except ValueError:
            return _invalid("query", "top_k")
        if not 1 <= top_k <= MAX_TOP_K:
            return _invalid("query", "top_k")
        filters = check({key: query[key] for key in IDS if key in query})
        return 200, {"results": [one for one in self._memories.values() if matches(filters, one)][:top_k]}

    def _search(self, body: Any) -> tuple[int, Any]:
        if not isinstance(body, dict) or not isinstance(body.get("query"), str) or not body["query"]:
            return _invalid("body", "query")
        filters, top_k, threshold = check(body.get("filters")), body.get("top_k", 20), body.get("threshold", 0.1)
        asked = words(body["query"])
        scored = [
            {**one, "score": len(asked & words(one["memory"])) / max(1, len(asked))}
            for one in self._memories.values()
            if matches(filters, one)
        ]
        near = sorted((one for one in scored if one["score"] >= threshold), key=lambda one: -one["score"])
        return 200, {"results": near[:top_k]}


def _invalid(*place: str) -> tuple[int, Any]:
    return 422, {"detail": [{"type": "missing", "loc": list(place), "msg": "Field required"}]}
