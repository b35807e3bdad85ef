"""What commands use to ask the running daemon: short connects, a bound on every wait, and a class for every failure.

ClientError
├── NotRunning      no socket, or nobody behind it
├── NotOurs         something that is not this user's daemon is there: nothing was asked
├── TimedOut        it is there and does not answer in time; that is no proof of death (never-again 63)
├── OtherProtocol   it speaks another version
└── Refused         it answered, and not with 2xx
"""

import contextlib
import http.client
import json
import os
import select
import socket
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from daemon import lock
from daemon.places import Places
from daemon.status_socket import socket_file
from daemon.status_socket.http_message import PROTOCOL, PROTOCOL_HEADER

CONNECT_SECONDS = 1.0
"""Enough for a living daemon, and nobody waits long for a hung one (never-again 70)."""

ANSWER_SECONDS = 10.0
MAX_ANSWER_BYTES = 64_000_000

LOOK_SECONDS = 5.0
"""How often, during a long wait, who waits looks whether there is still anything to wait for."""

WhileWaiting = Callable[[], None]


class ClientError(Exception):
    """Base; the message is a sentence for a person."""


class NotRunning(ClientError):
    """Nobody listens."""


class NotOurs(ClientError):
    """The socket, its directory or the process behind it is not this user's."""


class TimedOut(ClientError):
    """No answer in time, or the connection broke before one."""


class OtherProtocol(ClientError):
    """Daemon and command are of versions that do not understand each other."""


class Refused(ClientError):
    """`status` is the HTTP status; `body` the whole answer."""

    def __init__(self, status: int, sentence: str, body: bytes) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = body


def socket_of(places: Places) -> Path:
    """Return where the daemon of this data directory answers: as it says itself while it runs, for a service manager
    may have given it another runtime directory than this command sees; else as the rules say."""
    holder = lock.holder(places.lock_file)
    if holder is not None and Path(holder.socket).is_absolute() and lock.is_held(places.lock_file):
        return Path(holder.socket)
    return places.status_socket


class SocketClient:
    """Asks at `path`, one connection a request; safe from any thread. Raises ClientError's classes."""

    def __init__(self, path: Path, *, uid: int | None = None, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._path = path
        self._uid = os.geteuid() if uid is None else uid
        self._connect_seconds = connect_seconds

    def get(self, target: str, *, seconds: float = ANSWER_SECONDS) -> Any:
        """Return the JSON of a GET of `target` (path and query, percent-encoded), waited for up to `seconds`."""
        return _decoded(self.request("GET", target, seconds=seconds))

    def post(
        self,
        target: str,
        document: Mapping[str, Any] | None = None,
        *,
        seconds: float = ANSWER_SECONDS,
        while_waiting: WhileWaiting | None = None,
    ) -> Any:
        """Return the JSON a POST of `document` to `target` answers."""
        body = b"" if document is None else json.dumps(document).encode()
        return _decoded(self.request("POST", target, body, seconds=seconds, while_waiting=while_waiting))

    def request(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        seconds: float = ANSWER_SECONDS,
        while_waiting: WhileWaiting | None = None,
    ) -> bytes:
        """Return the body of a 2xx answer, as it came. `while_waiting` is called every LOOK_SECONDS until it comes, and
        ends the waiting with what it raises."""
        connected = self._connect()
        connection = http.client.HTTPConnection("localhost")
        connection.sock = connected
        try:
            connected.settimeout(seconds)
            with contextlib.suppress(BrokenPipeError):  # refused while we still sent: the answer says why
                connection.request(method, target, body or None, {"Connection": "close"})
            if while_waiting is not None:
                _await(connected, seconds, while_waiting)
            response = connection.getresponse()
            answer = response.read(MAX_ANSWER_BYTES)
        except TimeoutError as error:
            raise TimedOut(f"The daemon at {self._path} did not answer within {seconds:g} s.") from error
        except (OSError, http.client.HTTPException) as error:
            raise TimedOut(f"The daemon at {self._path} broke off ({type(error).__name__}).") from error
        finally:
            connection.close()
            connected.close()
        self._check_protocol(response)
        if not 200 <= response.status < 300:  # noqa: PLR2004  (HTTP: success)
            raise Refused(response.status, _sentence(answer) or response.reason, answer)
        return answer

    def _connect(self) -> socket.socket:
        self._check_place()
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.settimeout(self._connect_seconds)
            connected.connect(str(self._path))
        except (TimeoutError, BlockingIOError) as error:  # the latter: more wait already than the kernel holds
            connected.close()
            raise TimedOut(f"The daemon at {self._path} takes no connection.") from error
        except OSError as error:
            connected.close()
            raise NotRunning(f"Nobody listens at {self._path} ({error.strerror or error}).") from error
        if socket_file.peer_uid(connected) not in (self._uid, 0):  # root listens where a service manager does for us
            connected.close()
            raise NotOurs(f"The process behind {self._path} is another user's.")
        return connected

    def _check_place(self) -> None:
        try:
            found, directory = self._path.lstat(), self._path.parent.stat()
        except FileNotFoundError:
            raise NotRunning(f"There is no socket at {self._path}.") from None
        except OSError as error:
            raise NotOurs(f"{self._path} cannot be looked at: {error.strerror}.") from error
        if not stat.S_ISSOCK(found.st_mode):
            raise NotOurs(f"{self._path} is no socket: move it elsewhere and start the daemon.")
        if found.st_uid != self._uid or directory.st_uid not in (self._uid, 0):  # root made it there for us
            owner = found.st_uid if found.st_uid != self._uid else directory.st_uid
            raise NotOurs(f"{self._path} belongs to user {owner}, not to {self._uid}.")
        if directory.st_mode & 0o022:
            raise NotOurs(f"{self._path.parent} can be written by other users: `chmod 700 {self._path.parent}`.")

    def _check_protocol(self, response: http.client.HTTPResponse) -> None:
        spoken = response.getheader(PROTOCOL_HEADER)
        if spoken is None and response.status == http.client.SERVICE_UNAVAILABLE:
            raise TimedOut(f"The daemon at {self._path} has no place for another connection.")
        if spoken is None:
            raise NotOurs(f"What answers at {self._path} is no memsyncd.")
        if spoken != str(PROTOCOL):
            raise OtherProtocol(
                f"The daemon speaks protocol {spoken}, this command {PROTOCOL}: restart the daemon after an upgrade."
            )


def _await(connected: socket.socket, seconds: float, while_waiting: WhileWaiting) -> None:
    """Wait for the beginning of an answer. Raises TimeoutError, and whatever `while_waiting` does."""
    end = time.monotonic() + seconds
    while not select.select([connected], [], [], LOOK_SECONDS)[0]:
        if time.monotonic() >= end:
            raise TimeoutError
        while_waiting()


def _decoded(answer: bytes) -> Any:
    try:
        return json.loads(answer)
    except ValueError:
        raise OtherProtocol("The daemon's answer is no JSON.") from None


def _sentence(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return ""
