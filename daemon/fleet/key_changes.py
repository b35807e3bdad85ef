"""Lets go what a refused key has held in the shared queue, once the account's key is another."""

from typing import TYPE_CHECKING

import structlog

from daemon.fleet.accounts import Accounts
from daemon.key_watch import REFUSED

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

log = structlog.get_logger()


class KeyChanges:
    """Asked again and again, by one thread."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._fingerprints: dict[str, str] = {}

    def look(self, queue: "PostgresQueue") -> None:
        """Let an account's batches go where its key is another than before. One that is new here, as all are at a
        start, may be right where the one before was refused: a probe tells. Raises QueueError."""
        destination = self._accounts.serves.destination
        refused = {
            each.account
            for each in queue.destinations()
            if each.name == destination and each.parked and each.code == REFUSED
        }
        self._accounts.doubt(refused)
        for name, fingerprint in self._accounts.fingerprints().items():
            before = self._fingerprints.get(name)
            is_other = name in refused if before is None else fingerprint != before
            if fingerprint and is_other:
                queue.release(destination, name)
                log.info("key-changed", account=name)
            self._fingerprints[name] = fingerprint
