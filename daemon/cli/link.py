"""What commands ask of a running daemon, and the few ways in which that can end."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any, NoReturn

from daemon.cli import exits
from daemon.cli.surroundings import Surroundings

SHORT = 10.0
"""Seconds for an answer the daemon gives from what it has in hand."""

UNTIL_CONFIRMED = 3600.0
"""Seconds for `flush --wait`: the daemon ends the wait long before, with an outcome."""

NOT_RUNNING_SENTENCE = "The daemon is not running. Start it with `memsyncd run`."


class NotRunning(Exception):
    """Nobody answers on the socket."""


class NotFound(Exception):
    """The daemon has no such thing."""


class Refused(Exception):
    """The daemon understood and will not; the message says why."""


def get(around: Surroundings, route: str, *, timeout: float = SHORT) -> dict[str, Any]:
    """Return the JSON object at a route. Raises NotRunning and NotFound; leaves with 1 for an answer that is none."""
    return _ask(around, "GET", route, None, timeout)


def post(around: Surroundings, route: str, body: dict[str, Any], *, timeout: float = SHORT) -> dict[str, Any]:
    """Return the JSON object that answers a request to act. Raises NotRunning, NotFound and Refused."""
    return _ask(around, "POST", route, body, timeout)


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the path instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _ask(around: Surroundings, method: str, route: str, body: dict[str, Any] | None, timeout: float) -> dict[str, Any]:
    path = around.places().status_socket
    connection = _Connection(path, timeout)
    try:
        connection.request(
            method, route, None if body is None else json.dumps(body), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        raw = answer.read()
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
        raise NotRunning(str(path)) from error
    except TimeoutError:
        _give_up(f"The daemon did not answer within {timeout:g} seconds. `memsyncd status --watch` shows more.")
    except PermissionError:
        _give_up(f"The socket {path} belongs to another user; run this as the daemon's own user.")
    except (OSError, http.client.HTTPException) as error:
        _give_up(f"The daemon's answer broke off ({error or type(error).__name__}); try again.")
    finally:
        connection.close()
    return _read(answer.status, raw)


def _read(status: int, raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        _give_up(f"The daemon's answer (status {status}) is not understood; is another version running?")
    why = str(document.get("error") or document.get("reason") or f"status {status}")
    if status == http.client.NOT_FOUND:
        raise NotFound(why)
    if status >= http.client.BAD_REQUEST:
        raise Refused(why)
    return document


def _give_up(sentence: str) -> NoReturn:
    raise exits.Leave(exits.FAILED, sentence)
