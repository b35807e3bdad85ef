"""What the page shows and does: asked of the daemon at its socket; while none runs, read from the files.

The daemon's databases are never opened while it is up, and nothing is changed while it is down.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from daemon.cli import exits, job_access, link, status
from daemon.cli.surroundings import Surroundings
from daemon.configuration_error import ConfigurationError
from daemon.status.dead_handoffs import PREFIX

JOBS = 500
SESSIONS = 200
FORGETTING_SECONDS = 3_600.0
"""A platform may have thousands of memories, deleted one by one."""


class NotDone(Exception):
    """`sentence` says why; `status` is the HTTP status to say it with."""

    def __init__(self, sentence: str, status: int = 409) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


class Asking:
    """Every method may block and is called from threads. Raises NotDone. `here` is where the command was started."""

    def __init__(self, around: Surroundings, here: str) -> None:
        self._around = around
        self._here = here

    def overview(self) -> Mapping[str, Any]:
        """Return the status, and where the page's command was started."""
        return {"status": status.current(self._around), "here": self._here, "home": str(self._around.home)}

    def sessions(self) -> Mapping[str, Any]:
        """Return the newest sessions."""
        return self._live_or(lambda: link.get(self._around, f"/sessions?limit={SESSIONS}"), self._sessions_of_files)

    def history(self, minutes: int) -> Mapping[str, Any]:
        """Return the samples of the last minutes."""
        return self._live_or(
            lambda: link.get(self._around, f"/history?minutes={minutes}"), lambda: self._history_of_file(minutes)
        )

    def jobs(self, state: str) -> Mapping[str, Any]:
        """Return jobs and dead handoffs, of one state or all."""
        try:
            return {"jobs": job_access.find(self._around, state=state, kind="", limit=JOBS), "limit": JOBS}
        except (exits.Leave, link.Refused, link.NotFound) as error:
            raise NotDone(str(error)) from error

    def namespaces(self) -> Mapping[str, Any]:
        """Return the namespaces that have notes."""
        return self._live(lambda: link.get(self._around, "/notes"))

    def search(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return memories for a question."""
        return self._live_or(
            lambda: link.post(self._around, "/search", dict(asked)), lambda: self._search_of_file(asked)
        )

    def forget(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Forget a memory or a session; without `yes` tell what would go."""
        return self._live(lambda: link.post_and_wait(self._around, "/forget", dict(asked), seconds=FORGETTING_SECONDS))

    def pin(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a text as a note."""
        return self._live(lambda: link.post(self._around, "/notes", dict(asked)))

    def change(self, verb: str, job_id: str) -> Mapping[str, Any]:
        """`retry` or `discard` a job or a dead handoff."""
        if job_id.startswith(PREFIX):
            self._live(lambda: link.get(self._around, "/status"))
            refused = job_access.change(self._around, verb, [job_id])[job_id]
            if refused:
                raise NotDone(f"That cannot be done: {refused}.")
            return {"outcome": "done"}
        return self._live(lambda: link.post(self._around, f"/jobs/{quote(job_id, safe='')}/{verb}", {}))

    def _live(self, ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        try:
            return ask()
        except link.NotRunning as error:
            raise NotDone(str(error), 503) from error
        except (exits.Leave, link.Refused, link.NotFound) as error:
            raise NotDone(str(error)) from error

    def _live_or(
        self, ask: Callable[[], Mapping[str, Any]], from_files: Callable[[], Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        try:
            return ask()
        except link.NotRunning:
            return from_files()
        except (exits.Leave, link.Refused, link.NotFound) as error:
            raise NotDone(str(error)) from error

    def _sessions_of_files(self) -> Mapping[str, Any]:
        from daemon.status.offline import settings_or_default, spools_to_serve  # noqa: PLC0415  (only without a daemon)
        from daemon.status.session_document import from_file, sessions_document  # noqa: PLC0415

        places = self._around.places()
        spools = spools_to_serve(places, settings_or_default(places, self._around.environ, []))
        return sessions_document(spools, SESSIONS, from_file)

    def _history_of_file(self, minutes: int) -> Mapping[str, Any]:
        from daemon.status import history  # noqa: PLC0415  (only without a daemon)

        now = self._around.wall()
        samples = history.from_file(self._around.places().data / history.NAME, minutes, now)
        return history.history_document(samples, now)

    def _search_of_file(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from daemon.searching import offline  # noqa: PLC0415  (only without a daemon)
        from daemon.searching.request import SearchRefused, parsed  # noqa: PLC0415

        try:
            settings = self._around.load({}).settings
            if settings.platform.kind != "local":
                raise NotDone("The daemon is not running, and only it can ask the platform.", 503)
            request = parsed(asked, top_k=settings.recall.top_k, scope=settings.recall.scope)
        except (ConfigurationError, SearchRefused) as error:
            raise NotDone(str(error)) from error
        return offline.answer(request, self._around.places(), settings, self._around.environ).document()
