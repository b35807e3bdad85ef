"""What the keys of the live screen do: pause and resume, flush, retry what was given up; one at a time, beside it."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from daemon.cli import exits, flush, job_access, link, pause, resume
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import counted

MESSAGE_SECONDS = 8.0
"""How long what a key has brought stays on the screen."""

QUIT, PAUSE, FLUSH, RETRY, YES = "q", "p", "f", "r", "y"


class Deeds:
    """`message` is what the last key brought, `is_asking` whether a yes is waited for. Keys come from one thread."""

    def __init__(self, around: Surroundings, monotonic: Callable[[], float], on_end: Callable[[], None]) -> None:
        self._around = around
        self._monotonic = monotonic
        self._on_end = on_end
        self._thread: threading.Thread | None = None
        self._message = ""
        self._until = float("inf")
        self.is_asking = False

    @property
    def message(self) -> str:
        """What the last key has brought, for a while."""
        return self._message if self._monotonic() < self._until else ""

    def press(self, key: str, document: Mapping[str, Any]) -> bool:
        """Do what a key is for; False where it ends the screen."""
        key = key.lower()
        if self.is_asking:
            self.is_asking = False
            self._say("")
            if key == YES:
                self._begin("Being tried again …", self._retry)
            return True
        if key == QUIT:
            return False
        if self._thread is not None and self._thread.is_alive():
            return True
        if key == PAUSE and document:
            self._begin("", self._resume if document.get("paused") else self._pause)
        elif key == FLUSH:
            self._begin("Asking for a flush …", self._flush)
        elif key == RETRY:
            self._ask(document)
        return True

    def _ask(self, document: Mapping[str, Any]) -> None:
        told = [each["message"] for each in document.get("problems") or () if each.get("code") == "dead-letters"]
        if told:
            self.is_asking = True
            self._say(f"{' '.join(told)} Have all of it tried again? (y/n)", float("inf"))
        else:
            self._say("Nothing was given up.")

    def _begin(self, meanwhile: str, deed: Callable[[], str]) -> None:
        self._say(meanwhile, float("inf"))
        self._thread = threading.Thread(target=self._do, args=(deed,), name="watch-deed", daemon=True)
        self._thread.start()

    def _do(self, deed: Callable[[], str]) -> None:
        try:
            told = deed()
        except (exits.Leave, link.NotFound, link.Refused, OSError) as error:
            told = str(error)
        self._say(told)
        self._on_end()

    def _say(self, message: str, seconds: float = MESSAGE_SECONDS) -> None:
        self._message, self._until = message, self._monotonic() + seconds

    def _pause(self) -> str:
        return pause.sentence(pause.begin(self._around), self._around.wall())

    def _resume(self) -> str:
        return resume.sentence(resume.end(self._around))

    def _flush(self) -> str:
        return flush.sentence(link.post(self._around, "/flush", {"wait": False}))

    def _retry(self) -> str:
        found = job_access.find(self._around, state="dead", kind="", limit=job_access.ALL)
        results = job_access.change(self._around, "retry", [str(job["id"]) for job in found])
        refused = [why for why in results.values() if why]
        told = f"{counted(len(results) - len(refused), 'job', 'jobs')} ready again."
        return f"{told} {counted(len(refused), 'was', 'were')} refused: {refused[0]}." if refused else told
