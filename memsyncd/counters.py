"""Counters: every bound has one, so that nothing is dropped in silence."""

import threading
from collections import Counter


class Counters:
    """Named whole numbers that only rise, safe from any thread. Names are `snake_case`, as `status` shows them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: Counter[str] = Counter()

    def add(self, name: str, amount: int = 1) -> None:
        """Raise `name` by `amount`."""
        with self._lock:
            self._values[name] += amount

    def snapshot(self) -> dict[str, int]:
        """Return a copy, sorted by name."""
        with self._lock:
            return dict(sorted(self._values.items()))
