"""Takes up a changed key: what its refusal has held is let go at once, and a missing key is shown."""

import structlog

from daemon.api_key.source import KeySource
from daemon.status.findings import Findings
from jobs.queue.contract import JobQueue
from memsyncd.platforms.platform import Platform

REFUSED = "key-refused"
"""The code of a destination that a refused key has parked (CONTRACT: Attempts)."""

log = structlog.get_logger()


class KeyWatch:
    """Asked on every tick, on one thread. The command that gives the key is run again only while its key is refused."""

    def __init__(self, key_source: KeySource, queue: JobQueue, platform: Platform, findings: Findings) -> None:
        self._key_source = key_source
        self._queue = queue
        self._platform = platform
        self._findings = findings
        self._fingerprint: str | None = None  # not looked at yet: a command may take long

    def release_refused(self) -> None:
        """At start: what was refused under an earlier run may be in order now, and one probe tells."""
        for destination in self._queue.destinations():
            if destination.parked and destination.code == REFUSED:
                self._queue.release(destination.name)

    def look(self) -> None:
        """Let the platform's jobs go where the key is another than before, or is back after it was gone."""
        if self._is_refused():
            self._key_source.doubt()
        fingerprint = self._key_source.fingerprint()
        if fingerprint and self._fingerprint not in (None, fingerprint):
            self._queue.release(self._platform.destination)
            log.info("key-changed")
        self._fingerprint = fingerprint
        told = " ".join(self._key_source.problems()) if self._platform.kind != "local" else ""
        for code, holds in (("key-missing", not fingerprint), ("key-exposed", bool(fingerprint))):
            if told and holds:
                self._findings.report(code, detail=told)
            else:
                self._findings.clear(code)

    def _is_refused(self) -> bool:
        return any(
            each.name == self._platform.destination and each.parked and each.code == REFUSED
            for each in self._queue.destinations()
        )
