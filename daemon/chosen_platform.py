"""The platform that the settings choose, and under whose name memories are there: for the daemon and for commands."""

import os
import pwd
from collections.abc import Mapping

from daemon.api_key.source import KeySource
from daemon.configuration_error import ConfigurationError
from daemon.places import Places
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.local.schema import NewerSchema
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.mem0_server import Mem0ServerPlatform
from memsyncd.platforms.platform import Platform
from memsyncd.platforms.transport import PARALLEL_CALLS, HttpSettings
from memsyncd.redaction import redact
from memsyncd.scope.user import user_id

SEARCHES_BESIDE = 2
"""Calls for what people and agents ask, beside one of each worker: a full house must not look like an outage."""


def platform_of(places: Places, settings: Settings, key_source: KeySource, clock: Clock) -> Platform:
    """Return the platform of the settings. Raises ConfigurationError."""
    if settings.platform.kind == "local":
        try:
            return LocalPlatform(places.memory_file, clock)
        except NewerSchema as error:
            raise ConfigurationError(f"{error}.") from error
    http = HttpSettings(
        settings.http.timeout_seconds,
        settings.http.proxy,
        settings.http.ca_file,
        parallel=max(PARALLEL_CALLS, settings.queue.workers + SEARCHES_BESIDE),
    )
    url, flushing = settings.platform.url, settings.flush
    if settings.platform.kind == "mem0":
        return Mem0Platform(url, key_source, http, clock, poll_seconds=flushing.event_poll_seconds, redact=redact)
    return Mem0ServerPlatform(
        url, key_source, http, clock, extraction_seconds=flushing.extraction_wait_seconds, redact=redact
    )


def whose_memories(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the user id under which memories are kept and asked for."""
    return user_id(environ, settings.platform.user_id, account=_account)


def _account() -> str:
    return pwd.getpwuid(os.getuid()).pw_name
