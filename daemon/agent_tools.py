"""What the MCP server's tools stand on: the daemon's socket where it answers, the files where no daemon runs."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from daemon.cli import exits, job_access, link, status
from daemon.cli.surroundings import Surroundings
from daemon.configuration_error import ConfigurationError
from daemon.gate import Gate
from daemon.private_directory import make_private
from daemon.searching.answer import LOCAL_INDEX
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.mcp_server.note_tools import note_tools
from memsyncd.mcp_server.queue_tool import QueueState, queue_tool
from memsyncd.mcp_server.search_tool import Found, Question, search_tool
from memsyncd.mcp_server.tool import ToolFailed
from memsyncd.mcp_server.tools import Tools
from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import DEFAULT_BUDGET
from memsyncd.scope.resolve import ScopeResolver

MOST_LOOKED_AT = 1_000
"""Dead letters and waiting jobs read for an answer; beyond it their number is not exact."""

NO_ANSWER = frozenset({"not-answering", "socket-foreign"})
"""Problems of a daemon that was asked in vain: it is not waited for once more."""


def agent_tools(around: Surroundings, *, clock: Clock, report: Callable[[str], None]) -> Tools:
    """Return the nine tools; `report` is told of faults of ours.

    Settings are read anew for each call: a server lives as long as its client, and an exclusion counts at once.
    """
    places = around.places()
    resolver = ScopeResolver(places.home, around.environ)
    try:
        make_private(places.data)
    except (ConfigurationError, OSError) as error:
        report(f"notes: {error}")  # each of their tools says so too

    def hold(project: str) -> str | None:
        return Gate(_settings(around).exclude, places.data / "paused", resolver.resolve).hold_directory(project)

    return Tools(
        [
            search_tool(partial(_search, around, Chance()), budget=_budget(around)),
            *note_tools(NoteTools(NoteStore(places.memory_file, clock))),
            queue_tool(partial(_queue, around)),
        ],
        hold=hold,
        report=report,
    )


def _settings(around: Surroundings) -> Settings:
    """Return the settings in effect. Raises ToolFailed: with a wrong file nobody knows what is excluded."""
    try:
        return around.load({}).settings
    except ConfigurationError as error:
        raise ToolFailed(
            f"The settings are wrong ({error.sentences[0]}): `memsyncd config check` says what."
        ) from error


def _budget(around: Surroundings) -> int:
    try:
        return _settings(around).recall.max_context_chars
    except ToolFailed:
        return DEFAULT_BUDGET


class Chance:
    """The one search that an agent makes a session, where the user wants it so (facts 7.16). A client starts a server
    for each session, so that is the server's life. A search that failed uses it up no more than a recall does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_used = False

    @contextmanager
    def use(self, *, is_only: bool) -> Iterator[None]:
        """Search in the block. Raises ToolFailed where it is the `is_only` one and has been made."""
        with self._lock:
            was_used, self._is_used = self._is_used, True
        if was_used and is_only:
            raise ToolFailed(
                "The user allows one search a session (recall.once_per_session), and it has been made: go on with what"
                " it found."
            )
        try:
            yield
        except BaseException:
            with self._lock:
                self._is_used = was_used
            raise


def _search(around: Surroundings, chance: Chance, question: Question) -> Found:
    """Ask the daemon; without one, the embedded platform's file."""
    with chance.use(is_only=_settings(around).recall.once_per_session):
        return _found(around, question)


def _found(around: Surroundings, question: Question) -> Found:
    asked = {name: value for name, value in asdict(question).items() if value is not None and name != "project"}
    asked["cwd"] = question.project
    answer: Mapping[str, Any]
    try:
        answer = link.post(around, "/search", asked)
    except link.NotRunning as error:
        answer = _without_daemon(around, asked, str(error))
    except link.Unanswered as error:  # its words name the socket's path
        raise ToolFailed("The daemon is there and does not answer. `memsyncd status` tells the user more.") from error
    except (exits.Leave, link.Refused, link.NotFound) as error:
        raise ToolFailed(f"{error} `memsyncd status` tells the user more.") from error
    why = str(answer.get("why") or answer.get("error") or "")
    if not answer.get("succeeded"):
        raise ToolFailed(f"{why.rstrip('.')}. That does not mean that nothing is known; go on without it.")
    source = str(answer.get("source", ""))
    if source == LOCAL_INDEX:
        why = f"From what is known here of the platform. {why}"
    return Found([_memory(each) for each in answer.get("memories") or ()], source, why)


def _without_daemon(around: Surroundings, asked: Mapping[str, Any], down: str) -> Mapping[str, Any]:
    from daemon.searching import offline  # noqa: PLC0415  (only without a daemon, as the next)
    from daemon.searching.request import SearchRefused, parsed  # noqa: PLC0415

    settings = _settings(around)
    if settings.platform.kind != "local":
        raise ToolFailed(down)
    try:
        request = parsed(asked, top_k=settings.recall.top_k, scope=settings.recall.scope)
    except SearchRefused as error:
        raise ToolFailed(str(error)) from error
    return offline.answer(request, around.places(), settings, around.environ).document()


def _memory(document: Mapping[str, Any]) -> Memory:
    """Return a memory from CONTRACT's search shape; the daemon may be of another version."""
    texts = {name: str(document.get(name) or "") for name in ("id", "memory", "category", "created_at")}
    score, metadata = document.get("score"), document.get("metadata")
    return Memory(
        **texts,
        score=float(score) if isinstance(score, int | float) else None,
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _queue(around: Surroundings) -> QueueState:
    from daemon.status.offline import TIMERS  # noqa: PLC0415  (loads the queue's code, for this tool alone)

    try:
        document = status.current(around)
        answers = all(problem.get("code") not in NO_ANSWER for problem in document.get("problems") or ())
        failed, waiting = (
            job_access.find(around, state=state, kind="", limit=MOST_LOOKED_AT, ask=answers)
            for state in ("dead", "waiting")
        )
    except exits.Leave as error:
        raise ToolFailed(str(error)) from error
    told = [job for job in waiting if job.get("kind") not in TIMERS]
    return QueueState(document, told, failed, timers=len(waiting) - len(told))
