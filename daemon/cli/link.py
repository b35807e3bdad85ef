"""What commands ask of a running daemon, and the few ways in which that can end.

Exit                     Leave with a sentence
├── NotRunning           nobody listens, and no daemon holds the lock: 3
└── Unanswered           somebody is there who does not answer, or is not ours: 1
NotFound, Refused        the daemon answered so
"""

import http
from collections.abc import Callable
from typing import Any

from daemon import lock
from daemon.cli import exits
from daemon.cli.surroundings import Surroundings
from daemon.status_socket import client as socket_client
from daemon.status_socket.client import SocketClient, socket_of

SHORT = 10.0
"""Seconds for an answer the daemon gives from what it has in hand."""

UNTIL_CONFIRMED = 3620.0
"""Seconds for `flush --wait`: the daemon's own longest wait and some."""


class NotRunning(exits.Leave):
    """There is no daemon."""

    def __init__(self) -> None:
        super().__init__(exits.NOT_RUNNING, "The daemon is not running. Start it with `memsyncd run`.")


class Unanswered(exits.Leave):
    """Who is there does not answer; that is no proof of death (never-again 63, 136)."""

    def __init__(self, sentence: str) -> None:
        super().__init__(exits.FAILED, sentence)


class NotFound(Exception):
    """The daemon has no such thing."""


class Refused(Exception):
    """The daemon understood and will not; the message says why."""


def get(around: Surroundings, route: str, *, seconds: float = SHORT) -> dict[str, Any]:
    """Return the JSON object at a route (path and query, percent-encoded). Raises the classes above."""
    return _ask(around, lambda client: client.get(route, seconds=seconds))


def post(around: Surroundings, route: str, document: dict[str, Any], *, seconds: float = SHORT) -> dict[str, Any]:
    """Return the JSON object that answers a request to act. Raises the classes above."""
    return _ask(around, lambda client: client.post(route, document, seconds=seconds))


def _ask(around: Surroundings, call: Callable[[SocketClient], Any]) -> dict[str, Any]:
    places = around.places()
    try:
        answer = call(SocketClient(socket_of(places), uid=around.uid))
    except socket_client.NotRunning as error:
        if lock.is_held(places.lock_file):
            raise Unanswered(f"A daemon is there and does not answer yet: {error}") from error
        raise NotRunning from error
    except socket_client.Refused as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            raise NotFound(str(error)) from error
        raise Refused(str(error)) from error
    except socket_client.ClientError as error:
        raise Unanswered(str(error)) from error
    if not isinstance(answer, dict):
        raise Unanswered("The daemon's answer is not understood: restart the daemon after an upgrade.")
    return answer
