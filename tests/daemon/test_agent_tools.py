"""What the tools of MCP answer while no daemon runs, and what holds them."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from daemon.agent_tools import agent_tools
from daemon.cli.surroundings import Surroundings
from memsyncd.clock import Clock
from memsyncd.mcp_server.tool import Answer
from memsyncd.mcp_server.tools import Tools
from memsyncd.notes.store import NoteStore


class Machine:
    """A user's home, and the tools on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "shop"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        environ = {"MEMSYNCD_HOME": str(root / "m"), "HOME": str(root), "USER": "ada"}
        self.around = Surroundings(environ=environ, home=root, uid=os.getuid(), platform=sys.platform)
        self.reported: list[str] = []
        self.tools: Tools = agent_tools(self.around, clock=Clock(), report=self.reported.append)

    def configure(self, text: str) -> None:
        (self.root / "m" / "config.toml").write_text(text)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Answer:
        return self.tools.call(name, arguments or {}, str(self.project))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_embedded_platform_is_searched_without_a_daemon(machine: Machine) -> None:
    """Nothing found in its file is an answer, and says who gave it."""
    answer = machine.call("search_memories", {"query": "how to ship"})
    assert not answer.is_error
    assert answer.structured is not None
    assert (answer.structured["source"], answer.structured["memories"]) == ("local", [])


def test_another_platform_needs_the_daemon(machine: Machine) -> None:
    """Its memories are not here: that is a failed search, with what to do."""
    machine.configure('[platform]\nkind = "mem0-server"\nurl = "http://127.0.0.1:9"\n')
    answer = machine.call("search_memories", {"query": "how to ship"})
    assert answer.is_error
    assert "Memory search failed. The daemon is not running. Start it with `memsyncd run`." in answer.text


def test_where_the_user_wants_one_search_a_session_the_server_answers_one(machine: Machine) -> None:
    """One that was wrong or failed does not count, notes are not meant, and a change of mind counts at once
    (facts 7.16)."""
    question = {"query": "how to ship"}
    machine.configure(
        '[recall]\nonce_per_session = true\n[platform]\nkind = "mem0-server"\nurl = "http://127.0.0.1:9"\n'
    )
    assert "not running" in machine.call("search_memories", question).text
    machine.configure("[recall]\nonce_per_session = true\n")
    assert machine.call("search_memories", {"query": " "}).is_error
    assert not machine.call("search_memories", question).is_error
    again = machine.call("search_memories", question)
    assert again.is_error and "one search a session" in again.text
    assert not machine.call("memory_search", question).is_error
    machine.configure("")
    assert not machine.call("search_memories", question).is_error


def test_a_wrong_configuration_holds_everything_that_could_be_excluded(machine: Machine) -> None:
    """Nobody knows then which projects are excluded."""
    machine.configure("exclud = []\n")
    answer = machine.call("search_memories", {"query": "how to ship"})
    assert answer.is_error
    assert "memsyncd config check" in answer.text
    assert machine.call("memory_remember", {"key": "k", "value": "v"}).is_error
    assert not machine.call("memory_stats").is_error


def test_a_pause_holds_from_the_next_call_on(machine: Machine) -> None:
    """A server that has been running for days sees it (facts 13.11 is what not to do)."""
    assert not machine.call("memory_remember", {"key": "k", "value": "v"}).is_error
    marker = machine.root / "m" / "paused"
    marker.touch()
    assert "paused" in machine.call("memory_recall", {"key": "k"}).text
    assert machine.call("search_memories", {"query": "q"}).is_error
    marker.unlink()
    assert not machine.call("memory_recall", {"key": "k"}).is_error


def test_an_exclusion_holds_from_the_next_call_on(machine: Machine) -> None:
    """Also through a link to the project."""
    assert not machine.call("search_memories", {"query": "q"}).is_error
    machine.configure(f'exclude = ["{machine.project}"]\n')
    assert "excluded" in machine.call("search_memories", {"query": "q"}).text
    link = machine.root / "link"
    link.symlink_to(machine.project)
    assert machine.tools.call("memory_remember", {"key": "k", "value": "v"}, str(link)).is_error
    assert NoteStore(machine.around.places().memory_file, Clock()).stats().total == 0


def test_the_queue_is_told_from_the_files(machine: Machine) -> None:
    """What waits while the daemon is down, and what to do."""
    pending = machine.root / "m" / "spools" / "claude-code" / "pending"
    pending.mkdir(parents=True)
    (pending / "1.json").write_text("{}")
    answer = machine.call("memory_queue_status")
    assert answer.structured is not None
    assert answer.structured["state"] == "down"
    assert answer.structured["waiting"]["handoffs"] == 1
    assert [each["code"] for each in answer.structured["to_do"]] == ["not-running"]


def test_a_daemon_that_does_not_answer_is_asked_once(machine: Machine) -> None:
    """The queue is told from the files, with that among what is to be done, and a search has failed; no answer has a
    path in it."""
    places = machine.around.places()
    places.runtime.mkdir(parents=True, mode=0o700)
    asked: list[int] = []

    def hang_up(listening: socket.socket) -> None:
        with suppress(OSError):  # the end of the test
            while True:
                connection, _ = listening.accept()
                asked.append(1)  # before the caller can know of it
                connection.close()

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(places.status_socket))
        places.status_socket.chmod(0o600)
        listening.listen()
        threading.Thread(target=hang_up, args=(listening,), daemon=True).start()
        queue = machine.call("memory_queue_status")
        assert not queue.is_error
        assert queue.structured is not None
        assert len(queue.structured["to_do"]) >= 1
        assert len(asked) == 1
        found = machine.call("search_memories", {"query": "q"})
        assert found.is_error
        assert "The daemon is there and does not answer." in found.text
        assert str(machine.root) not in found.text
        listening.shutdown(socket.SHUT_RDWR)


def test_the_store_is_private_from_its_first_note(machine: Machine) -> None:
    """A server may be the first of memsyncd that runs on a machine."""
    machine.call("memory_remember", {"key": "k", "value": "v"})
    assert (machine.root / "m").stat().st_mode & 0o777 == 0o700
    assert (machine.root / "m" / "memory.sqlite3").stat().st_mode & 0o777 == 0o600
    assert machine.reported == []


GUARD = """
import importlib, pkgutil, sys
import daemon, jobs, memsyncd
OWN = ("daemon.cli.mcp", "daemon.agent_tools", "memsyncd.mcp_server", "daemon.__main__")
for package in (daemon, jobs, memsyncd):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.startswith(OWN):
            importlib.import_module(found.name)
print(sorted({"mcp", "mcp_types", "pydantic", "starlette", "uvicorn"} & set(sys.modules)))
"""


def test_nothing_but_the_server_imports_the_sdk() -> None:
    """It takes most of a second and 50 MB: neither the daemon nor a hook nor another command may load it."""
    done = subprocess.run([sys.executable, "-c", GUARD], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
