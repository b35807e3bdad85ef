"""Telemetry at a start: switched off, nothing is left of it; switched on, its job stands.

What is needed only while it is on is loaded only then.
"""

from typing import TYPE_CHECKING

from daemon.compose import Parts
from daemon.places import Places
from daemon.settings import Settings
from daemon.telemetry.consent import target
from daemon.telemetry.spooled import directories, discard
from memsyncd.version import __version__

if TYPE_CHECKING:
    from memsyncd.telemetry.lifecycle import Lifecycle

KIND = "telemetry"
"""The kind of its one job (jobs.telemetry)."""


def sampled(places: Places, settings: Settings) -> "Lifecycle | None":
    """Look, before anything is written, whether this is an installation; None while telemetry is off."""
    if target(settings) is None:
        return None
    from memsyncd.telemetry.lifecycle import Lifecycle  # noqa: PLC0415  (as above)

    lifecycle = Lifecycle(places.data, __version__)
    lifecycle.sample()
    return lifecycle


def run_under_way(parts: Parts) -> int:
    """Return the number of telemetry's run that is under way, 0 where none is. While it is, its job is claimed."""
    return parts.telemetry.run_under_way if parts.telemetry is not None else 0


def look(parts: Parts) -> None:
    """Hear, while telemetry is on, whether it was switched off: then it has no job either."""
    if parts.telemetry is None:
        return
    parts.telemetry.look()
    if parts.telemetry.is_refused:
        from jobs.telemetry import stand  # noqa: PLC0415  (loaded where telemetry is on)

        stand(parts.queue, None)


def at_start(parts: Parts) -> None:
    """Have the job of the present endpoint and no other; while telemetry is off, none, and discard what is spooled in
    our own directories (never-again 78)."""
    queue, telemetry = parts.queue, parts.telemetry
    if telemetry is None:
        own = (spool for spool in parts.served.spools() if spool.own)
        if discarded := discard(directories(parts.places.data, own)):
            parts.counters.add("telemetry_files_discarded", discarded)
    if telemetry is not None or queue.jobs(kind=KIND, limit=1):
        from jobs.telemetry import stand  # noqa: PLC0415  (as above)

        stand(queue, telemetry.endpoint.destination if telemetry else None)
    if telemetry is not None:
        queue.hasten(telemetry.endpoint.destination, telemetry.interval_seconds)  # a shorter one counts at once
        telemetry.started()
