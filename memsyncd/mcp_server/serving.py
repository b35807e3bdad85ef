"""A server on the wire: lines in, lines out, and an end soon after the client's (never-again 128)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from memsyncd.mcp_server.conversation import Conversation
from memsyncd.mcp_server.lines import LineSplitter, TooLong
from memsyncd.mcp_server.messages import Refusal, parsed
from memsyncd.mcp_server.wire import Wire

GRACE_SECONDS = 0.7
"""For calls under way when input ends: their answers are still written (a client may close it to say it is done)."""

Received = MemoryObjectSendStream[SessionMessage | Exception]
Sent = MemoryObjectReceiveStream[SessionMessage]


async def serve(server: Server[Any], wire: Wire, *, ended: Callable[[], None], lost: Callable[[], None]) -> None:
    """Serve one client until its input ends and what it asked is answered, or GRACE_SECONDS are over.

    `ended` is called at once when input ends, from another thread; `lost` when nobody reads what is written.
    """
    async with _streams(wire, ended, lost) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


@asynccontextmanager
async def _streams(
    wire: Wire, ended: Callable[[], None], lost: Callable[[], None]
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
]:
    received, to_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    conversation = Conversation()
    loop = asyncio.get_running_loop()
    refusals = sent.clone()

    async def take(line: bytes | TooLong) -> None:
        message = parsed(line)
        if not isinstance(message, Refusal):
            message = conversation.asked(message, len(line) if isinstance(line, bytes) else 0)
        if isinstance(message, Refusal):
            await refusals.send(SessionMessage(message.answer))
        else:
            await received.send(SessionMessage(message))

    async def finish() -> None:
        with anyio.move_on_after(GRACE_SECONDS):
            await conversation.all_answered()
        received.close()
        refusals.close()

    thread = threading.Thread(target=_read, args=(wire, loop, take, finish, ended), name="mcp-input", daemon=True)
    async with anyio.create_task_group() as group:
        group.start_soon(_write, wire, to_client, conversation, lost)
        thread.start()
        yield to_server, sent


def _read(
    wire: Wire,
    loop: asyncio.AbstractEventLoop,
    take: Callable[[bytes | TooLong], Any],
    finish: Callable[[], Any],
    ended: Callable[[], None],
) -> None:
    """Hand over every line, in order, in a thread of its own: reading cannot be cancelled."""
    splitter = LineSplitter()
    try:
        while data := wire.read():
            for line in splitter.feed(data):
                asyncio.run_coroutine_threadsafe(take(line), loop).result()
        ended()
        for line in splitter.end():
            asyncio.run_coroutine_threadsafe(take(line), loop).result()
        asyncio.run_coroutine_threadsafe(finish(), loop).result()
    except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError, asyncio.CancelledError):
        return  # the server has ended before its input


async def _write(wire: Wire, to_client: Sent, conversation: Conversation, lost: Callable[[], None]) -> None:
    async with to_client:
        async for each in to_client:
            try:
                await anyio.to_thread.run_sync(wire.write, _encoded(each.message), abandon_on_cancel=True)
            except OSError:
                lost()
                return
            conversation.answered(each.message)


def _encoded(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # what no JSON can hold: better an error than a client that waits
        asked = message.id if isinstance(message, JSONRPCResponse | JSONRPCRequest | JSONRPCError) else None
        error = ErrorData(code=INTERNAL_ERROR, message="The answer cannot be written as JSON")
        return JSONRPCError(jsonrpc="2.0", id=asked, error=error).model_dump_json(by_alias=True).encode() + b"\n"
