"""The status socket's routes (CONTRACT: Status socket), over the daemon's view of itself."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from daemon.acts import DaemonActs
from daemon.pause_state import MAX_SECONDS, NoDuration, duration
from daemon.recalling.question import NotAQuestion
from daemon.searching.request import ARGUMENTS, SearchRefused
from daemon.status.history import MINUTES
from daemon.status.view import DaemonView
from daemon.status_socket import asked_for
from daemon.status_socket.asked_for import Refused
from daemon.status_socket.http_message import TEXT, Request, Response, json_response, refusal
from jobs.job import JobState
from jobs.queue.errors import QueueError
from memsyncd.notes.errors import NoteError, NoteRefused

THREADS = 2
"""For answers that read files and the queue; waits hold none."""

ANSWER_SECONDS = 10.0
"""What the daemon takes for an answer at most, beside what the client asked it to wait."""

MAX_EVENT_WAIT = 60.0
MAX_FLUSH_WAIT = 3600.0
MAX_FORGET_WAIT = 3600.0
MAX_UNTIL = 1e11
"""Unix seconds far beyond any that is meant, and no more than a float tells apart."""

MAX_JOBS = 10_000
DEFAULT_JOBS = 100

MAX_SESSIONS = 1_000
DEFAULT_SESSIONS = 100

METRICS = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class _Route:
    """`call` gets the request and the job id, empty where the path holds none. `wait` is what a client may add to
    the answer's own time, seconds."""

    call: Callable[[Request, str], Awaitable[Response]]
    wait: float = 0.0


def routes(view: DaemonView, acts: DaemonActs | None = None) -> "Routes":
    """Return the handler that answers from `view`, and does what people ask of `acts`."""
    return Routes(view, acts)


class Routes:
    """Answers each request within its time, or with 504."""

    def __init__(self, view: DaemonView, acts: DaemonActs | None) -> None:
        self._view = view
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="status-socket")
        self._table: dict[str, Mapping[str, _Route]] = {
            "/healthz": {"GET": _Route(self._health)},
            "/status": {"GET": _Route(self._status)},
            "/metrics": {"GET": _Route(self._metrics)},
            "/jobs": {"GET": _Route(self._jobs)},
            "/jobs/ID": {"GET": _Route(self._job)},
            "/jobs/ID/retry": {"POST": _Route(self._retry)},
            "/jobs/ID/discard": {"POST": _Route(self._discard)},
            "/search": {"POST": _Route(self._search)},
            "/recall": {"POST": _Route(self._recall)},
            "/flush": {"POST": _Route(self._flush, MAX_FLUSH_WAIT)},
            "/drain": {"POST": _Route(self._drain, MAX_FLUSH_WAIT)},
            "/events": {"GET": _Route(self._events, MAX_EVENT_WAIT)},
            "/sessions": {"GET": _Route(self._sessions)},
            "/history": {"GET": _Route(self._history)},
        }
        if acts is not None:
            self._acts = acts
            self._table |= {
                "/pause": {"POST": _Route(self._pause)},
                "/resume": {"POST": _Route(self._resume)},
                "/notes": {"GET": _Route(self._namespaces), "POST": _Route(self._remember)},
                "/forget": {"POST": _Route(self._forget, MAX_FORGET_WAIT)},
            }

    def close(self) -> None:
        """Start no more answers; one that hangs is left behind."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        method = "GET" if request.method == "HEAD" else request.method
        try:
            path, job_id = _shape(request.path, method)
            route = self._route(path, method)
            async with asyncio.timeout(route.wait + ANSWER_SECONDS):
                return await route.call(request, job_id)
        except Refused as refused:
            return refused.response
        except QueueError as error:
            return refusal(503, f"{error}.")
        except TimeoutError:
            return refusal(504, "The daemon took too long for this answer.")

    def _route(self, path: str, method: str) -> _Route:
        methods = self._table.get(path)
        if methods is None:
            raise Refused(404, "There is no such route.")
        if method not in methods:
            allowed = ", ".join(methods)
            raise Refused(405, f"This route takes {allowed} only.", {"Allow": allowed})
        return methods[method]

    async def _blocking(self, call: Callable[..., _Answer], *arguments: Any) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    async def _health(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        is_healthy, reasons = await self._blocking(self._view.health)
        if is_healthy:
            return Response(200, b"ok", TEXT)
        return Response(503, "\n".join(reasons).encode(errors="replace") + b"\n", TEXT)

    async def _status(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        return json_response(200, await self._blocking(self._view.status))

    async def _metrics(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        return Response(200, (await self._blocking(self._view.metrics)).encode(), METRICS)

    async def _jobs(self, request: Request, _: str) -> Response:
        query = asked_for.query(request, "state", "kind", "limit", "all_hosts")
        state = query.get("state") or None
        if state is not None and state not in tuple(JobState):
            raise Refused(400, f"state is one of {', '.join(JobState)}.")
        limit = int(asked_for.number(query, "limit", DEFAULT_JOBS, 1, MAX_JOBS, whole=True))
        asked = self._view.shared_jobs if query.get("all_hosts") == "1" else self._view.jobs
        found = await self._blocking(asked, state, query.get("kind") or None, limit)
        if found is None:
            raise Refused(400, "This machine's queue is its own: queue.url is not set.")
        return json_response(200, {"jobs": found})

    async def _job(self, request: Request, job_id: str) -> Response:
        asked_for.query(request)
        found = await self._blocking(self._view.job, job_id)
        return json_response(200, found) if found is not None else refusal(404, "There is no job of this id.")

    async def _retry(self, request: Request, job_id: str) -> Response:
        asked_for.query(request)
        return _outcome(await self._blocking(self._view.retry, job_id))

    async def _discard(self, request: Request, job_id: str) -> Response:
        asked_for.query(request)
        return _outcome(await self._blocking(self._view.discard, job_id))

    async def _search(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        asked = asked_for.document(request, *ARGUMENTS)
        try:
            return json_response(200, await self._blocking(self._view.search, asked))
        except SearchRefused as refused:
            raise Refused(400, str(refused)) from refused

    async def _recall(self, request: Request, _: str) -> Response:
        until = asked_for.number(asked_for.query(request, "until"), "until", 0.0, 0.0, MAX_UNTIL)
        try:
            return json_response(200, await self._view.recall(request.body, until or None))
        except NotAQuestion as wrong:
            raise Refused(400, str(wrong)) from wrong

    async def _flush(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        asked = asked_for.document(request, "session", "cwd", "wait", "wait_seconds")
        wait = asked_for.number(asked, "wait_seconds", 0.0, 0.0, MAX_FLUSH_WAIT)
        if asked.get("wait") not in (None, False, True):
            raise Refused(400, "wait is true or false.")
        if asked.get("wait") and "wait_seconds" not in asked:
            wait = MAX_FLUSH_WAIT
        session, cwd = asked_for.text(asked, "session"), asked_for.directory(asked, "cwd") or None
        return json_response(200, await self._view.flush(session, cwd, wait))

    async def _drain(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        wait = asked_for.number(asked_for.document(request, "wait_seconds"), "wait_seconds", 0.0, 0.0, MAX_FLUSH_WAIT)
        return json_response(200, await self._view.drain(wait))

    async def _sessions(self, request: Request, _: str) -> Response:
        limit = asked_for.number(
            asked_for.query(request, "limit"), "limit", DEFAULT_SESSIONS, 1, MAX_SESSIONS, whole=True
        )
        return json_response(200, await self._blocking(self._view.sessions, int(limit)))

    async def _history(self, request: Request, _: str) -> Response:
        minutes = asked_for.number(asked_for.query(request, "minutes"), "minutes", MINUTES, 1, MINUTES, whole=True)
        return json_response(200, await self._blocking(self._view.history, int(minutes)))

    async def _pause(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        asked = asked_for.document(request, "project", "for")
        seconds = asked.get("for") if asked.get("for") != "" else None
        if isinstance(seconds, str):
            try:
                seconds = duration(seconds)
            except NoDuration as error:
                raise Refused(400, f"for: {error}.") from error
        elif seconds is not None:
            seconds = asked_for.number(asked, "for", 0.0, 1.0, MAX_SECONDS)
        return await self._acted(self._acts.pause, asked_for.directory(asked, "project"), seconds)

    async def _resume(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        return await self._acted(
            self._acts.resume, asked_for.directory(asked_for.document(request, "project"), "project")
        )

    async def _forget(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        told = asked_for.document(request, "cwd", "session", "memory", "remote", "include_project_memory", "yes")
        asked = {name: value for name, value in told.items() if value != ""}  # beside another it widens nothing
        named = {name: asked_for.text(asked, name) or "" for name in ("cwd", "session", "memory")}
        if sum(1 for value in named.values() if value) != 1:
            raise Refused(400, "One of cwd, session and memory says what is to be forgotten.")
        asked_for.directory(asked, "cwd")
        flags = {name: asked.get(name) for name in ("remote", "include_project_memory", "yes")}
        if any(value not in (None, False, True) for value in flags.values()):
            raise Refused(400, "remote, include_project_memory and yes are true or false.")
        return await self._acted(self._acts.forget, {**named, **{name: bool(flags[name]) for name in flags}})

    async def _namespaces(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        return await self._acted(self._acts.namespaces)

    async def _remember(self, request: Request, _: str) -> Response:
        asked_for.query(request)
        return await self._acted(
            self._acts.remember, asked_for.document(request, "namespace", "key", "value", "ttl_seconds")
        )

    async def _acted(self, act: Callable[..., Mapping[str, Any]], *arguments: Any) -> Response:
        """Do it beside the threads of the other answers: it may wait for a platform or another program's lock."""
        try:
            return json_response(200, await asyncio.to_thread(act, *arguments))
        except NoteRefused as error:
            raise Refused(400, f"{error}.") from error
        except NoteError as error:
            raise Refused(503, f"{error}.") from error
        except OSError as error:
            raise Refused(500, f"The files cannot be changed: {error.strerror or error}.") from error

    async def _events(self, request: Request, _: str) -> Response:
        query = asked_for.query(request, "since", "wait")
        since = int(asked_for.number(query, "since", 0, 0, 2**63 - 1, whole=True))
        wait = asked_for.number(query, "wait", 0.0, 0.0, MAX_EVENT_WAIT)
        return json_response(200, await self._view.events(since, wait))


def _shape(path: str, method: str) -> tuple[str, str]:
    """Return the route's pattern and the job id in it. Ids hold `:` and `/`, percent-encoded or not."""
    head, separator, rest = path.removeprefix("/").partition("/")
    if unquote(head) != "jobs" or not separator or not rest:
        return path.rstrip("/") or "/", ""
    job_id, slash, verb = rest.rpartition("/")
    if slash and method != "GET" and verb in ("retry", "discard"):
        return f"/jobs/ID/{verb}", unquote(job_id)
    return "/jobs/ID", unquote(rest)


def _outcome(answer: str) -> Response:
    if answer == "unknown":
        return refusal(404, "There is no job of this id.")
    if answer in {"done", "already so"}:
        return json_response(200, {"outcome": answer})
    return refusal(409, f"That cannot be done to this job: {answer}.")
