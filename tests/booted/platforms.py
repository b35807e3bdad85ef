"""Platforms that run inside a booted machine, where loopback is its own."""

import json
from typing import Any

from tests.booted.machine import PYTHON, Machine

PORT = 7070
URL = f"http://127.0.0.1:{PORT}"

_SILENT = f"""
import pathlib, socket
server = socket.create_server(("127.0.0.1", {PORT}))
held = []
while True:
    held.append(server.accept()[0])
    pathlib.Path("/run/asked").write_bytes(held[-1].recv(65536))
"""

_HOSTED = f"""
import json, pathlib, time
from tests.fakes.mem0_api import FakeMem0
with FakeMem0(port={PORT}) as fake:
    while True:
        new = pathlib.Path("/run/commits.new")
        new.write_text(json.dumps(fake.commits()))
        new.rename("/run/commits")
        time.sleep(0.1)
"""


def start_silent(machine: Machine) -> None:
    """Start one that takes every request and answers none."""
    _start(machine, _SILENT)


def start_hosted(machine: Machine) -> None:
    """Start a fake of the hosted platform."""
    _start(machine, _HOSTED)


def asked(machine: Machine) -> str:
    """Return what the silent one was sent, empty so far."""
    return machine.run("cat", "/run/asked", check=False).stdout


def commits(machine: Machine) -> list[Any]:
    """Return what the hosted one has taken."""
    found = machine.run("cat", "/run/commits", check=False).stdout
    return list(json.loads(found)) if found else []


def _start(machine: Machine, script: str) -> None:
    machine.run("systemd-run", "--unit=platform", "--service-type=exec", PYTHON, "-P", "-c", script)
    listening = f"0100007F:{PORT:04X}"
    machine.until(lambda: listening in machine.run("cat", "/proc/net/tcp").stdout, "the platform does not listen")
