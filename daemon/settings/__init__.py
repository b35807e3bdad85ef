"""The settings of the daemon and of every command (CONTRACT: Settings)."""

from daemon.configuration_error import ConfigurationError
from daemon.settings.load import Loaded, flatten, load
from daemon.settings.schema import (
    Extractor,
    Flush,
    Http,
    Log,
    Platform,
    Queue,
    Recall,
    Retention,
    Retry,
    Settings,
    Spool,
    Telemetry,
)

__all__ = [
    "ConfigurationError",
    "Extractor",
    "Flush",
    "Http",
    "Loaded",
    "Log",
    "Platform",
    "Queue",
    "Recall",
    "Retention",
    "Retry",
    "Settings",
    "Spool",
    "Telemetry",
    "flatten",
    "load",
]
