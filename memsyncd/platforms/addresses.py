"""Host names looked up in threads that may be left behind: the system's resolver knows no deadline and no stop. And
whether an address is this machine's."""

import errno
import ipaddress
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Address = tuple[int, Any]
"""A socket family and an address of that family."""


Resolve = Callable[[str, int], list[Any]]
"""Returns what `socket.getaddrinfo` returns, and raises what it raises."""


def system_resolver(host: str, port: int) -> list[Any]:
    """Ask the system's resolver for TCP addresses."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


IsHere = Callable[[int, str], bool]
"""Tells of a socket family and an address of it whether the machine has that address at present."""


def is_here(family: int, name: str) -> bool:
    """Ask the system, by taking the address for a socket that sends nothing. What cannot be told counts as here."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as taken:
            taken.bind((name, 0))
    except OSError as failure:
        return failure.errno != errno.EADDRNOTAVAIL
    return True


@dataclass(slots=True)
class Lookup:
    """One name's lookup; `error` says why there are no addresses."""

    done: bool = False
    addresses: tuple[Address, ...] = ()
    error: str = ""


class Lookups:
    """The lookups under way, one thread for each host however many wait for it. `changed` is notified of each end."""

    def __init__(self, changed: threading.Condition, resolve: Resolve) -> None:
        self._changed = changed
        self._resolve = resolve
        self._open: dict[tuple[str, int], Lookup] = {}

    def start(self, host: str, port: int) -> Lookup:
        """Return the lookup of `host`, begun now unless one is under way. With `changed` held."""
        lookup = self._open.get((host, port))
        if lookup is None:
            lookup = self._open[host, port] = Lookup()
            arguments = (host, port, lookup)
            threading.Thread(target=self._look_up, args=arguments, name="look-up-host", daemon=True).start()
        return lookup

    def _look_up(self, host: str, port: int, lookup: Lookup) -> None:
        found: tuple[Address, ...] = ()
        error = ""
        try:
            found = tuple((family, address) for family, _, _, _, address in self._resolve(host, port))
        except (OSError, UnicodeError) as failure:
            error = getattr(failure, "strerror", None) or "not a host name"
        with self._changed:
            lookup.addresses, lookup.error, lookup.done = found, error, True
            del self._open[host, port]
            self._changed.notify_all()


def literal(host: str, port: int) -> Address | None:
    """Return the address that `host` is by itself, or None where it is a name."""
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return None
    return (socket.AF_INET6 if version == 6 else socket.AF_INET, (host, port))  # noqa: PLR2004  (IPv6)
