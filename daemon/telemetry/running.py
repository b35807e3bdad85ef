"""Telemetry while it is on: made once by the composition root, and only with the user's consent."""

import threading
import uuid
from pathlib import Path

import structlog

from daemon.api_key.source import KeySource
from daemon.gate import Gate
from daemon.intake.served import Served
from daemon.places import Places
from daemon.telemetry.consent import Consent, Standing, Target
from daemon.telemetry.recording import HARNESS, Recording
from daemon.telemetry.spooled import directories, discard
from jobs.outcomes import Ended, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.contract import JobQueue
from jobs.telemetry import TELEMETRY, Reporting, telemetry
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.platforms.platform import Platform, PlatformError
from memsyncd.platforms.transport import HttpSettings
from memsyncd.redaction import redact
from memsyncd.telemetry import identity as identities
from memsyncd.telemetry import salt as salts
from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.identity import Identity
from memsyncd.telemetry.lifecycle import Lifecycle
from memsyncd.telemetry.posthog import PostHog, Sender
from memsyncd.telemetry.recorder import Recorder
from memsyncd.version import __version__

SOURCE = "MEMSYNCD"
"""Who recorded an event (facts 12.8): existing plugins have tags of their own, such as CLAUDE_CODE_PLUGIN."""

ANSWER_SECONDS = 1.5
"""At a stop: for so long the answer to the request in the air is waited for, so that its events are not sent twice. It
is half of what running jobs get (daemon.app)."""

log = structlog.get_logger()


class Telemetry:
    """Records, sends and forgets. `lifecycle` was sampled before anything was written to the data directory.

    `run_under_way` is the number of the run that is under way, 0 where none is.
    """

    kind = TELEMETRY

    def __init__(
        self,
        target: Target,
        *,
        places: Places,
        http: HttpSettings,
        platform: Platform,
        key_source: KeySource,
        gate: Gate,
        served: Served,
        queue: JobQueue,
        clock: Clock,
        counters: Counters,
        lifecycle: Lifecycle | None = None,
    ) -> None:
        self._target = target
        self._runs = self.run_under_way = 0
        self._last_call = threading.Timer(ANSWER_SECONDS, self._end_call)
        self.interval_seconds = target.interval_seconds
        self._data = places.data
        self._platform = platform
        self._key_source = key_source
        self._gate = gate
        self._served = served
        self._clock = clock
        self._consent = Consent(places.config_file)
        self._salt = salts.Salt(places.data / salts.NAME)
        self._identity = Identity(places.data / identities.NAME, lambda: uuid.uuid4().hex, clock)
        self._lifecycle = lifecycle or Lifecycle(places.data, __version__)
        self.endpoint = PostHog(target.endpoint, target.api_key, http, clock)
        self._drain = Drain(clock=clock, counters=counters, kept_seconds=target.kept_seconds)
        self._reporting = Reporting(
            self.endpoint,
            self._drain,
            spools=lambda: directories(self._data, served.spools()),
            sender=self._sender,
            interval_seconds=self.interval_seconds,
            hold=self._held,
        )
        self.recording = Recording(
            places.data,
            new_recorder=self._new_recorder,
            spool=served.spool,
            store=served.store,
            queue=queue,
            clock=clock,
        )

    def started(self) -> None:
        """Tell of the start, and once of an installation or upgrade."""
        self.recording.started(self._lifecycle, {"platform": self._platform.kind})

    def run(self, context: JobContext) -> Outcome:
        """Send what is spooled, if nothing has come between since the start: the job's handler."""
        self._runs += 1
        self.run_under_way = self._runs
        try:
            return telemetry(context, self._reporting)
        finally:
            if self.is_refused:
                self._discard()
            self.run_under_way = 0

    def look(self) -> None:
        """Hear a no in the settings file, also while nothing could be sent anyway: what is spooled goes."""
        self._held()
        if self.is_refused and not self.run_under_way:
            self._discard()

    @property
    def is_refused(self) -> bool:
        """Whether it was switched off since the start."""
        return self.recording.is_refused

    def cancel(self) -> None:
        """End the call in the air unless its answer comes within ANSWER_SECONDS, for a stop within its deadline. The
        caller sees to it that no run begins after this one."""
        if self.run_under_way:
            self._last_call.name, self._last_call.daemon = "telemetry-last-call", True
            self._last_call.start()
        else:
            self.endpoint.cancel()

    def close(self) -> None:
        """Give back what is held, and release connections."""
        self._last_call.cancel()
        self._drain.close()
        self.endpoint.close()

    def _end_call(self) -> None:
        self.endpoint.cancel()

    def _discard(self) -> None:
        discard(directories(self._data, (spool for spool in self._served.spools() if spool.own)))

    def _held(self) -> str | None:
        """Return why nothing may be sent now, or None. After a no nothing is recorded any more either."""
        standing = self._consent.standing()
        if standing is Standing.REFUSED and not self.is_refused:
            self.recording.is_refused = True
            log.info("telemetry-off")
        if self.is_refused:
            return "switched off in the settings file"
        if standing is Standing.CHANGED:
            return "its settings were changed: they count from the next start"
        return "paused" if self._gate.is_paused else None

    def _sender(self) -> Sender:
        """Return as whom events go; raise Ended where the id cannot be kept, for it would be another each time."""
        key = self._key_source.current() if self._target.account else ""
        try:
            state, alias = self._identity.settle(key, self._resolve if key else None)
        except OSError as error:
            why = f"its id cannot be kept: {error.strerror or type(error).__name__}"
            raise Ended(Snooze(self.interval_seconds, why)) from error
        if alias is not None:
            self._new_recorder(self._data, HARNESS).record_alias(alias.anonymous_id, alias.email)
        return Sender(state.distinct_id, is_account=bool(state.email))

    def _resolve(self) -> str | None:
        """Ask the platform whose the key is: the e-mail, an empty text for nobody, None for no answer."""
        try:
            return self._platform.ping().email
        except PlatformError:
            return None

    def _new_recorder(self, directory: Path, harness: str) -> Recorder:
        return Recorder(
            directory,
            harness=harness,
            source=SOURCE,
            salt=self._salt,
            redact=redact,
            clock=self._clock,
            new_uuid=lambda: str(uuid.uuid4()),
        )
