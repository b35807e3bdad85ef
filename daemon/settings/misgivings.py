"""Settings that are taken as they are, and of which something is told all the same."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from daemon.settings.addresses import is_address
from daemon.settings.keys import KEYS


def no_spools(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Tell of spools from which nothing can be taken in. One that is not there yet may be made."""
    found = [Path(spool.path) for spool in values["spools"]]
    return [
        f"the path of a spool ({origins['spools']}) is {path}, which is no directory: nothing is taken in from there."
        for path in found
        if os.path.lexists(path) and not os.path.isdir(path)
    ]


def no_authorities(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Tell of a file of certificates without which no connection is made."""
    path = values.get("http.ca_file")
    if not path or (os.path.isfile(path) and os.access(path, os.R_OK)):
        return []
    return [f"http.ca_file ({origins['http.ca_file']}) is {path}, which cannot be read: nothing is sent by https."]


def open_secrets(config_file: Path, values: Mapping[str, Any]) -> list[str]:
    """Tell of a file that others can read and that holds a secret."""
    if not values or not config_file.stat().st_mode & 0o077:
        return []
    held = [name for name, key in KEYS.items() if name in values and key.holds_secret(values[name])]
    if not held:
        return []
    return [f"{config_file} holds {held[0]} and can be read by other users: `chmod 600 {config_file}`."]


def in_the_clear(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Tell of addresses elsewhere at which keys and memories can be read on the way."""
    kinds = {
        "platform.url": values["platform.kind"] != "local",
        "telemetry.endpoint": bool(values.get("telemetry.enabled")),
    }
    unsafe = [name for name, is_used in kinds.items() if is_used and is_address(values.get(name, ""), ("http",))]
    if not unsafe:
        return []
    from memsyncd.platforms.transport import is_loopback  # noqa: PLC0415  (httpx; most commands need none)

    return [
        f"{name} ({origins[name]}) is http: whoever is on the way can read and change what is sent; use https."
        for name in unsafe
        if not is_loopback(urlsplit(values[name]).hostname or "")
    ]
