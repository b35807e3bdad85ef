"""The one place that decides whether telemetry is on: nothing of it is made, read or asked for without a target.

All the documented places meet in `telemetry.enabled` (file, MEMSYNCD_TELEMETRY_ENABLED, MEM0_TELEMETRY, DO_NOT_TRACK;
daemon.settings.load), and what is enabled without an endpoint or a key is off all the same.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from daemon.configuration_error import ConfigurationError
from daemon.settings import Settings
from daemon.settings.toml_file import read

DAY_SECONDS = 86400.0

_SECTION = ("telemetry.enabled", "telemetry.endpoint", "telemetry.api_key", "telemetry.account")


@dataclass(frozen=True, slots=True)
class Target:
    """Where telemetry goes. `account` allows the account's e-mail, which only the hosted platform can tell;
    `kept_seconds` is for how long what cannot be sent stays, infinity for ever."""

    endpoint: str
    api_key: str = field(repr=False)
    interval_seconds: float = 300.0
    account: bool = False
    kept_seconds: float = 7 * DAY_SECONDS


def target(settings: Settings) -> Target | None:
    """Return where telemetry goes; None while it is off, for whatever reason."""
    telemetry = settings.telemetry
    if why_off(settings):
        return None
    return Target(
        endpoint=telemetry.endpoint.rstrip("/").removesuffix("/batch"),  # the route, as its documentation has it
        api_key=telemetry.api_key,
        interval_seconds=telemetry.interval_seconds,
        account=telemetry.account and settings.platform.kind == "mem0",
        kept_seconds=settings.retention.telemetry_days * DAY_SECONDS or math.inf,
    )


def why_off(settings: Settings, origins: Mapping[str, str] | None = None) -> str:
    """Return why nothing is recorded or sent, empty while telemetry is on. `origins` tells where each setting is
    from."""
    telemetry = settings.telemetry
    if not telemetry.enabled:
        origin = (origins or {}).get("telemetry.enabled", "")
        return "telemetry.enabled is false" + (f" ({origin})" if origin else "")
    if not telemetry.endpoint.strip():
        return "telemetry.endpoint is empty"
    return "" if telemetry.api_key.strip() else "telemetry.api_key is empty"


class Standing(Enum):
    """How the consent stands while the daemon runs."""

    AGREED = "as at the start"
    CHANGED = "the file says otherwise, or cannot be read: nothing is sent until it says so again, or a restart"
    REFUSED = "the file says no: what is spooled is discarded"


class Consent:
    """Looks, before anything is sent, whether the settings file still says what it said at the start.

    Settings count from the next start; only a no counts at once (never-again 77, 78).
    """

    def __init__(self, config_file: Path) -> None:
        self._config_file = config_file
        self._agreed = self._said()

    def standing(self) -> Standing:
        """Look at the file."""
        said = self._said()
        if said is not None and said.get("telemetry.enabled") is False:
            return Standing.REFUSED
        return Standing.AGREED if said is not None and said == self._agreed else Standing.CHANGED

    def _said(self) -> dict[str, Any] | None:
        try:
            values = read(self._config_file).values
        except ConfigurationError:
            return None
        return {name: values[name] for name in _SECTION if name in values}
