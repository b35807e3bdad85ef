"""launchd's agent as a property list, made from the template by plistlib: never by hand (services.md section 5)."""

import plistlib
from typing import Any

from daemon.service import templates
from daemon.service.installation import Installation
from daemon.service.refusal import Incomplete

LABEL = "com.memsyncd.agent"
FILE = f"{LABEL}.plist"
TEMPLATE = f"launchd/{FILE}"
LOG_FILE = "daemon.log"

EXIT_SECONDS = 15
"""The template's ExitTimeOut: SIGTERM to SIGKILL."""


def render(planned: Installation) -> bytes:
    """Return the agent's file. Raises Incomplete where the logs have no place or a word cannot stand in a file."""
    log = (planned.places.logs or planned.places.data) / LOG_FILE  # the latter with MEMSYNCD_HOME
    values: dict[str, list[str]] = {
        "@COMMAND@": list(planned.command),
        "@PENDING@": [str(path) for path in planned.pending],
        "@LOG@": [str(log)],
    }
    document = plistlib.loads(templates.read(TEMPLATE).encode())
    document["EnvironmentVariables"] = dict(planned.environment)
    filled = {key: _filled(value, values) for key, value in document.items()}
    try:
        return plistlib.dumps(filled, sort_keys=False)
    except (ValueError, TypeError, UnicodeEncodeError) as error:
        raise Incomplete(f"The agent's file would not be valid: {error}.") from error


def _filled(value: Any, values: dict[str, list[str]]) -> Any:
    """Return a value with its places filled: in a list a place may become several words, or none."""
    if isinstance(value, list):
        return [word for each in value for word in values.get(each, [each])]
    if isinstance(value, str) and value in values:
        (word,) = values[value]
        return word
    return value
