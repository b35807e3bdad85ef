"""The targets by name. Each is imported only when it is asked for, so that an engine may prepare the imports."""

from importlib import import_module

from tests.fuzz.target import Target

NAMES = (
    "handoffs",
    "hook_input",
    "transcripts",
    "socket_requests",
    "settings",
    "platform_answers",
    "imported_notes",
    "telemetry_files",
    "redaction",
    "config_files",
    "questions",
    "note_calls",
    "state_files",
)


def target(name: str) -> Target:
    """Return a target."""
    found: Target = import_module(f"tests.fuzz.targets.{name}").TARGET
    return found
