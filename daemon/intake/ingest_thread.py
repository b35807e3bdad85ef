"""The thread that owns the spools: it scans when hinted, every 15 s, and looks after what no hint tells."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from daemon.intake.ingest import Ingest

SCAN_SECONDS = 15.0
"""A watcher's event is a hint; this scan is the truth (issue item 3)."""

BEAT_SECONDS = 60.0
"""How often held claims are touched; a plugin takes one untouched for 300 s (facts 1.12)."""


@dataclass
class IngestThread:
    """Runs `ingest`. `maintain` is called before the first scan and then with every timed one; `scanned` is set after
    the first whole scan. An exception ends the thread; `failure` tells it, and the daemon stops with it."""

    ingest: Ingest
    maintain: Callable[[], None]
    has_new_spools: Callable[[], bool]
    refresh: Callable[[], None]
    hinted: threading.Event = field(default_factory=threading.Event)
    scanned: threading.Event = field(default_factory=threading.Event)
    failure: BaseException | None = None
    last_scan_at: float = 0.0

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._scan_finished = threading.Condition()
        self._scans = 0
        self.thread = threading.Thread(target=self._run, name="ingest", daemon=True)

    def start(self) -> None:
        """Begin to scan."""
        self.thread.start()

    def hint(self) -> None:
        """Say that something may wait."""
        self.hinted.set()

    def scan_now(self, timeout_seconds: float) -> bool:
        """Ask for a whole scan that begins after this call, and wait for its end; False where it took too long."""
        with self._scan_finished:
            wanted = self._scans + 2  # one may be under way that began before
            self.hint()
            return self._scan_finished.wait_for(self._reached(wanted), timeout_seconds)

    def stop(self, timeout_seconds: float) -> bool:
        """End after the batch in hand; False where the thread did not end in time."""
        self._stopping.set()
        self.hint()
        self.thread.join(timeout_seconds)
        return not self.thread.is_alive()

    def _reached(self, wanted: int) -> Callable[[], bool]:
        def reached() -> bool:
            if self._scans < wanted:
                self.hint()
            return self._scans >= wanted or not self.thread.is_alive()

        return reached

    def _run(self) -> None:
        try:
            self._loop()
        except BaseException as error:  # noqa: BLE001  (told by the daemon's last line)
            self.failure = error

    def _loop(self) -> None:
        clock = self.ingest.clock
        maintained = beaten = float("-inf")
        while not self._stopping.is_set():
            self.hinted.clear()
            now = clock.monotonic()
            if now - maintained >= SCAN_SECONDS:
                self.maintain()
                maintained = now
            elif self.has_new_spools():
                self.refresh()
            if now - beaten >= BEAT_SECONDS:
                self.ingest.requests.beat()
                beaten = now
            self.ingest.scan(stopping=self._stopping.is_set)
            self.last_scan_at = clock.monotonic()
            self.scanned.set()
            with self._scan_finished:
                self._scans += 1
                self._scan_finished.notify_all()
            if self.has_new_spools():  # the scan may have made one (rehoming)
                continue
            self.hinted.wait(self._pause(maintained))

    def _pause(self, maintained: float) -> float:
        left = maintained + SCAN_SECONDS - self.ingest.clock.monotonic()
        looks = (self.ingest.grace.next_look_seconds(), self.ingest.transcripts.waits.next_look_seconds())
        return max(0.0, min(left, *(SCAN_SECONDS if look is None else look + 0.05 for look in looks)))
