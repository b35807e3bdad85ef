"""Asking for extraction events one by one where few are open, and by the listing where many are.

The state of an extraction lies with its job in the shared queue, so any worker may ask. What a listing showed holds for
a moment, in which one request answers for a hundred jobs.
"""

import itertools
import threading
from collections.abc import Callable

from memsyncd.clock import Clock
from memsyncd.platforms.platform import Extraction, Platform, Rejected

FEW = 8
"""So many questions in a listing's time are asked one by one (measured.md, Polling)."""

LISTING_SECONDS = 1.0
"""How long what a listing showed is believed: an extraction takes many times that."""

LISTING_PAGES = 5


class Verdicts:
    """Of one platform. Safe from any thread. Raises PlatformError, as the platform's own questions do."""

    def __init__(self, platform: Platform, clock: Clock) -> None:
        self._platform = platform
        self._monotonic: Callable[[], float] = clock.monotonic
        self._lock = threading.Lock()
        self._asked: list[float] = []
        self._listed_at = float("-inf")
        self._listed: dict[str, Extraction] = {}

    def ask(self, event_id: str) -> Extraction:
        """Return where an extraction stands."""
        with self._lock:  # one listing at a time: who waits for it is answered by it
            if self._is_busy():
                self._list()
            known = self._listed.get(event_id)
        return known or self._platform.extraction(event_id)

    def _is_busy(self) -> bool:
        """Note a question; whether there are many, and no listing is fresh."""
        now = self._monotonic()
        if now - self._listed_at >= LISTING_SECONDS:
            self._listed.clear()
        self._asked = [*(moment for moment in self._asked if now - moment < LISTING_SECONDS), now]
        return len(self._asked) > FEW and now - self._listed_at >= LISTING_SECONDS

    def _list(self) -> None:
        self._listed_at = self._monotonic()
        try:
            for page in itertools.islice(self._platform.extractions(), LISTING_PAGES):
                self._listed.update((each.event_id, each) for each in page)
        except Rejected:
            pass  # a server without a listing: each is asked by itself
