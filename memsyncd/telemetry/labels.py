"""Short words in place of what would tell too much: an error's label, a harness's source tag. Pure."""

import re

_BY_STATUS = {
    **dict.fromkeys((400, 422), "bad-request"),
    **dict.fromkeys((401, 403), "auth"),
    **dict.fromkeys((500, 502, 503, 504), "server-error"),
    408: "timeout",
    429: "rate-limited",
}
"""Facts 12.9; 408 is the status of a time-out (RFC 9110, 15.5.9)."""

_TIMEOUT = re.compile(r"Time(?:d)?[oO]ut")
_NETWORK = frozenset(
    {"ConnectionError", "gaierror", "herror", "SSLError", "NetworkError", "TransportError", "Unreachable", "NoAnswer"}
)
"""Classes below which an error is the network's: Python's, httpx's and `memsyncd.platforms`' own."""

_CAUSES = 8
"""How far back the causes of an error are looked at."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def error_label(error: BaseException | None = None, *, status: int = 0) -> str:
    """Return the label of a failure, never its message (facts 12.9).

    One of timeout, auth, rate-limited, server-error, bad-request, network, the exception's type, other. `status` is
    an HTTP status; without one the error's own `status` counts, where it has one.
    """
    own = getattr(error, "status", 0)
    known = _BY_STATUS.get(status or (own if isinstance(own, int) else 0))
    if known:
        return known
    if error is None:
        return "other"
    names = _class_names(error)
    if any(_TIMEOUT.search(name) for name in names):
        return "timeout"
    if not _NETWORK.isdisjoint(names):
        return "network"
    kind = type(error).__name__
    return kind if _NAME.fullmatch(kind) else "other"


def source_of(harness: str) -> str:
    """Return the source tag of a harness: `x-y` -> `X_Y_PLUGIN` (facts 12.8, 15.6)."""
    return f"{harness.upper().replace('-', '_')}_PLUGIN"


def _class_names(error: BaseException) -> set[str]:
    """Return the names of the error's classes and of what caused it, for a client wraps what its socket told it."""
    names: set[str] = set()
    cause: BaseException | None = error
    for _ in range(_CAUSES):
        if cause is None:
            break
        names.update(kind.__name__ for kind in type(cause).__mro__)
        cause = cause.__cause__
    return names
