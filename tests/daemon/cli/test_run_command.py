"""What `run` says before it runs, and how it tells to call itself."""

import os
import sys
from pathlib import Path

import pytest

from daemon.cli.run import called, welcome
from daemon.places import resolve
from daemon.settings import Platform, Settings


def test_welcome_tells_where_and_what_next(tmp_path: Path) -> None:
    """Spool, socket and platform, then demo, status and the hook's line; with MEMSYNCD_HOME, that first."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path / "a b")}, tmp_path, os.getuid(), "linux")
    assert welcome(places, Settings(), ".venv/bin/memsyncd").splitlines() == [
        f"spools    {tmp_path}/a b/spools/<harness>",
        f"socket    {places.status_socket}",
        "platform  local, embedded: memories stay on this machine",
        "next, in another terminal:",
        f"  export MEMSYNCD_HOME='{tmp_path}/a b'",
        "  .venv/bin/memsyncd demo      the whole path in a throw-away directory",
        "  .venv/bin/memsyncd status    what waits, what moves, what is wrong",
        "  .venv/bin/memsyncd hooks command stop --harness claude-code    the line a hook of that harness runs",
    ]


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_welcome_in_the_usual_places(tmp_path: Path, system: str) -> None:
    """Without MEMSYNCD_HOME nothing is to be exported; a platform elsewhere is told with its address."""
    places = resolve({}, tmp_path, os.getuid(), system)
    told = welcome(places, Settings(platform=Platform(kind="mem0", url="https://platform.test")))
    assert "MEMSYNCD_HOME" not in told
    assert "platform  mem0 at https://platform.test" in told
    assert str(places.spools) in told


@pytest.mark.parametrize(
    ("argv0", "found", "name"),
    [
        ("/p/.venv/bin/memsyncd", "/usr/bin/memsyncd", "memsyncd"),
        ("/p/.venv/bin/memsyncd", None, ".venv/bin/memsyncd"),
        ("/elsewhere/bin/memsyncd", None, "/elsewhere/bin/memsyncd"),
        ("/p/daemon/__main__.py", None, f"{sys.executable} -m daemon"),
    ],
)
def test_how_it_is_called(argv0: str, found: str | None, name: str) -> None:
    """By name where PATH has it, else by its path from here, else through the interpreter."""
    assert called(argv0, found, Path("/p")) == name
