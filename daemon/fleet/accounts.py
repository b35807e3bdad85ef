"""The accounts a worker delivers for: the daemon's own key, and a file with a key for each further account."""

import stat
import threading
from collections.abc import Callable
from pathlib import Path

from daemon.api_key.source import KeySource
from jobs.fleet.deliver import Account
from jobs.fleet.verdicts import Verdicts
from memsyncd.clock import Clock
from memsyncd.platforms.platform import Platform

LONGEST_NAME = 100


class Accounts:
    """Safe from any thread. `own` is the account of the daemon's own key and platform; the keys of others lie in
    `directory`, each in a file of its account's name. `reached` makes a platform that is asked with another key."""

    def __init__(
        self,
        own: str,
        *,
        key_source: KeySource,
        platform: Platform,
        directory: Path | None,
        reached: Callable[[KeySource], Platform],
        clock: Clock,
    ) -> None:
        self._directory = directory
        self._reached = reached
        self._clock = clock
        self._lock = threading.Lock()
        self._keys = {own: key_source}
        self._known = {own: Account(platform, Verdicts(platform, clock))}
        self._own = own

    def account(self, name: str) -> Account | None:
        """Return an account's platform; None where there is no key of it here."""
        with self._lock:
            known = self._known.get(name)
            if known is None and (path := self._file(name)) is not None:
                key_source = KeySource(file=path, clock=self._clock)
                platform = self._reached(key_source)
                self._keys[name] = key_source
                known = self._known[name] = Account(platform, Verdicts(platform, self._clock))
            return known

    def fingerprints(self) -> dict[str, str]:
        """Return, for each account in use, what tells one key of it from another."""
        with self._lock:
            return {name: source.fingerprint() for name, source in self._keys.items()}

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

    def _file(self, name: str) -> Path | None:
        """Return an account's key file; a name that is a path is none."""
        if self._directory is None or not name or len(name) > LONGEST_NAME or "/" in name or name.startswith("."):
            return None
        path = self._directory / name
        try:
            return path if stat.S_ISREG(path.stat().st_mode) else None
        except (OSError, ValueError):
            return None
