"""What each route of the fake hosted platform does: a request in, status and document out."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fakes.loopback_http import Request
from tests.fakes.mem0_behaviours import Behaviour
from tests.fakes.mem0_filters import ENTITIES, BadFilterError, check
from tests.fakes.mem0_store import Store

Result = tuple[int, Any]

MAX_PAGE_SIZE = 200
MAX_TOP_K = 1_000

_ROUTES = [
    ("add", "POST", re.compile(r"/v3/memories/add/")),
    ("search", "POST", re.compile(r"/v3/memories/search/")),
    ("list", "POST", re.compile(r"/v3/memories/")),
    ("event", "GET", re.compile(r"/v1/event/([^/]+)/")),
    ("events", "GET", re.compile(r"/v1/events/")),
    ("delete", "DELETE", re.compile(r"/v1/memories/([^/]+)/")),
    ("ping", "GET", re.compile(r"/v1/ping/")),
]


def route_of(request: Request) -> tuple[str, str]:
    """Return the route's name and the id in the path, each empty where there is none."""
    for name, method, pattern in _ROUTES:
        if request.method == method and (found := pattern.fullmatch(request.path)):
            return name, found[1] if found.groups() else ""
    return "", ""


class Api:
    """The routes over one store; `commits` are the bodies of adds that were carried out."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.commits: list[Mapping[str, Any]] = []

    def act(
        self, route: str, found: str, request: Request, behaviour: Behaviour, *, seconds: float, polls: int
    ) -> Result:
        """Carry `request` out."""
        match route:
            case "add":
                result = self._add(request, behaviour, seconds, polls)
            case "event":
                event = self._store.ask(found)
                result = (200, event.document()) if event else (404, {"error": "Event not found"})
            case "events":
                result = self._page(request, [event.document for event in self._store.newest_events()])
            case "search" | "list":
                result = self._find(route, request)
            case "delete" if self._store.memories.pop(found, None) is None:
                result = 404, {"error": "Memory not found!"}
            case "delete":
                result = 200, {"message": "Memory deleted successfully!"}
            case "ping":
                account = {"org_id": "org-fake", "project_id": "proj-fake", "user_email": "nobody@example.org"}
                result = 200, {"status": "ok", **account}
            case _:
                result = 404, {"detail": "Not found."}
        return result

    def _add(self, request: Request, behaviour: Behaviour, seconds: float, polls: int) -> Result:
        body = request.json
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not messages or not all(_is_message(one) for one in messages):
            return _invalid("messages must be a list of objects with role and content")
        if not any(isinstance(body.get(entity), str) and body[entity] for entity in ENTITIES):
            return _invalid("At least one of user_id, agent_id, app_id, run_id is required")
        self.commits.append(body)
        if body.get("infer") is False:
            return 200, {"results": self._store.add_at_once(body), "message": "stored"}
        event = self._store.add(body, seconds=seconds, polls=polls, fate=behaviour.fate, error=behaviour.error)
        return 200, {"event_id": event.id, "status": "PENDING", "message": "queued"}

    def _find(self, route: str, request: Request) -> Result:
        body = request.json
        if not isinstance(body, dict):
            return _invalid("not a JSON object")
        if any(entity in body for entity in ENTITIES):
            return _invalid("entity ids belong into filters")
        try:
            filters = check(body.get("filters"))
        except BadFilterError as error:
            return _invalid(str(error))
        if route == "list":
            shown = [_listed(one) for one in self._store.matching(filters)]
            return self._page(request, [lambda one=one: one for one in shown])  # type: ignore[misc]
        return self._search(body)

    def _search(self, body: Mapping[str, Any]) -> Result:
        if '"keywords"' in json.dumps(body["filters"]):
            return 500, {"error": "Internal server error"}
        top_k = body.get("top_k", 10)
        if not isinstance(top_k, int) or not 1 <= top_k <= MAX_TOP_K or not str(body.get("query", "")):
            return _invalid("query and top_k")
        return 200, {"results": self._store.search(body["query"], body["filters"], top_k)}

    def _page(self, request: Request, items: Sequence[Callable[[], Any]]) -> Result:
        try:
            page, size = int(request.query.get("page", "1")), int(request.query.get("page_size", "100"))
        except ValueError:
            return _invalid("page and page_size are whole numbers")
        if page < 1 or not 1 <= size <= MAX_PAGE_SIZE:
            return _invalid(f"page_size is between 1 and {MAX_PAGE_SIZE}")
        start, end = (page - 1) * size, page * size

        def address(number: int) -> str:
            return f"http://{request.headers.get('host', '')}{request.path}?page={number}&page_size={size}"

        return 200, {
            "count": len(items),
            "next": address(page + 1) if end < len(items) else None,
            "previous": address(page - 1) if page > 1 else None,
            "results": [item() for item in items[start:end]],
        }


def _listed(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return a memory as the listing shows it: its run is called otherwise there."""
    return {"session_id" if name == "run_id" else name: value for name, value in memory.items()}


def _is_message(one: Any) -> bool:
    if not isinstance(one, dict):
        return False
    return one.get("role") in ("user", "assistant", "system") and isinstance(one.get("content"), str)


def _invalid(message: str) -> Result:
    return 400, {"error": message, "details": {"message": message}}
