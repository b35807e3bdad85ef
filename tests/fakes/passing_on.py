"""Passes TCP connections on: `python -m tests.fakes.passing_on READY ADDRESS:PORT=WHERE …` makes the file READY when it
listens. WHERE is ADDRESS:PORT, or a Unix socket's path. Ends at SIGTERM."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

CHUNK = 65536


async def serve(tell: Callable[[], object], pairs: list[str]) -> None:
    """Listen, tell so, and pass on until cancelled."""
    for pair in pairs:
        here, _, there = pair.partition("=")
        address, _, port = here.partition(":")
        await asyncio.start_server(partial(_connected, there), address, int(port))
    tell()
    await asyncio.Event().wait()


async def _connected(there: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        if there.startswith("/"):
            far_reader, far_writer = await asyncio.open_unix_connection(there)
        else:
            address, _, port = there.partition(":")
            far_reader, far_writer = await asyncio.open_connection(address, int(port))
    except OSError:
        writer.transport.abort()
        return
    await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(sys.argv[1]).touch, sys.argv[2:]))
