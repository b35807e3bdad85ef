"""`memsyncd mcp` as clients start it: the SDK's own over stdio, others by raw lines, and how it ends with each."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.end_to_end.conftest import Home

GONE_WITHIN = 20.0
"""Seconds a server may outlive its client: under 2 (clients wait so long before they signal), and a busy machine's."""

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}

NOISY = """
import os, subprocess, sys, threading, time, warnings, atexit
def noise():
    while "memsyncd.mcp_server.serving" not in sys.modules:
        time.sleep(0.001)
    while True:
        print("noise of a library")
        os.write(1, b"noise past Python\\n")
        subprocess.run(["echo", "noise of a child"], check=False)
        warnings.warn("noise of a warning", stacklevel=1)
        time.sleep(0.005)
if "mcp" in sys.argv or "mcp" in sys.orig_argv:
    threading.Thread(target=noise, daemon=True).start()
    atexit.register(print, "noise at the end")
"""

PARENT = """
import subprocess, sys, time
server = subprocess.Popen([sys.executable, "-m", "daemon", "mcp"])
print(server.pid, file=sys.stderr, flush=True)
time.sleep(600)
"""


class Raw:
    """A server and its pipes, spoken to line by line."""

    def __init__(self, home: Home, command: tuple[str, ...] = ("-m", "daemon", "mcp"), **environ: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**home.environ, **environ},
            cwd=home.project,
        )
        self.number = 0

    def send(self, method: str, params: Any = None, *, notify: bool = False) -> int:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
        if not notify:
            self.number += 1
            message["id"] = self.number
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.number

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        number = self.send(method, params)
        answer = self.answer()
        assert answer["id"] == number
        return answer

    def greet(self) -> None:
        assert "result" in self.ask("initialize", HELLO)
        self.send("notifications/initialized", notify=True)

    def gone(self) -> float:
        """Return how many seconds it takes until the server is gone."""
        begun = time.monotonic()
        self.process.wait(60)
        return time.monotonic() - begun

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()


@pytest.fixture
def raw(home: Home) -> Iterator[Raw]:
    raw = Raw(home)
    yield raw
    raw.close()


def with_client(home: Home, work: Callable[[Client], Awaitable[Any]], mode: Any = "auto") -> Any:
    """Run `work` with the SDK's client over stdio."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "daemon", "mcp"], env=home.environ, cwd=home.project
    )

    async def run() -> Any:
        async with Client(server, mode=mode) as client:
            return await work(client)

    return anyio.run(run)


def test_an_agent_finds_what_an_earlier_session_learnt(home: Home) -> None:
    """From a hook's handoff to the answer of a tool, through the daemon, with the SDK's own client in both eras."""
    home.start()
    home.exchange("s-1", 1, prompt="We decided to ship with make ship, never by hand.", answer="Noted: make ship.")
    home.end("s-1")
    home.until_quiet()

    async def look(client: Client) -> tuple[Any, Any, Any]:
        tools = await client.list_tools()
        found = await client.call_tool("search_memories", {"query": "how do we ship"})
        return tools, found, await client.call_tool("memory_queue_status", {})

    for mode in ("auto", "legacy"):
        tools, found, queue = with_client(home, look, mode)
        assert len(tools.tools) == 9
        assert not found.is_error
        assert "make ship" in found.content[0].text
        assert any("make ship" in memory["memory"] for memory in found.structured_content["memories"])
        assert queue.structured_content["state"] == "ok"
        assert queue.structured_content["failed"] == []


def test_the_handshake_by_raw_lines(raw: Raw) -> None:
    """2025-11-25: nothing but the handshake first, then tools. With its input it ends, and has said nothing else."""
    assert raw.ask("tools/list")["error"]["code"] == -32602
    assert raw.ask("initialize", HELLO)["result"]["protocolVersion"] == "2025-11-25"
    raw.send("notifications/initialized", notify=True)
    assert raw.ask("ping")["result"] == {}
    assert len(raw.ask("tools/list")["result"]["tools"]) == 9
    kept = raw.ask("tools/call", {"name": "memory_remember", "arguments": {"key": "k", "value": "v"}})["result"]
    assert not kept["isError"]
    wrong = raw.ask("tools/call", {"name": "memory_remember", "arguments": {"key": "k"}})["result"]
    assert wrong["isError"]
    assert "needs value" in wrong["content"][0]["text"]
    assert raw.ask("no/such")["error"]["code"] == -32601
    _end_of_input(raw)
    assert raw.gone() < GONE_WITHIN
    assert raw.process.returncode == 0
    assert raw.process.stderr is not None
    assert raw.process.stderr.read() == b""


def test_requests_without_handshake_and_an_output_that_is_protocol_only(home: Home, tmp_path: Path) -> None:
    """2026-07-28: each request carries its envelope; discovery names the version, results say that they are whole.
    Whatever libraries, children, warnings and exit handlers print meanwhile stands on standard error."""
    (tmp_path / "sitecustomize.py").write_text(NOISY)
    raw = Raw(home, PYTHONPATH=f"{tmp_path}{os.pathsep}{os.getcwd()}")
    try:
        found = raw.ask("server/discover", {"_meta": META})["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        listed = raw.ask("tools/list", {"_meta": META})["result"]
        assert (len(listed["tools"]), listed["resultType"], listed["cacheScope"]) == (9, "complete", "public")
        assert listed["ttlMs"] > 0
        for number in range(10):
            note = {"key": f"k{number}", "value": "v"}
            kept = raw.ask("tools/call", {"name": "memory_remember", "arguments": note, "_meta": META})
            assert not kept["result"]["isError"]
        told = raw.ask("tools/call", {"name": "memory_queue_status", "arguments": {}, "_meta": META})["result"]
        assert told["resultType"] == "complete"
        assert told["structuredContent"]["state"] == "down"
        assert raw.ask("tools/list")["error"]["code"] == -32602
        assert raw.ask("initialize", HELLO)["error"]["code"] == -32022
        out, err = raw.process.communicate(timeout=60)
    finally:
        raw.close()
    assert out == b""
    assert raw.process.returncode == 0
    for noise in (b"noise of a library", b"noise past Python", b"noise of a child", b"noise of a warning"):
        assert noise in err


def raw_stats(raw: Raw) -> bool:
    """Ask something else: once it is answered, what was asked before it is under way."""
    return "result" in raw.ask("tools/call", {"name": "memory_stats", "arguments": {}})


def _end_of_input(raw: Raw) -> None:
    assert raw.process.stdin is not None
    raw.process.stdin.close()


def _nobody_reads(raw: Raw) -> None:
    assert raw.process.stdout is not None
    raw.process.stdout.close()


def _terminate(raw: Raw) -> None:
    raw.process.terminate()


def test_it_ends_when_its_parent_is_killed(home: Home) -> None:
    """Though somebody else still holds its pipes open."""
    raw = Raw(home, ("-c", PARENT))
    try:
        assert raw.process.stderr is not None
        assert int(raw.process.stderr.readline()) > 0
        raw.greet()
        raw.process.kill()
        begun = time.monotonic()
        assert raw.process.stdout is not None
        assert raw.process.stdout.read() == b""  # ends once the server has let go of it
        assert time.monotonic() - begun < GONE_WITHIN
    finally:
        raw.close()


@pytest.fixture
def hanging(home: Home) -> Iterator[None]:
    """Give a socket where the daemon's should be, which takes connections and answers none."""
    home.places.runtime.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home.places.status_socket))
        home.places.status_socket.chmod(0o600)
        listening.listen()
        yield


@pytest.mark.usefixtures("hanging")
def test_several_servers_keep_every_note_and_end_while_a_tool_runs(home: Home) -> None:
    """Each agent has a server of its own on the one file: of three times twenty notes all are there (never-again 126).
    A daemon that hangs holds up a search, and no server's end, whichever way its client leaves (never-again 128)."""
    servers = [Raw(home) for _ in range(3)]
    try:
        for server in servers:
            server.greet()
        for number in range(20):
            for index, server in enumerate(servers):
                note = {"key": f"k-{index}-{number}", "value": "v"}
                server.send("tools/call", {"name": "memory_remember", "arguments": note})
        for server in servers:
            assert not any(server.answer()["result"]["isError"] for _ in range(20))
        figures = {"name": "memory_stats", "arguments": {"format": "json"}}
        told = servers[0].ask("tools/call", figures)["result"]["content"][0]["text"]
        assert json.loads(told)["total_entries"] == 60
        for server, leave in zip(servers, (_end_of_input, _nobody_reads, _terminate), strict=True):
            server.send("tools/call", {"name": "search_memories", "arguments": {"query": "anything"}})
            assert raw_stats(server)
            leave(server)
            assert server.gone() < GONE_WITHIN
    finally:
        for server in servers:
            server.close()
