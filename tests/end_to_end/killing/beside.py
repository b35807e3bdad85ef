"""A daemon that something is done to from inside its own process, as soon as it is ready, and that is stopped then."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from daemon.__main__ import main
from daemon.places import resolve
from daemon.status_socket.client import ClientError, SocketClient

LOOK_SECONDS = 0.02


def run_beside(act: Callable[[SocketClient], object]) -> int:
    """Run the daemon while `act` does its work with a client of it; return its exit code."""
    places = resolve(os.environ, Path(os.environ["HOME"]), os.getuid(), "linux")
    client = SocketClient(places.status_socket)

    def work() -> None:
        wait_for(lambda: _is_ready(client))
        act(client)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=work, daemon=True).start()
    return main(["run"])


def wait_for(condition: Callable[[], bool]) -> None:
    """Look until it holds; the process has its own end where it never does."""
    never = threading.Event()
    while not condition():
        never.wait(LOOK_SECONDS)


def _is_ready(client: SocketClient) -> bool:
    try:
        return client.get("/status")["state"] != "starting"
    except ClientError:
        return False
