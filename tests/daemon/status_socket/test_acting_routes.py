"""The routes by which people act: what they take, and what they hand on."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from daemon.status.view import DaemonView
from daemon.status_socket.http_message import Request
from daemon.status_socket.routes import routes
from memsyncd.notes.errors import NoteRefused, StoreBusy


@dataclass
class Acts:
    """Notes what it is asked; `error` is raised by the next."""

    asked: list[Any] = field(default_factory=list)
    error: Exception | None = None

    def pause(self, project: str, seconds: float | None) -> Mapping[str, Any]:
        return self._note("pause", project, seconds)

    def resume(self, project: str) -> Mapping[str, Any]:
        return self._note("resume", project)

    def forget(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._note("forget", *[name for name, value in request.items() if value])

    def namespaces(self) -> Mapping[str, Any]:
        return self._note("namespaces")

    def remember(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._note("remember", dict(request))

    def _note(self, *what: Any) -> Mapping[str, Any]:
        if self.error is not None:
            raise self.error
        self.asked.append(what)
        return {"outcome": "done"}


def ask(acts: Acts, path: str, body: Any) -> tuple[int, Any]:
    table = routes(cast("DaemonView", None), acts)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        response = asyncio.run(table(Request("POST", path, "", raw)))
    finally:
        table.close()
    return response.status, json.loads(response.body)


@pytest.mark.parametrize(
    ("path", "body", "handed_on"),
    [
        ("/pause", b"", ("pause", "", None)),
        ("/pause", {"for": "15m"}, ("pause", "", 900.0)),
        ("/pause", {"for": 90}, ("pause", "", 90.0)),
        ("/pause", {"project": "/w", "for": None}, ("pause", "/w", None)),
        ("/pause", {"project": None, "for": None}, ("pause", "", None)),
        ("/pause", {"project": "", "for": ""}, ("pause", "", None)),  # as older commands say it
        ("/resume", {}, ("resume", "")),
        ("/resume", {"project": ""}, ("resume", "")),
        ("/resume", {"project": "/w"}, ("resume", "/w")),
        ("/forget", {"session": "s"}, ("forget", "session")),
        ("/forget", {"session": "s", "cwd": "", "memory": ""}, ("forget", "session")),
        (
            "/notes",
            {"namespace": "n", "key": "k", "value": "v"},
            ("remember", {"namespace": "n", "key": "k", "value": "v"}),
        ),
        ("/forget", {"cwd": "/w", "yes": True, "remote": True}, ("forget", "cwd", "remote", "yes")),
    ],
)
def test_what_is_asked_is_handed_on(path: str, body: Any, handed_on: tuple[Any, ...]) -> None:
    """Checked, and with the durations read."""
    acts = Acts()
    assert ask(acts, path, body) == (200, {"outcome": "done"})
    assert acts.asked == [handed_on]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pause", {"for": "soon"}),
        ("/pause", {"for": -1}),
        ("/pause", {"for": True}),
        ("/pause", {"project": "relative"}),
        ("/pause", {"until": "tomorrow"}),
        ("/pause", {"project": " "}),
        ("/pause", {"for": 0}),
        ("/pause", {"for": "0"}),
        ("/pause", {"for": "999999999999d"}),
        ("/resume", {"project": " "}),
        ("/resume", {"project": "relative"}),
        ("/resume", {"project": 7}),
        ("/forget", {}),
        ("/forget", {"cwd": "", "session": "", "yes": True}),
        ("/forget", {"session": "s", "memory": "m"}),
        ("/forget", {"cwd": "relative", "yes": True}),
        ("/forget", {"session": "s", "yes": "no"}),
        ("/forget", {"session": "s", "everything": True}),
        ("/forget", b"{"),
    ],
)
def test_what_is_not_clear_is_refused_with_a_sentence(path: str, body: Any) -> None:
    """Above all a deletion: nothing is guessed."""
    acts = Acts()
    status, answer = ask(acts, path, body)
    assert status == 400 and answer["error"] and not acts.asked


def test_files_that_cannot_be_changed_are_told() -> None:
    """With the system's words for it."""
    acts = Acts(error=OSError(30, "Read-only file system"))
    assert ask(acts, "/pause", {}) == (500, {"error": "The files cannot be changed: Read-only file system."})


@pytest.mark.parametrize(
    ("error", "status"),
    [(NoteRefused("key must not be blank"), 400), (StoreBusy("in use: try again"), 503), (OSError(28, "full"), 500)],
)
def test_a_note_that_is_not_kept_is_told_with_whose_fault_it_is(error: Exception, status: int) -> None:
    """What to change, what to try again, and what to look at."""
    assert ask(Acts(error=error), "/notes", {"key": ""})[0] == status
