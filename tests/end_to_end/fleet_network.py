"""A fleet's network on one machine: a namespace for each of its machines, and one for database and platform.

Every machine has two cables, each a pair of its own: one to the database, one to the platform. Nothing leads out.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

DATABASE, PLATFORM = "10.79.0.2", "10.79.0.1"
DATABASE_PORT, PLATFORM_PORT = 5432, 8080
"""Where everybody finds them, whichever cable leads there."""

START_SECONDS = 30.0

REQUIRED = "MEMSYNCD_REQUIRE_BOOT"


def needed() -> None:
    """Skip where no namespaces can be made; fail if they must be (`.ci/run`)."""
    why = _missing()
    if why and os.environ.get(REQUIRED) == "1":
        pytest.fail(why)
    if why:
        pytest.skip(why)


def _missing() -> str:
    if not shutil.which("ip"):
        return "needs the command ip (Debian: apt-get install iproute2)"
    if os.geteuid():
        return "needs root, to make network namespaces"
    name = f"msd{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no network namespace can be made here: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return ""


class Cable:
    """Between a machine and the middle, until it is pulled."""

    def __init__(self, hub: str, end: str) -> None:
        self._hub = hub
        self._end = end

    def pull(self) -> None:
        """Lose what is sent from now on, either way."""
        ip("-n", self._hub, "link", "set", self._end, "down")

    def plug_in(self) -> None:
        """Let everything pass again."""
        ip("-n", self._hub, "link", "set", self._end, "up")


class FleetNetwork:
    """The namespaces, whose names begin with `msd` and this process's id, and what stands in the middle.

    The database listens on a Unix socket, which knows no namespaces; from the cables it is reached through a process in
    the middle, as the platform is.
    """

    def __init__(self, directory: Path, database: Path) -> None:
        self._directory = directory
        self._number = 0
        self._processes: list[subprocess.Popen[bytes]] = []
        self._namespaces: list[str] = []
        self.commits = directory / "commits"
        try:
            self.hub = self._namespace("hub")
            for address in (DATABASE, PLATFORM):
                ip("-n", self.hub, "address", "add", f"{address}/32", "dev", "lo")
            self._stand_in_the_middle(database)
        except BaseException:
            self.remove()
            raise

    def machine(self, *, with_platform: bool) -> tuple[list[str], dict[str, Cable]]:
        """Return the words that begin a command on a new machine, and its cables."""
        self._number += 1
        name = self._namespace(str(self._number))
        cables = {"database": self._cable(name, 77, DATABASE)}
        if with_platform:
            cables["platform"] = self._cable(name, 78, PLATFORM)
        return ["ip", "netns", "exec", name], cables

    def remove(self) -> None:
        """Leave nothing behind. Only when the machines' processes have ended."""
        for process in self._processes:
            process.terminate()
            process.wait(60)
        for name in self._namespaces:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def _namespace(self, word: str) -> str:
        name = f"msd{os.getpid()}-{word}"
        ip("netns", "add", name)
        self._namespaces.append(name)
        ip("-n", name, "link", "set", "lo", "up")
        return name

    def _cable(self, machine: str, net: int, to: str) -> Cable:
        end = f"c{net}-{self._number}"
        here, there = f"10.{net}.{self._number}.1", f"10.{net}.{self._number}.2"
        ip("link", "add", end, "netns", self.hub, "type", "veth", "peer", "name", f"c{net}", "netns", machine)
        ip("-n", self.hub, "address", "add", f"{here}/30", "dev", end)
        ip("-n", self.hub, "link", "set", end, "up")
        ip("-n", machine, "address", "add", f"{there}/30", "dev", f"c{net}")
        ip("-n", machine, "link", "set", f"c{net}", "up")
        ip("-n", machine, "route", "add", to, "via", here)
        return Cable(self.hub, end)

    def _stand_in_the_middle(self, database: Path) -> None:
        port = self._directory / "port"
        words = ["--port-file", str(port), "--commits", str(self.commits), "--quiet", "--delay", "0.3"]
        self._run("tests.fakes.mem0_api", *words)
        _until(port)
        ready = self._directory / "ready"
        self._run(
            "tests.fakes.passing_on",
            str(ready),
            f"{DATABASE}:{DATABASE_PORT}={database}",
            f"{PLATFORM}:{PLATFORM_PORT}=127.0.0.1:{port.read_text()}",
        )
        _until(ready)

    def _run(self, module: str, *words: str) -> None:
        command = ["ip", "netns", "exec", self.hub, sys.executable, "-m", module, *words]
        self._processes.append(subprocess.Popen(command, cwd=ROOT))


def ip(*words: str) -> None:
    """Run the command. Raises CalledProcessError."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _until(path: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not come"
        time.sleep(0.02)
