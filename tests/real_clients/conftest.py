"""The clients' own programs, each in a fresh home beside a real daemon."""

import json
import os
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Home
from tests.real_clients.fake_models import ANSWER, COMMAND, FAILING, FakeModels

PLACE = "MEMSYNCD_REAL_CLIENTS"
"""Names the directory whose `node_modules`, and `kimi-cli`, hold the clients; `make real-clients` fills one and sets
it."""

KEPT = "the ledger of this shop is kept in cents, never in floats"
PROMPT = f"Remember: {KEPT}."
QUESTION = "How is the ledger of this shop kept, in which unit?"
"""Of a session to come; it has none of the words that only a recall can bring."""
LIMIT = 40.0
"""Seconds one question may take a client, its start among them."""

FAKE_KEY = "sk-" + "not-a-key-" * 3


@pytest.fixture(scope="session")
def clients() -> Path:
    """Return where the clients are, or skip with the reason."""
    place = os.environ.get(PLACE)
    if not place:
        pytest.skip(f"{PLACE} names no directory with the clients; `make real-clients` installs them")
    return Path(place).absolute()


class Desk(Home):
    """A person's home whose model is a fake, and whose proxy refuses every way out."""

    clients: Path
    asked = 0

    def client_program(self, name: str, place: str = "node_modules/.bin") -> str:
        """Return a client's program, or skip with the reason."""
        file = self.clients / place / name
        if not file.exists():
            pytest.skip(f"{name} is not installed in {file.parent}; `make real-clients` installs it where it can")
        return str(file)

    def install(self, harness: str) -> None:
        """Put our lines into the client's configuration."""
        done = self.run("hooks", "install", "--harness", harness)
        assert done.returncode == 0, done.stderr

    def write(self, name: str, content: str | Mapping[str, Any]) -> Path:
        """Write a file of the home; a mapping becomes JSON."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return file

    def ask(self, fake: FakeModels, *command: str, environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        """Let the client answer one question; a way out that it asks the proxy for is refused and kept in `wanted`."""
        shut = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), fake.url)
        loopback = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        self.asked += 1
        return subprocess.run(
            command,
            cwd=self.project,
            env={**self.environ, **shut, **loopback, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def assert_recorded(self, harness: str, *, ended: bool = True) -> list[dict[str, Any]]:
        """Wait for the session's end and see that all of it is in the store, went as one packet, and is found.

        Return the events' payloads: the start's, the prompt's, the command's and the answer's. Where it has not `ended`
        by a hook, the end is noticed.
        """
        self.until(lambda: self.flushes(harness), f"no end of a session of {harness} came")
        self.until_quiet()
        assert self.flushes(harness) == {"session-end": "semantic-succeeded"}
        told_end = re.search(f'"checkpoint:{harness}:(?!over[:-])', self.logged())
        assert bool(told_end) is ended, "the end was noticed, not told" if ended else "the end was told"
        told = self.events(harness)
        assert [kind for kind, _ in told] == ["session_start", "user_prompt", "tool_result", "assistant_stop"]
        start, prompt, tool, answer = (payload for _, payload in told)
        assert prompt["prompt"].strip('"') == PROMPT  # OpenCode puts quotation marks around an argument with spaces
        assert (tool["command"], tool["kind"]) == (COMMAND, "shell")
        assert answer["text"] == ANSWER
        assert not any("unfamiliar" in payload for _, payload in told), "its adapter never heard of a field"
        assert any("cents" in memory for memory in self.remembers("How is the ledger kept?"))
        return [start, prompt, tool, answer]

    def assert_failed(self, harness: str) -> None:
        """Wait until the command that failed, in a session after the first, is in the store as such."""
        self.until(lambda: "tool_failure" in dict(self.events(harness)), f"no failed tool of {harness} came")
        failed = dict(self.events(harness))["tool_failure"]
        assert (failed["command"], failed["failed"]) == (FAILING, True)
        assert not any("unfamiliar_keys" in payload for _, payload in self.events(harness))

    def has_tools(self, harness: str) -> bool:
        """Whether a tool of each session is in the store."""
        return sum(kind in ("tool_result", "tool_failure") for kind, _ in self.events(harness)) >= self.asked

    def events(self, harness: str) -> list[tuple[str, dict[str, Any]]]:
        """Return kind and payload of each event in the store."""
        file = self.spool(harness) / "evidence.sqlite3"
        if not file.exists():
            return []
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT kind, payload_json FROM events ORDER BY id").fetchall()
        return [(kind, json.loads(payload)) for kind, payload in rows]

    def flushes(self, harness: str) -> dict[str, str]:
        """Return the states of the flushes in the store by their reason."""
        file = self.spool(harness) / "evidence.sqlite3"
        if not file.exists():
            return {}
        with closing(sqlite3.connect(file)) as connection:
            return dict(connection.execute("SELECT reason, status FROM flushes"))

    def remembers(self, question: str) -> list[str]:
        """Return what the platform finds."""
        answer = self.client.post("/search", {"query": question, "cwd": str(self.project), "top_k": 10})
        return [memory["memory"] for memory in answer["memories"]]


@pytest.fixture
def desk(clients: Path) -> Iterator[Desk]:
    """On the embedded platform, with a daemon that is up."""
    home = Desk(Path(tempfile.mkdtemp(prefix="c-", dir="/tmp")))
    home.clients = clients
    try:
        home.start()
        yield home
    finally:
        home.close()
