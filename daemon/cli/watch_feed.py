"""What a live screen shows, asked for once a second in a thread of its own: a daemon that hangs stops no key."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from daemon.cli import link
from daemon.cli.loads import MINUTES, Sample, by_minute, last_hour, under_way
from daemon.cli.status import from_files
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import MINUTE

EVERY_SECONDS = 1.0

FILES_SECONDS = 5.0
"""How often the files are looked at while no daemon answers: that copies databases."""

HISTORY_SECONDS = 5.0
"""How often the newest minutes are asked for: the daemon keeps one within 5 s of its end."""

FAILURES = (link.NotRunning, link.Unanswered, link.NotFound, link.Refused)


@dataclass(frozen=True, slots=True)
class Look:
    """What was found, and when (Unix seconds): the status, and the last hour, a sample a minute, None where there was
    no daemon."""

    document: Mapping[str, Any]
    hour: Sequence[Sample | None]
    at: float


@dataclass(slots=True)
class Looker:
    """Looks, and remembers what need not be asked for at every look."""

    around: Surroundings
    _files: Mapping[str, Any] = field(default_factory=dict)
    _files_at: float = float("-inf")
    _known: dict[int, Sample] = field(default_factory=dict)
    _known_at: float = float("-inf")
    _run: object = None
    _minute: int = 0
    _before: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> Mapping[str, Any]:
        """Return the daemon's status; where it does not answer, every few seconds anew what the files tell."""
        try:
            document = link.get(self.around, "/status")
        except FAILURES as error:
            now = self.around.wall()
            if not 0 <= now - self._files_at < FILES_SECONDS:
                why = "" if isinstance(error, link.NotRunning) else str(error)
                self._files, self._files_at = from_files(self.around, why), now
            return self._files
        self._files_at = float("-inf")
        return document

    def forget(self) -> None:
        """Look at the files anew with the next look: somebody has just changed them."""
        self._files_at = float("-inf")

    def look(self) -> Look:
        """Return the status, and the hour before it."""
        document, now = self.document(), self.around.wall()
        minute, run = int(now // MINUTE), document.get("run_id")
        if run != self._run:
            self._known_at = float("-inf")
        if not 0 <= now - self._known_at < HISTORY_SECONDS:
            self._known |= by_minute(self._samples(document, now))
            self._known_at = now
        counters = document.get("counters") or {}
        if run != self._run or minute != self._minute:
            self._run, self._minute, self._before = run, minute, counters
        self._known = {each: sample for each, sample in self._known.items() if minute - MINUTES < each <= minute}
        self._known[minute] = under_way(document, self._before)
        return Look(document, last_hour(self._known, now), now)

    def _samples(self, document: Mapping[str, Any], now: float) -> Sequence[Sample]:
        """Ask for the hour first and then for what is new; while the daemon is down its file has what it left."""
        minutes = MINUTES if self._known_at == float("-inf") else 3
        if document.get("state") != "down":
            try:
                return list(link.get(self.around, f"/history?minutes={minutes}").get("samples") or ())
            except FAILURES:  # an older daemon has none; one that hangs is told of by its status
                return ()
        from daemon.status import history  # noqa: PLC0415  (only without a daemon)

        kept = history.from_file(self.around.places().data / history.NAME, minutes, now)
        return list(history.history_document(kept, now)["samples"])


class Feed:
    """The thread that looks. `latest` is None before the first look; `failure` is what ended it, if anything did."""

    def __init__(self, looker: Looker, on_look: Callable[[], None]) -> None:
        self._looker = looker
        self._on_look = on_look
        self._again = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="watch-feed", daemon=True)
        self.latest: Look | None = None
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def hasten(self) -> None:
        """Look at once, and at all of it."""
        self._looker.forget()
        self._again.set()

    def stop(self) -> None:
        """Begin no further look; one that waits for an answer is left behind."""
        self._stopping = True
        self._again.set()

    def _run(self) -> None:
        try:
            while not self._stopping:
                self.latest = self._looker.look()
                self._on_look()
                self._again.wait(EVERY_SECONDS)
                self._again.clear()
        except BaseException as error:  # noqa: BLE001  (whoever draws raises it again, in the main thread)
            self.failure = error
            self._on_look()
