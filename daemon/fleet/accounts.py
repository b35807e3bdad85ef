"""The accounts a worker delivers for: the daemon's own key, and a file with a key for each further account."""

import os
import stat
import threading
from collections.abc import Callable, Collection
from pathlib import Path

from daemon.api_key.source import KeySource
from jobs.fleet.deliver import Account
from jobs.fleet.verdicts import Verdicts
from jobs.queue.shared_queue import Serves
from memsyncd.clock import Clock
from memsyncd.platforms.platform import Platform

LONGEST_NAME = 100


class Accounts:
    """Safe from any thread. `own` is the account of the daemon's own key and platform, which may be one that
    `needs_no_key`; the keys of others lie in `directory`, each in a file of its account's name. `reached` makes a
    platform that is asked with another key. `serves` is what can be delivered here, as the last `look` found it."""

    def __init__(
        self,
        own: str,
        *,
        key_source: KeySource,
        platform: Platform,
        needs_no_key: bool,
        directory: Path | None,
        reached: Callable[[KeySource], Platform],
        clock: Clock,
    ) -> None:
        self._needs_no_key = needs_no_key
        self._directory = directory
        self._reached = reached
        self._clock = clock
        self._lock = threading.Lock()
        self._keys = {own: key_source}
        self._known = {own: Account(platform, Verdicts(platform, clock))}
        self._own = own
        self.serves = Serves(frozenset(), platform.destination)

    def look(self) -> bool:
        """Look whose keys are here now; tell whether others are than before. A command that gives the own one may take
        its time."""
        with self._lock:
            for name in self._names():
                self._keys.setdefault(name, KeySource(file=self._file(name), clock=self._clock))
            sources = list(self._keys.items())
        names = {name for name, source in sources if source.current() or (name == self._own and self._needs_no_key)}
        before, self.serves = self.serves, Serves(frozenset(names), self.serves.destination)
        return self.serves != before

    def account(self, name: str) -> Account | None:
        """Return an account's platform; None where there is no key of it here."""
        with self._lock:
            known = self._known.get(name)
            if known is None and (path := self._file(name)) is not None:
                key_source = self._keys.setdefault(name, KeySource(file=path, clock=self._clock))
                platform = self._reached(key_source)
                known = self._known[name] = Account(platform, Verdicts(platform, self._clock))
            return known

    def fingerprints(self) -> dict[str, str]:
        """Return, for each account that has or had a key here, what tells one key of it from another."""
        with self._lock:
            return {name: source.fingerprint() for name, source in self._keys.items()}

    def doubt(self, names: Collection[str]) -> None:
        """Have the commands that gave accounts' keys run again at the next look: they are refused."""
        with self._lock:
            sources = [source for name, source in self._keys.items() if name in names]
        for source in sources:
            source.doubt()

    def drop_connections(self) -> None:
        """Let every call begin on a new connection: the machine slept, or the network changed."""
        for platform in self._further():
            platform.drop_connections()

    def cancel(self) -> None:
        """End every call in the air now, but those of the daemon's own platform."""
        for platform in self._further():
            platform.cancel()

    def close(self) -> None:
        """Release every connection, but those of the daemon's own platform."""
        for platform in self._further():
            platform.close()

    def _further(self) -> list[Platform]:
        with self._lock:
            return [each.platform for name, each in self._known.items() if name != self._own]

    def _names(self) -> list[str]:
        """Return the further accounts that have a key file."""
        try:
            found = os.listdir(self._directory) if self._directory else []
        except OSError:
            return []
        return [name for name in found if self._file(name)]

    def _file(self, name: str) -> Path | None:
        """Return an account's key file; a name that is a path is none."""
        if self._directory is None or not name or len(name) > LONGEST_NAME or "/" in name or name.startswith("."):
            return None
        path = self._directory / name
        try:
            return path if stat.S_ISREG(path.stat().st_mode) else None
        except (OSError, ValueError):
            return None
