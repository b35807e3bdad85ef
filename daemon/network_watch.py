"""Notices that the machine is on another network, by the addresses it is seen under there."""

import contextlib
import socket
from collections.abc import Callable, Sequence

_FAR = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that are nobody's (RFC 5737, RFC 3849): only the way to them is looked up, and nothing is sent."""

_ANY_PORT = 9


def own_addresses() -> Sequence[str]:
    """Return the addresses from which the machine would speak to the world; none without a network."""
    found = []
    for family, far in _FAR:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as way:
            way.connect((far, _ANY_PORT))
            found.append(str(way.getsockname()[0]))
    return tuple(found)


class NetworkWatch:
    """Asked on every tick. `addresses` is the seam to the system."""

    def __init__(self, addresses: Callable[[], Sequence[str]] | None = None) -> None:
        self._addresses = addresses or own_addresses
        self._known = tuple(self._addresses())

    def changed(self) -> bool:
        """Whether the machine has come to a network, or to another one, since last asked; leaving one is no news."""
        found = tuple(self._addresses())
        before, self._known = self._known, found
        return bool(found) and found != before
