"""What commands ask of a running daemon, and the few ways in which that can end.

Exit                     Leave with a sentence
├── NotRunning           nobody listens, and no daemon holds the lock: 3
└── Unanswered           somebody is there who does not answer: 1
    └── NotAsked         and could not be asked, for it is not ours, or not ready
NotFound, Refused        the daemon answered so
"""

import http
from collections.abc import Callable
from typing import Any

from daemon import lock
from daemon.another_owner import another_owner
from daemon.cli import exits
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean
from daemon.places import Places
from daemon.status_socket import client as socket_client
from daemon.status_socket.client import SocketClient, socket_of

SHORT = 10.0
"""Seconds for an answer the daemon gives from what it has in hand."""

PATIENCE = 5.0
"""Seconds for a status during a long wait, before the daemon is asked something simpler."""

UNTIL_CONFIRMED = 3620.0
"""Seconds for `flush --wait`: the daemon's own longest wait and some."""

STANDING_STILL = frozenset({"stuck-claim", "no-progress"})
"""Problems of a status with which nothing that is waited for comes."""

NOT_ANSWERING = (
    "Wait a few seconds if it has just been started; otherwise end it (`kill {pid}`, and after ten seconds `kill -9 "
    "{pid}`) and start it again. Nothing that waits is lost."
)
"""What to do about one that does not answer."""

OF_ITS_OWN_LOOP = "/events?since=0"
"""A question that takes no file, no lock and no thread: who does not answer it hangs."""


class NotRunning(exits.Leave):
    """There is no daemon."""

    def __init__(self) -> None:
        super().__init__(exits.NOT_RUNNING, "The daemon is not running. Start it with `memsyncd run`.")


class Unanswered(exits.Leave):
    """Who is there does not answer; that is no proof of death (never-again 63, 136)."""

    def __init__(self, sentence: str) -> None:
        super().__init__(exits.FAILED, sentence)


class NotAsked(Unanswered):
    """Who is there was asked nothing: what is another's, or listens not yet."""


class NotFound(Exception):
    """The daemon has no such thing."""


class Refused(Exception):
    """The daemon understood and will not; the message says why."""


def get(around: Surroundings, route: str, *, seconds: float | None = None) -> dict[str, Any]:
    """Return the JSON object at a route (path and query, percent-encoded). Raises the classes above."""
    return _ask(around, lambda client: client.get(route, seconds=seconds or SHORT))


def post(around: Surroundings, route: str, document: dict[str, Any], *, seconds: float | None = None) -> dict[str, Any]:
    """Return the JSON object that answers a request to act. Raises the classes above."""
    return _ask(around, lambda client: client.post(route, document, seconds=seconds or SHORT))


def post_and_wait(
    around: Surroundings, route: str, document: dict[str, Any], *, seconds: float, for_jobs: bool = False
) -> dict[str, Any]:
    """Return like `post`, for what may take long: it is waited for while the daemon answers other questions, and
    `for_jobs` while its status does not say that its jobs stand still. Else it is left with that (Unanswered)."""

    def ask(client: SocketClient) -> Any:
        return client.post(route, document, seconds=seconds, while_waiting=lambda: _look_after(client, for_jobs))

    try:
        return _ask(around, ask)
    except NotAsked:
        raise
    except Unanswered as error:
        raise Unanswered(f"{error} What was asked for may still be done, should it go on.") from error


def _look_after(client: SocketClient, for_jobs: bool) -> None:
    """Raise TimedOut where the daemon hangs, and Unanswered where nothing moves in it."""
    try:
        status = client.get("/status", seconds=PATIENCE)
    except socket_client.TimedOut:  # what is done for us may hold what a status needs
        client.get(OF_ITS_OWN_LOOP, seconds=SHORT)
        return
    except socket_client.ClientError:
        return  # it answers: the request itself tells the rest
    for problem in status.get("problems") or ():
        if for_jobs and problem.get("code") in STANDING_STILL:
            raise Unanswered(f"{clean(problem.get('message'))} {clean(problem.get('remedy'))}")


def _ask(around: Surroundings, call: Callable[[SocketClient], Any]) -> dict[str, Any]:
    places = around.places()
    if another := another_owner(places, around.uid):
        raise NotAsked(f"{another.sentence} {another.remedy}")
    try:
        answer = call(SocketClient(socket_of(places), uid=around.uid))
    except socket_client.NotRunning as error:
        if lock.is_held(places.lock_file):
            raise NotAsked(f"A daemon is there and does not answer yet: {error} {_way_out(places)}") from error
        raise NotRunning from error
    except socket_client.Refused as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            raise NotFound(str(error)) from error
        raise Refused(str(error)) from error
    except socket_client.TimedOut as error:
        raise Unanswered(f"{error} {_way_out(places)}") from error
    except socket_client.NotOurs as error:
        raise NotAsked(str(error)) from error
    except socket_client.ClientError as error:
        raise Unanswered(str(error)) from error
    if not isinstance(answer, dict):
        raise Unanswered("The daemon's answer is not understood: restart the daemon after an upgrade.")
    return answer


def _way_out(places: Places) -> str:
    """Say what to do about a daemon that does not answer."""
    holder = lock.holder(places.lock_file)
    return NOT_ANSWERING.format(pid=holder.pid if holder else "PID")
