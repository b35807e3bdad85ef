"""The page's answers: a fixed table of files and calls, behind the guard. What is refused gets an empty body."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import resources
from typing import Any

from daemon.status_socket import asked_for
from daemon.status_socket.asked_for import Refused
from daemon.status_socket.http_message import Request, Response, json_response, refusal
from daemon.ui.asking import Asking, NotDone
from daemon.ui.guard import Guard, Verdict

THREADS = 4
"""For what asks the daemon; one that waits for a long forgetting leaves room for the others."""

FILES: Mapping[str, str] = {
    "page.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Every file there is, so that no path leads anywhere else."""

STATES = ("", "ready", "waiting", "claimed", "done", "dead", "cancelled")

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""On every response; `Cache-Control: no-store` stands on all of them as well."""

Call = Callable[[Request], Mapping[str, Any]]


class Page:
    """Answers each request; `on_asked` is called for each that was let in. `acting` is what the page acts with.
    `calls` is how many wait for the daemon."""

    def __init__(self, guard: Guard, acting: str, asking: Asking, on_asked: Callable[[], None]) -> None:
        self._guard = guard
        self._asking = asking
        self._on_asked = on_asked
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ui")
        self.calls = 0
        self._index = _file("index.html").replace(b"{{TOKEN}}", acting.encode())
        self._files = {name: Response(200, _file(name), kind) for name, kind in FILES.items()}
        self._calls: Mapping[tuple[str, str], Call] = {
            ("GET", "overview"): lambda _: asking.overview(),
            ("GET", "sessions"): lambda _: asking.sessions(),
            ("GET", "history"): self._history,
            ("GET", "jobs"): self._jobs,
            ("GET", "namespaces"): lambda _: asking.namespaces(),
            ("POST", "search"): self._search,
            ("POST", "forget"): self._forget,
            ("POST", "pin"): self._pin,
            ("POST", "retry"): lambda request: self._change("retry", request),
            ("POST", "discard"): lambda request: self._change("discard", request),
        }

    def close(self) -> None:
        """Start no more answers; one that hangs is left behind."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        match self._guard.verdict(request):
            case Verdict.ENTER:
                return Response(303, b"", headers={"Location": self._guard.root, "Set-Cookie": self._guard.cookie})
            case Verdict.PAGE:
                self._on_asked()
                return await self._answer(request)
            case Verdict.TOO_MANY:
                return Response(429, b"", headers={"Retry-After": "60"})
        return Response(403, b"")

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        name = request.path.removeprefix(self._guard.root)
        if method == "GET" and not name:
            return Response(200, self._index, "text/html; charset=utf-8")
        if method == "GET" and name in self._files:
            return self._files[name]
        call = self._calls.get((method, name.removeprefix("api/"))) if name.startswith("api/") else None
        if call is None:
            return Response(404, b"")
        try:
            return json_response(200, await self._called(call, request))
        except Refused as refused:
            return refused.response
        except NotDone as error:
            return refusal(error.status, error.sentence)

    async def _called(self, call: Call, request: Request) -> Mapping[str, Any]:
        """Wait for a call in a thread; it counts in `calls` until it is over, also where nobody waits any more."""

        def over(_: Future[Mapping[str, Any]]) -> None:
            self.calls -= 1

        self.calls += 1
        running = self._threads.submit(call, request)
        running.add_done_callback(over)
        return await asyncio.wrap_future(running)

    def _history(self, request: Request) -> Mapping[str, Any]:
        minutes = asked_for.number(asked_for.query(request, "minutes"), "minutes", 1_440, 1, 1_440, whole=True)
        return self._asking.history(int(minutes))

    def _jobs(self, request: Request) -> Mapping[str, Any]:
        state = asked_for.query(request, "state").get("state", "")
        if state not in STATES:
            raise Refused(400, "There is no such state.")
        return self._asking.jobs(state)

    def _search(self, request: Request) -> Mapping[str, Any]:
        return self._asking.search(_document(request, "query", "cwd", "scope", "category", "top_k"))

    def _forget(self, request: Request) -> Mapping[str, Any]:
        """One memory or one session: what is forgotten of a whole project is said at the command line."""
        return self._asking.forget(_document(request, "memory", "session", "remote", "yes"))

    def _pin(self, request: Request) -> Mapping[str, Any]:
        return self._asking.pin(_document(request, "namespace", "key", "value"))

    def _change(self, verb: str, request: Request) -> Mapping[str, Any]:
        job_id = asked_for.text(_document(request, "id"), "id")
        if job_id is None:
            raise Refused(400, "id says which job.")
        return self._asking.change(verb, job_id)


def _document(request: Request, *known: str) -> Mapping[str, Any]:
    """Return the body's JSON object. A form of another site could send text, and never this type (fetch standard)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "The body is no JSON.")
    return asked_for.document(request, *known)


def _file(name: str) -> bytes:
    return resources.files("daemon.ui").joinpath("static", name).read_bytes()
