"""A server over a real store of notes, with a search and a queue that tests decide, asked by the SDK's own client."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp import Client
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult

from memsyncd.clock import Clock
from memsyncd.mcp_server.calling import Calling
from memsyncd.mcp_server.note_tools import note_tools
from memsyncd.mcp_server.project import project_of
from memsyncd.mcp_server.queue_tool import QueueState, queue_tool
from memsyncd.mcp_server.search_tool import Found, Question, search_tool
from memsyncd.mcp_server.server import build
from memsyncd.mcp_server.tools import Tools
from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools

Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")
"""The client's names: `auto` speaks 2026-07-28, `legacy` the handshake of 2025-11-25."""

PROJECT = "/srv/shop"


@dataclass
class Served:
    """What the server stands on, and what became of it."""

    directory: Path
    search: Callable[[Question], Found] = lambda _: Found((), "local")
    queue: Callable[[], QueueState] = lambda: QueueState({"state": "ok", "summary": "Nothing waits."})
    hold: Callable[[str], str | None] = lambda _: None
    budget: int = 4_000
    deadline: float = 60.0
    reported: list[str] = field(default_factory=list)
    stores: list[NoteStore] = field(default_factory=list)

    def close(self) -> None:
        for store in self.stores:
            store.close()

    def tools(self) -> Tools:
        self.stores.append(NoteStore(self.directory / "memory.sqlite3", Clock()))
        notes = note_tools(NoteTools(self.stores[-1]))
        listed = [search_tool(self.search, budget=self.budget), *notes, queue_tool(self.queue)]
        return Tools(listed, hold=self.hold, report=self.reported.append)

    def server(self) -> Server[Any]:
        calling = Calling(deadline=self.deadline)
        return build(self.tools(), calling, project=lambda meta: project_of(meta, PROJECT))

    def ask(self, work: Callable[[Client], Awaitable[Any]], mode: Mode = "auto") -> Any:
        """Run `work` with a client that is connected in this process."""

        async def run() -> Any:
            async with Client(self.server(), mode=mode) as client:
                return await work(client)

        return anyio.run(run)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, mode: Mode = "auto") -> CallToolResult:
        result: CallToolResult = self.ask(lambda client: client.call_tool(name, dict(arguments or {})), mode)
        return result


def text(result: CallToolResult) -> str:
    """Return the text of an answer."""
    assert [block.type for block in result.content] == ["text"]
    return str(getattr(result.content[0], "text", ""))
