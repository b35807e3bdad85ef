"""Many clients at once, and the end."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon.status_socket import http_socket
from daemon.status_socket.http_connection import Limits
from tests.daemon.status_socket.serving import GET, SMALL, Served, ask, connect, is_closed, read_response


def test_200_at_once_are_all_answered(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than have a place: the others wait in the kernel for a moment, not in vain."""
    monkeypatch.setattr(http_socket, "PLACE_SECONDS", 60.0)  # a moment of a busy machine
    running = Served(short / "run/status.sock", Limits(connections=64))
    try:
        barrier = threading.Barrier(200)

        def one(_: int) -> int:
            barrier.wait(60)
            return ask(running.path)[0]

        with ThreadPoolExecutor(200) as threads:
            assert list(threads.map(one, range(200))) == [200] * 200
    finally:
        running.stop()


def test_connections_that_hold_every_place_are_bounded_and_counted(served: Served) -> None:
    """One more than the bound is turned away with 503; when one leaves, its place is given again."""
    holders = [served.connect() for _ in range(SMALL.connections)]
    try:
        for holder in holders:
            holder.sendall(GET.replace(b"/x", b"/slow"))
        served.until(lambda: served.server.connections == SMALL.connections)
        with served.connect() as more:
            assert read_response(more)[0] == 503
        assert served.counted("socket_connections_refused") == 1
        holders.pop().close()
        served.until(lambda: served.server.connections < SMALL.connections)
        assert ask(served.path)[0] == 200
    finally:
        for holder in holders:
            holder.close()


def test_stopping_ends_waits_at_once(short: Path) -> None:
    """SIGTERM must not wait for somebody's long poll."""
    running = Served(short / "run/status.sock", SMALL)
    with running.connect() as client:
        client.sendall(GET.replace(b"/x", b"/slow"))
        assert running.echo.entered.wait(60)
        begun = time.monotonic()
        running.stop()
        assert time.monotonic() - begun < 20  # its wait has no end
        assert is_closed(client)
    assert not running.path.exists()


@pytest.mark.parametrize("steps", range(4))
def test_a_connection_that_comes_in_the_moment_of_the_stop_is_closed(short: Path, steps: int) -> None:
    """Before it is taken, before it is served, and after; a socket that is left open would be warned of."""
    running = Served(short / "run/status.sock")

    async def come() -> socket.socket:
        client = running.connect()
        for _ in range(steps):
            await asyncio.sleep(0)
        await running.server.stop()
        return client

    with running.run(come()) as client:
        assert is_closed(client)
    running.stop()


def test_a_crowded_server_ends_the_connections_it_answers(served: Served) -> None:
    """Clients that keep their connections must not keep out the others."""
    held = [served.connect() for _ in range(SMALL.connections // 2)]
    with served.connect() as last:
        served.until(lambda: served.server.connections == len(held) + 1)
        last.sendall(GET)
        assert b"connection: close" in read_response(last)[1].lower()
        assert is_closed(last)
    held[0].sendall(GET)
    assert b"connection: close" not in read_response(held[0])[1].lower()
    for client in held:
        client.close()


OUT_OF_DESCRIPTORS = """
import asyncio, os, resource, sys, time
from pathlib import Path
from daemon.status_socket.http_message import json_response
from daemon.status_socket.http_socket import HttpSocket
from memsyncd.counters import Counters

class Handler:
    async def __call__(self, request):
        return json_response(200, {})
    def close(self):
        pass

async def main():
    counters = Counters()
    server = HttpSocket(Path(sys.argv[1]), Handler(), counters=counters)
    await server.start()
    loop = asyncio.get_running_loop()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    print("full", flush=True)
    while not counters.snapshot().get("socket_connections_refused"):
        await asyncio.sleep(0.01)
    used, since = time.process_time(), time.monotonic()
    await asyncio.sleep(0.2)
    refused = counters.snapshot()["socket_connections_refused"]
    print(time.process_time() - used, refused, time.monotonic() - since, flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    await loop.run_in_executor(None, sys.stdin.read)
    await server.stop()

asyncio.run(main())
"""


def test_without_a_descriptor_left_one_is_served_and_the_next_waits(short: Path) -> None:
    """Somebody has to be told why nothing goes on. It must not spin over a connection it cannot take, nor forget it."""
    path = short / "run/status.sock"
    child = subprocess.Popen(
        [sys.executable, "-c", OUT_OF_DESCRIPTORS, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert child.stdout
    assert child.stdout.readline() == "full\n"
    with connect(path) as first, connect(path) as next_one:
        first.sendall(GET)
        assert read_response(first)[0] == 200
        next_one.sendall(GET)
        used, refused, seconds = child.stdout.readline().split()
        assert read_response(next_one)[0] == 200
    child.communicate(timeout=60)
    assert child.returncode == 0
    assert float(used) < 0.15
    assert int(refused) <= 2 + float(seconds) / http_socket.ACCEPT_AGAIN_SECONDS
