"""A server on pipes: what comes back line by line, and how it ends."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from memsyncd.mcp_server import serving, watching
from memsyncd.mcp_server.conversation import MAX_UNANSWERED
from memsyncd.mcp_server.lines import MAX_LINE_BYTES
from memsyncd.mcp_server.search_tool import Found, Question
from memsyncd.mcp_server.wire import Wire
from tests.memsyncd.mcp_server.served import Served

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
PATIENCE = 60.0


class OnPipes:
    """A server in a thread, and the client's ends of its pipes."""

    def __init__(self, served: Served) -> None:
        self.ended, self.lost = threading.Event(), threading.Event()
        incoming, self._to = os.pipe()
        self._from, outgoing = os.pipe()
        self._wire = Wire(incoming, outgoing)
        self.to_server = os.fdopen(self._to, "wb", buffering=0)
        self.from_server = os.fdopen(self._from, "rb")
        server = served.server()
        self._thread = threading.Thread(
            target=lambda: anyio.run(
                lambda: serving.serve(server, self._wire, ended=self.ended.set, lost=self.lost.set)
            )
        )
        self._thread.start()

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.to_server.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def call(self, number: int, name: str, **arguments: Any) -> None:
        params = {"name": name, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def answer(self) -> dict[str, Any]:
        line = self.from_server.readline()
        assert line.endswith(b"\n"), line
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        """End the input and wait for the server."""
        self.to_server.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def close(self) -> None:
        self.to_server.close()
        self._thread.join(PATIENCE)
        self.from_server.close()
        for descriptor in (self._wire.incoming, self._wire.outgoing):
            os.close(descriptor)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.close()


@pytest.fixture
def pipes(served: Served) -> Iterator[OnPipes]:
    pipes = OnPipes(served)
    yield pipes
    pipes.close()


def test_every_line_that_may_be_a_request_is_answered(pipes: OnPipes) -> None:
    """Bad lines get errors, blank ones nothing, and the good ones after them are served."""
    pipes.send(b"\n", b"{nonsense\n", b"[1]\n", HELLO, {"jsonrpc": "2.0", "id": 1, "method": "no/such"})
    answers = [pipes.answer() for _ in range(4)]
    assert [answer["id"] for answer in answers] == [None, None, 0, 1]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32700, -32600, None, -32601]


def test_a_message_that_is_too_long_is_refused_by_its_id(pipes: OnPipes) -> None:
    """Its client learns it, and the next message is served."""
    pipes.send(HELLO)
    pipes.answer()
    pipes.call(1, "memory_remember", key="k", value="v" * (MAX_LINE_BYTES + 1))
    assert pipes.answer() == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32600, "message": "The message has more than 8,388,608 bytes"},
    }
    pipes.call(2, "memory_stats")
    assert pipes.answer()["id"] == 2


def test_what_was_asked_before_the_end_of_input_is_answered(pipes: OnPipes) -> None:
    """A client may close its side to say that it is done, and without a last line feed."""
    remember = {"name": "memory_remember", "arguments": {"key": "k", "value": "v"}}
    calls = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": remember} for n in range(1, 51)]
    pipes.send(HELLO, "\n".join(map(json.dumps, calls)).encode())
    pipes.end()
    assert pipes.ended.is_set()
    answers = [pipes.answer() for _ in range(51)]
    assert sorted(answer["id"] for answer in answers) == list(range(51))
    assert all("result" in answer for answer in answers)


class Hanging(OnPipes):
    """A server, greeted, whose searches do not come back before they are `released`."""

    def __init__(self, served: Served) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        served.search = self._search
        super().__init__(served)
        self.send(HELLO)
        self.answer()

    def _search(self, _: Question) -> Found:
        self.begun.set()
        self.released.wait()
        return Found((), "local")


@pytest.fixture
def hanging(served: Served) -> Iterator[Hanging]:
    hanging = Hanging(served)
    yield hanging
    hanging.released.set()
    hanging.close()


def test_a_call_that_hangs_does_not_hold_the_end(hanging: Hanging) -> None:
    """After a moment of grace the server is gone, whatever still runs."""
    hanging.call(1, "search_memories", query="q")
    assert hanging.begun.wait(PATIENCE)
    hanging.end()


def test_a_cancelled_call_holds_nothing(hanging: Hanging) -> None:
    """It is not answered, and the end of input does not wait for it."""
    hanging.call(1, "search_memories", query="q")
    assert hanging.begun.wait(PATIENCE)
    hanging.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    hanging.call(2, "memory_queue_status")
    assert hanging.answer()["id"] == 2
    hanging.end()


def test_a_client_that_asks_without_end_is_refused_and_not_buffered(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many requests wait at most; the rest is told to come back."""
    assert MAX_UNANSWERED >= 100
    most = 100
    monkeypatch.setattr("memsyncd.mcp_server.conversation.MAX_UNANSWERED", most)
    for number in range(1, most + 2):
        hanging.call(number, "search_memories", query="q")
    refused = hanging.answer()
    assert (refused["id"], refused["error"]["code"]) == (most + 1, -32000)
    hanging.released.set()
    assert {hanging.answer()["id"] for _ in range(most)} == set(range(1, most + 1))


def test_a_reader_that_is_gone_is_noticed_when_writing(pipes: OnPipes) -> None:
    """The server has nobody left to serve."""
    pipes.from_server.close()
    pipes.send(HELLO)
    assert pipes.lost.wait(PATIENCE)


def test_a_reader_that_is_gone_is_noticed_without_writing() -> None:
    """Nothing has to happen for it."""
    reader, writer = os.pipe()
    told: list[str] = []
    thread = watching.watch(writer, gone=told.append)
    os.close(reader)
    thread.join(PATIENCE)
    os.close(writer)
    assert told == ["nobody reads standard output"]


def test_another_parent_means_that_the_client_has_ended() -> None:
    """Whoever else holds the pipes open is not the client."""
    reader, writer = os.pipe()
    parents = iter([100, 100, 1])
    told: list[str] = []
    watching.watch(writer, gone=told.append, parent=lambda: next(parents), every=0.01).join(PATIENCE)
    os.close(reader)
    os.close(writer)
    assert told == ["the parent process has ended"]
