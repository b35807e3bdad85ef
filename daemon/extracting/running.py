"""The model while one is set up: made once by the composition root, and tied to the embedded platform and the queue."""

from collections.abc import Callable
from pathlib import Path

import structlog

from daemon.api_key.source import KeySource
from daemon.settings import Settings
from daemon.status.findings import Findings
from jobs.extract import extract
from jobs.extractions import Extractions
from jobs.left_to_model import EXTRACT, Extracting
from jobs.outcomes import Outcome
from jobs.queue.claims import JobContext
from jobs.queue.contract import JobQueue
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.extracting.budget import Budget, Limits
from memsyncd.extracting.client import ModelClient
from memsyncd.extracting.extractor import Extractor
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.transport import HttpSettings
from memsyncd.redaction import redact

UNUSED = "extractor-unused"
"""The problem's code while the model is there and no help."""

SHARE_OF_WAIT = 0.75
"""Of the time an extraction may take a batch waits for the model at most: the rest is for noticing that it is over."""

PARALLEL_CALLS = 2

log = structlog.get_logger()


class ModelExtraction:
    """Asks the model named in `settings.extractor`. `hold` says why nothing may be sent now, or None."""

    kind = EXTRACT

    def __init__(
        self,
        settings: Settings,
        *,
        platform: LocalPlatform,
        memory_file: Path,
        queue: JobQueue,
        extractions: Extractions,
        findings: Findings,
        hold: Callable[[], str | None],
        clock: Clock,
        counters: Counters,
    ) -> None:
        wanted, http = settings.extractor, settings.http
        self._queue = queue
        self._findings = findings
        self._key_source = KeySource(
            environment_key=wanted.api_key,
            environment_name="extractor.api_key",
            file=Path(wanted.api_key_file) if wanted.api_key_file else None,
        )
        self._fingerprint = self._key_source.fingerprint()
        self._client = ModelClient(
            wanted.url,
            wanted.model,
            self._key_source,
            HttpSettings(http.timeout_seconds, http.proxy, http.ca_file, parallel=PARALLEL_CALLS),
            clock,
            redact=redact,
        )
        limits = Limits(wanted.session_calls, wanted.session_tokens, wanted.day_calls, wanted.day_tokens)
        self._budget = Budget(memory_file, clock, limits)
        self.extracting = Extracting(
            platform=platform,
            queue=queue,
            extractions=extractions,
            extractor=Extractor(
                self._client,
                self._budget,
                clock,
                redact=redact,
                piece_tokens=wanted.input_tokens,
                call_seconds=wanted.timeout_seconds,
            ),
            clock=clock,
            counters=counters,
            wait_seconds=min(wanted.wait_seconds, SHARE_OF_WAIT * settings.flush.extraction_wait_seconds),
            hold=hold,
            report=self._report,
        )
        platform.on_accepted = self.extracting.accepted
        platform.is_left = self.extracting.is_left
        platform.outside_seconds = self.extracting.wait_seconds

    @property
    def destination(self) -> str:
        """The name under which the endpoint cools."""
        return self._client.destination

    def start(self) -> None:
        """Take up what waited when the last run ended."""
        self.extracting.resume()

    def run(self, context: JobContext) -> Outcome:
        """Make one batch's memories: the job's handler."""
        return extract(context, self.extracting)

    def look(self) -> None:
        """Take up a changed key: an endpoint that refused the old one is asked again at once."""
        fingerprint = self._key_source.fingerprint()
        if fingerprint == self._fingerprint:
            return
        self._fingerprint = fingerprint
        if any(each.parked for each in self._queue.destinations() if each.name == self.destination):
            self._queue.release(self.destination)
            log.info("extractor-key-changed")

    def drop_connections(self) -> None:
        """Use new connections from now on: the machine slept, or the network changed."""
        self._client.drop_connections()

    def cancel(self) -> None:
        """End the call in the air, for a stop within its deadline."""
        self._client.cancel()

    def close(self) -> None:
        """Release connections and the file."""
        self._client.close()
        self._budget.close()

    def _report(self, why: str) -> None:
        where = self.destination.removeprefix("extractor:")
        if not why:
            self._findings.clear(UNUSED, where)
        elif self._findings.report(UNUSED, where, why):
            log.info("extractor-unused", why=why)
