"""The routes of the status socket, without a socket."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from daemon.recalling.question import NotAQuestion
from daemon.searching.request import parsed
from daemon.status_socket import routes as routes_module
from daemon.status_socket.http_message import Request, Response
from daemon.status_socket.routes import Routes, routes
from jobs.queue.errors import QueueUnavailable


class View:
    """A daemon with one job, that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.reasons: list[str] = []
        self.hang = threading.Event()

    def status(self) -> dict[str, Any]:
        self.asked.append(("status", threading.current_thread().name))
        return {"state": "ok", "protocol": 1}

    def health(self) -> tuple[bool, list[str]]:
        return not self.reasons, self.reasons

    def metrics(self) -> str:
        return "memsyncd_up 1\n"

    def shared_jobs(self, state: str | None, kind: str | None, limit: int) -> list[dict[str, Any]] | None:
        return None

    def jobs(self, state: str | None, kind: str | None, limit: int) -> list[dict[str, Any]]:
        self.asked.append(("jobs", state, kind, limit))
        return [{"id": "flush:claude-code:abc"}]

    def job(self, job_id: str) -> dict[str, Any] | None:
        self.asked.append(("job", job_id))
        return None if job_id == "none" else {"id": job_id}

    def retry(self, job_id: str) -> str:
        self.asked.append(("retry", job_id))
        return {"none": "unknown", "again": "already so"}.get(job_id, "done")

    def discard(self, job_id: str) -> str:
        self.asked.append(("discard", job_id))
        return "done"

    def search(self, request: Mapping[str, Any]) -> dict[str, Any]:
        parsed(request)
        self.asked.append(("search", dict(request)))
        return {"succeeded": True, "source": "local", "memories": []}

    def sessions(self, limit: int) -> dict[str, Any]:
        self.asked.append(("sessions", limit))
        return {"sessions": [], "unreadable": []}

    def history(self, minutes: int) -> dict[str, Any]:
        self.asked.append(("history", minutes))
        return {"samples": []}

    async def recall(self, body: bytes, until: float | None) -> dict[str, Any]:
        if body == b"no handoff":
            raise NotAQuestion("The body is no handoff.")
        self.asked.append(("recall", body, until))
        return {"context": "", "memories": [], "matched": 0, "already_shown": 0}

    async def flush(self, session: str | None, cwd: str | None, wait_seconds: float) -> dict[str, Any]:
        self.asked.append(("flush", session, cwd, wait_seconds))
        return {"outcome": "nothing", "packets": 0, "reason": ""}

    async def events(self, since: int, wait_seconds: float) -> dict[str, Any]:
        self.asked.append(("events", since, wait_seconds))
        return {"events": [], "gap": False}


@pytest.fixture
def view() -> View:
    return View()


@pytest.fixture
def handler(view: View) -> Iterator[Routes]:
    made = routes(view)
    yield made
    made.close()


def ask(handler: Routes, method: str, target: str, body: bytes = b"") -> tuple[Response, Any]:
    path, _, query = target.partition("?")

    async def call() -> Response:
        return await handler(Request(method, path, query, body))

    response = asyncio.run(call())
    return response, json.loads(response.body) if response.content_type == "application/json" else None


def test_health_is_ok_or_503_with_the_reasons(handler: Routes, view: View) -> None:
    """A monitor needs the code, a person the reasons."""
    response, _ = ask(handler, "GET", "/healthz")
    assert (response.status, response.body) == (200, b"ok")
    view.reasons = ["the key is refused", "a claim is stuck"]
    response, _ = ask(handler, "GET", "/healthz")
    assert (response.status, response.body) == (503, b"the key is refused\na claim is stuck\n")


def test_status_and_metrics_are_what_the_view_says(handler: Routes, view: View) -> None:
    """Asked in a thread, so that a slow disk does not hold up the loop."""
    assert ask(handler, "GET", "/status")[1] == {"state": "ok", "protocol": 1}
    assert ask(handler, "GET", "/status/")[0].status == 200
    assert ask(handler, "HEAD", "/status")[0].status == 200
    assert all(name.startswith("status-socket") for _, name in view.asked)
    response, _ = ask(handler, "GET", "/metrics")
    assert response.body == b"memsyncd_up 1\n"
    assert response.content_type.startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("/jobs", (None, None, 100)),
        ("/jobs?state=dead&kind=flush&limit=7", ("dead", "flush", 7)),
        ("/jobs?state=&kind=&limit=", (None, None, 100)),
        ("/jobs?limit=10000", (None, None, 10_000)),
    ],
)
def test_jobs_are_filtered(handler: Routes, view: View, target: str, asked: tuple[Any, ...]) -> None:
    """Empty parameters mean none, as in CONTRACT's `?state=&kind=&limit=`."""
    assert ask(handler, "GET", target)[1] == {"jobs": [{"id": "flush:claude-code:abc"}]}
    assert view.asked == [("jobs", *asked)]


@pytest.mark.parametrize(
    ("target", "job_id"),
    [
        ("/jobs/flush:claude-code:abc", "flush:claude-code:abc"),
        ("/jobs/flush%3Aclaude-code%3Aabc", "flush:claude-code:abc"),
        ("/jobs/a%2Fb", "a/b"),
        ("/jobs/a/b", "a/b"),
        ("/jobs/a%20%C3%A4%25", "a ä%"),
        ("/jobs/x/retry", "x/retry"),
        ("/jobs/retry", "retry"),
    ],
)
def test_a_jobs_id_may_hold_anything(handler: Routes, view: View, target: str, job_id: str) -> None:
    """Ids hold colons and slashes, encoded or not."""
    assert ask(handler, "GET", target)[1] == {"id": job_id}
    assert view.asked == [("job", job_id)]


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_jobs_are_retried_and_discarded(handler: Routes, view: View, verb: str) -> None:
    """By POST only, whatever is in the id."""
    assert ask(handler, "POST", f"/jobs/flush:a%2Fb/{verb}")[1] == {"outcome": "done"}
    assert ask(handler, "POST", f"/jobs/a/b/{verb}")[1] == {"outcome": "done"}
    assert view.asked == [(verb, "flush:a/b"), (verb, "a/b")]


def test_repeating_an_order_answers_already_so_and_an_unknown_id_404(handler: Routes) -> None:
    """CONTRACT: 200 for what is so already."""
    response, said = ask(handler, "POST", "/jobs/again/retry")
    assert (response.status, said) == (200, {"outcome": "already so"})
    for method, target in (("POST", "/jobs/none/retry"), ("GET", "/jobs/none")):
        assert ask(handler, method, target)[0].status == 404


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        (b"", (None, None, 0.0)),
        (b"{}", (None, None, 0.0)),
        (b'{"session": "s", "cwd": "/w", "wait_seconds": 2.5}', ("s", "/w", 2.5)),
        (b'{"session": "", "cwd": null, "wait": false}', (None, None, 0.0)),
        (b'{"wait": true}', (None, None, routes_module.MAX_FLUSH_WAIT)),
        (b'{"wait": true, "wait_seconds": 3}', (None, None, 3.0)),
    ],
)
def test_a_flush_is_asked_for(handler: Routes, view: View, body: bytes, asked: tuple[Any, ...]) -> None:
    """No name means all, or an empty one, which older commands send; and `wait` alone means until it is over."""
    assert ask(handler, "POST", "/flush", body)[1] == {"outcome": "nothing", "packets": 0, "reason": ""}
    assert view.asked == [("flush", *asked)]


def test_a_search_is_passed_on_whole(handler: Routes, view: View) -> None:
    """What the client leaves out is left to the daemon."""
    asked = {
        "query": "how are tests run",
        "cwd": "/w",
        "top_k": 3,
        "category": "results",
        "scope": "repo",
        "run_id": "s",
    }
    assert ask(handler, "POST", "/search", json.dumps(asked).encode())[1]["succeeded"] is True
    ask(handler, "POST", "/search", b'{"query": "x"}')
    assert view.asked == [("search", asked), ("search", {"query": "x"})]


def test_a_recall_is_passed_on_with_how_long_its_hook_waits(handler: Routes, view: View) -> None:
    """The body goes on as it came; without `until` nobody's patience is known."""
    assert ask(handler, "POST", "/recall?until=1793606400.25", b"{}")[1]["context"] == ""
    ask(handler, "POST", "/recall", b"{}")
    assert view.asked == [("recall", b"{}", 1793606400.25), ("recall", b"{}", None)]


def test_sessions_are_the_newest(handler: Routes, view: View) -> None:
    """A hundred where nobody says how many."""
    ask(handler, "GET", "/sessions")
    ask(handler, "GET", "/sessions?limit=7")
    assert view.asked == [("sessions", 100), ("sessions", 7)]


def test_history_is_the_last_day_or_less(handler: Routes, view: View) -> None:
    """More is not kept."""
    ask(handler, "GET", "/history")
    ask(handler, "GET", "/history?minutes=60")
    assert view.asked == [("history", 1_440), ("history", 60)]


def test_events_are_asked_for_since_and_with_a_wait(handler: Routes, view: View) -> None:
    """Both have defaults."""
    ask(handler, "GET", "/events")
    ask(handler, "GET", "/events?since=12&wait=30")
    assert view.asked == [("events", 0, 0.0), ("events", 12, 30.0)]


@pytest.mark.parametrize(
    ("line", "body", "refused"),
    [
        ("GET /nothing", b"", (404, "route")),
        ("GET /", b"", (404, "route")),
        ("POST /jobs/a/explode", b"", (405, "GET")),
        ("POST /status", b"", (405, "GET")),
        ("GET /flush", b"", (405, "POST")),
        ("DELETE /jobs/a", b"", (405, "GET")),
        ("PUT /jobs/a/retry", b"", (405, "POST")),
        ("GET /jobs?state=lost", b"", (400, "ready, claimed")),
        ("GET /jobs?limit=0", b"", (400, "1 to 10000")),
        ("GET /jobs?limit=many", b"", (400, "whole number")),
        ("GET /jobs?limit=1.5", b"", (400, "whole number")),
        ("GET /jobs?sort=up", b"", (400, "state, kind, limit")),
        ("GET /status?x=1", b"", (400, "no parameter")),
        ("GET /jobs?&&&", b"", (400, "name=value")),
        ("GET /events?since=-1", b"", (400, "since")),
        ("GET /sessions?limit=1001", b"", (400, "1 to 1000")),
        ("GET /history?minutes=1441", b"", (400, "1 to 1440")),
        ("GET /events?wait=61", b"", (400, "0 to 60")),
        ("GET /events?wait=nan", b"", (400, "wait")),
        ("GET /events?since=" + "9" * 5000, b"", (400, "since")),
        ("POST /recall", b"no handoff", (400, "no handoff")),
        ("POST /recall?until=soon", b"{}", (400, "until")),
        ("POST /recall?wait=1", b"{}", (400, "until")),
        ("GET /recall", b"", (405, "POST")),
        ("POST /search", b"{}", (400, "query")),
        ("POST /search", b'{"query": " "}', (400, "query")),
        ("POST /search", b'{"query": "x", "top_k": 21}', (400, "1 to 20")),
        ("POST /search", b'{"query": "x", "cwd": 1}', (400, "cwd")),
        ("GET /search", b"", (405, "POST")),
        ("POST /flush", b"not json", (400, "JSON")),
        ("POST /flush", b"\xff", (400, "JSON")),
        ("POST /flush", b"[" * 100_000, (400, "JSON")),
        ("POST /flush", b"[]", (400, "object")),
        ("POST /flush", b'{"session": 5}', (400, "session")),
        ("POST /flush", b'{"session": " "}', (400, "blank")),
        ("POST /flush", b'{"cwd": " "}', (400, "blank")),
        ("POST /flush", b'{"cwd": "rel"}', (400, "absolute")),
        ("POST /flush", b'{"sesion": "s"}', (400, "session, cwd, wait")),
        ("POST /flush", b'{"wait": "yes"}', (400, "true or false")),
        ("POST /flush", b'{"wait_seconds": true}', (400, "wait_seconds")),
        ("POST /flush", b'{"wait_seconds": [1]}', (400, "wait_seconds")),
        ("POST /flush", b'{"wait_seconds": NaN}', (400, "wait_seconds")),
        ("POST /flush", b'{"wait_seconds": 1e999}', (400, "wait_seconds")),
    ],
)
def test_what_is_wrong_is_said(handler: Routes, view: View, line: str, body: bytes, refused: tuple[int, str]) -> None:
    """A sentence that names what is allowed; nothing is asked of the daemon."""
    (method, target), (status, part) = line.split(" ", 1), refused
    response, said = ask(handler, method, target, body)
    assert response.status == status
    assert part in said["error"]
    assert ("Allow" in response.headers) == (status == 405)
    assert view.asked == []


def test_a_queue_that_cannot_be_used_is_503(monkeypatch: pytest.MonkeyPatch, handler: Routes, view: View) -> None:
    """A monitor hears that it is for now and why, not that the daemon is at fault."""

    def away(*_: object) -> None:
        raise QueueUnavailable("the queue cannot be used: disk I/O error (SQLITE_IOERR)")

    monkeypatch.setattr(view, "jobs", away)
    response, document = ask(handler, "GET", "/jobs")
    assert response.status == 503
    assert "SQLITE_IOERR" in str(document)


def test_an_answer_that_takes_too_long_is_504(monkeypatch: pytest.MonkeyPatch, handler: Routes, view: View) -> None:
    """A hung disk must not hang every client."""
    monkeypatch.setattr(routes_module, "ANSWER_SECONDS", 0.05)
    view.status = lambda: view.hang.wait(60) and {}  # type: ignore[method-assign,assignment,return-value]
    try:
        assert ask(handler, "GET", "/status")[0].status == 504
    finally:
        view.hang.set()
