"""The environment of a daemon whose telemetry is on; its endpoint is a port where nobody listens."""

import json
import uuid
from typing import Any

KEY = "phc" + "_made_up_for_tests"
ENDPOINT = "http://127.0.0.1:9"
ON = {
    "MEMSYNCD_TELEMETRY_ENABLED": "yes",
    "MEMSYNCD_TELEMETRY_ENDPOINT": ENDPOINT,
    "MEMSYNCD_TELEMETRY_API_KEY": KEY,
}


def line(name: str = "code.recall", **extra: Any) -> bytes:
    """Return a spooled event's line."""
    event = {"event": name, "uuid": str(uuid.uuid4()), "timestamp": "2026-01-02T03:04:05Z", "properties": {"n": 1}}
    return json.dumps({**event, **extra}).encode() + b"\n"
