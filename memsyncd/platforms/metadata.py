"""A memory's metadata within a bound: a platform takes any JSON, and whoever asks for a memory must not choke on it."""

import json
from collections.abc import Mapping
from typing import Any

MAX_CHARS = 16_000
"""As JSON. What this program writes has some hundred."""

MAX_NEEDED_CHARS = 4_000
"""Of one entry that is kept of too much."""

NEEDED = ("dirs", "branch")
"""What a filter and a reader need."""


def bounded(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return metadata, of too much only what is NEEDED; none of what is nested too deeply for JSON."""
    try:
        if len(json.dumps(metadata)) <= MAX_CHARS:
            return metadata
        needed = {name: metadata[name] for name in NEEDED if name in metadata}
        return {name: value for name, value in needed.items() if len(json.dumps(value)) <= MAX_NEEDED_CHARS}
    except RecursionError:
        return {}
