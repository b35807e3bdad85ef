"""Calls of the notes' tools: any line of the protocol, any names and arguments, answered without a fault of ours."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mcp_types import JSONRPCRequest

from memsyncd.mcp_server.lines import LineSplitter
from memsyncd.mcp_server.messages import Refusal, parsed
from memsyncd.notes.catalogue import BY_NAME
from memsyncd.notes.limits import MAX_ANSWER_CHARS
from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from tests.clocks import HandClock
from tests.fuzz import planted, seeds
from tests.fuzz.target import Target, TryOne

MOST_BYTES = 8 << 20
"""Of a store, which is then begun anew, so that it does not grow with the run."""

MOST_CALLS = 20


class _Server:
    """Answers the lines of one input as the server does, without its threads."""

    def __init__(self, place: Path) -> None:
        self.path = place / "memory.sqlite3"
        self._begin()

    def _begin(self) -> None:
        self.store = NoteStore(self.path, HandClock().clock())
        self.tools = NoteTools(self.store)

    def close(self) -> None:
        self.store.close()
        for path in self.path.parent.glob("memory.sqlite3*"):
            path.unlink()

    def try_one(self, content: bytes) -> None:
        if self.path.exists() and self.path.stat().st_size > MOST_BYTES:
            self.close()
            self._begin()
        content = planted.into(content)
        splitter = LineSplitter()
        cut = len(content) // 3
        lines = [*splitter.feed(content[:cut]), *splitter.feed(content[cut:]), *splitter.end()]
        for line in lines[:MOST_CALLS]:
            message = parsed(line)
            if isinstance(message, Refusal):
                message.answer.model_dump_json().encode()
            elif isinstance(message, JSONRPCRequest) and message.method == "tools/call":
                params = message.params or {}
                self._call(str(params.get("name")), params.get("arguments") or {})

    def _call(self, name: str, arguments: dict[str, object]) -> None:
        answer = self.tools.call(name, arguments)
        assert len(answer.text) <= MAX_ANSWER_CHARS
        answer.text.encode()
        json.dumps(answer.document, allow_nan=False)
        if not answer.is_error and name != "memory_search":
            planted.assert_absent(answer.text)


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    with closing(_Server(place)) as server:
        yield server.try_one


def inputs() -> Iterator[bytes]:
    """Yield a call of each tool, several at once, and what is no call."""
    given = {"key": "staging host", "value": "10.0.0.7 @PLANTED@ x", "namespace": "shop", "ttl_seconds": 60, "query": "staging host", "limit": 5, "format": "json"}  # fmt: skip
    calls = []
    for number, (name, tool) in enumerate(BY_NAME.items()):
        arguments = {argument.name: given[argument.name] for argument in tool.arguments if argument.name in given}
        params = {"name": name, "arguments": arguments}
        calls.append(seeds.line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))
        yield calls[-1]
    yield b"\n".join(calls)
    yield seeds.line({"jsonrpc": "2.0", "method": "notifications/initialized"}) + b"\r\n" + calls[0]
    yield b'[{"jsonrpc": "2.0"}]\n{"id": "x", "method": 5}\nno json\n' + calls[0]


WORDS = tuple(
    word.encode()
    for name, tool in BY_NAME.items()
    for word in (name, *(argument.name for argument in tool.arguments))
) + tuple(b'jsonrpc 2.0 id method params tools/call name arguments default json markdown 1e400 -1 0.5 * " NEAR( \n'.split())  # fmt: skip
TARGET = Target("note_calls", opened, inputs, WORDS, share=2)
