"""Addresses that settings name: which schemes each takes, and whether a client can go there."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

SCHEMES: Mapping[str, tuple[str, ...]] = {
    "platform.url": ("http", "https"),
    "telemetry.endpoint": ("http", "https"),
    "extractor.url": ("http", "https"),
    "http.proxy": ("http", "https", "socks5", "socks5h"),
    "queue.url": ("postgresql", "postgres"),
}
"""By the setting's dotted key; the first is the one that is told."""

_ODD_IN_A_HOST = re.compile(r"[^\w.:-]")


def is_address(url: str, schemes: tuple[str, ...]) -> bool:
    """Tell whether a URL has one of the schemes and names a host that a client takes."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if parts.scheme in ("http", "https") and _ODD_IN_A_HOST.search(parts.hostname or ""):
        return False  # the client takes none of these, and would say so only once it is made
    has_host = bool(parts.hostname) or parts.scheme.startswith("postgres")  # which may mean the local one
    return parts.scheme in schemes and has_host and not any(letter.isspace() for letter in url)


def wanted(name: str) -> str:
    """Say what an address takes."""
    return f"begin it with {SCHEMES[name][0]}:// and name a host"
