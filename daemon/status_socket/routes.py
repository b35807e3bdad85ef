"""The status socket's routes (CONTRACT: Status socket), over the daemon's view of itself."""

import asyncio
import json
import math
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote

from daemon.acts import DaemonActs
from daemon.pause_state import MAX_SECONDS, duration
from daemon.recalling.question import NotAQuestion
from daemon.searching.request import ARGUMENTS, SearchRefused
from daemon.status.view import DaemonView
from daemon.status_socket.http_message import TEXT, Request, Response, json_response, refusal
from jobs.job import JobState

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

METRICS = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""

_Answer = TypeVar("_Answer")


class _Refused(Exception):
    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.response = refusal(status, sentence, headers)


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
            "/events": {"GET": _Route(self._events, MAX_EVENT_WAIT)},
        }
        if acts is not None:
            self._acts = acts
            self._table |= {
                "/pause": {"POST": _Route(self._pause)},
                "/resume": {"POST": _Route(self._resume)},
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
        except _Refused as refused:
            return refused.response
        except TimeoutError:
            return refusal(504, "The daemon took too long for this answer.")

    def _route(self, path: str, method: str) -> _Route:
        methods = self._table.get(path)
        if methods is None:
            raise _Refused(404, "There is no such route.")
        if method not in methods:
            allowed = ", ".join(methods)
            raise _Refused(405, f"This route takes {allowed} only.", {"Allow": allowed})
        return methods[method]

    async def _blocking(self, call: Callable[..., _Answer], *arguments: Any) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    async def _health(self, request: Request, _: str) -> Response:
        _query(request)
        is_healthy, reasons = await self._blocking(self._view.health)
        if is_healthy:
            return Response(200, b"ok", TEXT)
        return Response(503, "\n".join(reasons).encode(errors="replace") + b"\n", TEXT)

    async def _status(self, request: Request, _: str) -> Response:
        _query(request)
        return json_response(200, await self._blocking(self._view.status))

    async def _metrics(self, request: Request, _: str) -> Response:
        _query(request)
        return Response(200, (await self._blocking(self._view.metrics)).encode(), METRICS)

    async def _jobs(self, request: Request, _: str) -> Response:
        query = _query(request, "state", "kind", "limit")
        state = query.get("state") or None
        if state is not None and state not in tuple(JobState):
            raise _Refused(400, f"state is one of {', '.join(JobState)}.")
        limit = int(_number(query, "limit", DEFAULT_JOBS, 1, MAX_JOBS, whole=True))
        return json_response(
            200, {"jobs": await self._blocking(self._view.jobs, state, query.get("kind") or None, limit)}
        )

    async def _job(self, request: Request, job_id: str) -> Response:
        _query(request)
        found = await self._blocking(self._view.job, job_id)
        return json_response(200, found) if found is not None else refusal(404, "There is no job of this id.")

    async def _retry(self, request: Request, job_id: str) -> Response:
        _query(request)
        return _outcome(await self._blocking(self._view.retry, job_id))

    async def _discard(self, request: Request, job_id: str) -> Response:
        _query(request)
        return _outcome(await self._blocking(self._view.discard, job_id))

    async def _search(self, request: Request, _: str) -> Response:
        _query(request)
        asked = _document(request, *ARGUMENTS)
        try:
            return json_response(200, await self._blocking(self._view.search, asked))
        except SearchRefused as refused:
            raise _Refused(400, str(refused)) from refused

    async def _recall(self, request: Request, _: str) -> Response:
        until = _number(_query(request, "until"), "until", 0.0, 0.0, MAX_UNTIL)
        try:
            return json_response(200, await self._view.recall(request.body, until or None))
        except NotAQuestion as wrong:
            raise _Refused(400, str(wrong)) from wrong

    async def _flush(self, request: Request, _: str) -> Response:
        _query(request)
        asked = _document(request, "session", "cwd", "wait", "wait_seconds")
        wait = _number(asked, "wait_seconds", 0.0, 0.0, MAX_FLUSH_WAIT)
        if asked.get("wait") not in (None, False, True):
            raise _Refused(400, "wait is true or false.")
        if asked.get("wait") and "wait_seconds" not in asked:
            wait = MAX_FLUSH_WAIT
        return json_response(200, await self._view.flush(_text(asked, "session"), _text(asked, "cwd"), wait))

    async def _pause(self, request: Request, _: str) -> Response:
        _query(request)
        asked = _document(request, "project", "for")
        seconds = asked.get("for")
        if isinstance(seconds, str) and seconds:
            seconds = duration(seconds)
            if seconds is None:
                raise _Refused(400, "for is a time like 90, 90s, 15m, 2h or 3d.")
        elif seconds is not None and seconds != "":
            seconds = _number(asked, "for", 0.0, 1.0, MAX_SECONDS)
        return await self._acted(self._acts.pause, _directory(asked, "project"), seconds or None)

    async def _resume(self, request: Request, _: str) -> Response:
        _query(request)
        return await self._acted(self._acts.resume, _directory(_document(request, "project"), "project"))

    async def _forget(self, request: Request, _: str) -> Response:
        _query(request)
        asked = _document(request, "cwd", "session", "memory", "remote", "include_project_memory", "yes")
        named = {name: _text(asked, name) or "" for name in ("cwd", "session", "memory")}
        if sum(1 for value in named.values() if value) != 1:
            raise _Refused(400, "One of cwd, session and memory says what is to be forgotten.")
        _directory(asked, "cwd")
        flags = {name: asked.get(name) for name in ("remote", "include_project_memory", "yes")}
        if any(value not in (None, False, True) for value in flags.values()):
            raise _Refused(400, "remote, include_project_memory and yes are true or false.")
        return await self._acted(self._acts.forget, {**named, **{name: bool(flags[name]) for name in flags}})

    async def _acted(self, act: Callable[..., Mapping[str, Any]], *arguments: Any) -> Response:
        """Do it beside the threads of the other answers: it may wait for a platform or another program's lock."""
        try:
            return json_response(200, await asyncio.to_thread(act, *arguments))
        except OSError as error:
            raise _Refused(500, f"The files cannot be changed: {error.strerror or error}.") from error

    async def _events(self, request: Request, _: str) -> Response:
        query = _query(request, "since", "wait")
        since = int(_number(query, "since", 0, 0, 2**63 - 1, whole=True))
        wait = _number(query, "wait", 0.0, 0.0, MAX_EVENT_WAIT)
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


def _query(request: Request, *known: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(request.query, keep_blank_values=True, strict_parsing=bool(request.query), max_num_fields=20)
    except ValueError:
        raise _Refused(400, "The query is no list of name=value.") from None
    for name, _ in pairs:
        if name not in known:
            raise _Refused(400, f"This route knows {', '.join(known) or 'no parameter'}, and not {name[:40]!r}.")
    return dict(pairs)


def _document(request: Request, *known: str) -> Mapping[str, Any]:
    """Return the body's JSON object; no body is an empty one."""
    if not request.body.strip():
        return {}
    try:
        document = json.loads(request.body)
    except (ValueError, RecursionError):
        raise _Refused(400, "The body is no JSON.") from None
    if not isinstance(document, dict):
        raise _Refused(400, "The body is no JSON object.")
    for name in document:
        if name not in known:
            raise _Refused(400, f"The body may hold {', '.join(known)}, and not {name[:40]!r}.")
    return document


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise _Refused(400, f"{name} is a text.")
    return value or None


def _directory(document: Mapping[str, Any], name: str) -> str:
    value = _text(document, name) or ""
    if value and not os.path.isabs(value):
        raise _Refused(400, f"{name} is an absolute path.")
    return value


def _number(
    values: Mapping[str, Any], name: str, default: float, least: float, most: float, *, whole: bool = False
) -> float:
    given = values.get(name)
    if given is None or given == "":
        return default
    try:
        number = (int if whole else float)(given)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(given, bool) or not least <= number <= most:
        kind = "a whole number" if whole else "a number"
        raise _Refused(400, f"{name} is {kind} from {least:g} to {most:g}.")
    return number


def _outcome(answer: str) -> Response:
    if answer == "unknown":
        return refusal(404, "There is no job of this id.")
    if answer in {"done", "already so"}:
        return json_response(200, {"outcome": answer})
    return refusal(409, f"That cannot be done to this job: {answer}.")
