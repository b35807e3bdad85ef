"""Telemetry as a status tells it, the same whether the daemon runs or not: the files are the truth."""

from collections.abc import Iterable
from pathlib import Path

from daemon.intake.spool import Spool
from daemon.settings import Settings
from daemon.settings.keys import KEYS
from daemon.status.parts import TelemetryPart
from daemon.telemetry.consent import target
from daemon.telemetry.spooled import counted, directories


def telemetry_part(settings: Settings, data: Path, spools: Iterable[Spool]) -> TelemetryPart:
    """Return what a status says; while telemetry is off nothing is looked at."""
    wanted = target(settings)
    if wanted is None:
        return TelemetryPart(enabled=False)
    found = counted(directories(data, spools))
    return TelemetryPart(
        enabled=True,
        endpoint=str(KEYS["telemetry.endpoint"].shown(wanted.endpoint)),
        spooled=found.events,
        parked=found.parked,
        dropped=found.dropped,
        interval_seconds=wanted.interval_seconds,
        account=wanted.account,
        set_aside=found.aside,
    )
