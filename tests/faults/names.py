"""A machine whose names and certificates a test decides on: the daemon's own /etc/hosts, and a server that speaks TLS."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.end_to_end.conftest import Home
from tests.faults.conftest import cannot, need_root

NAME = "memory.example.test"

_INSIDE = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2 && exec "$@"'


class OwnNames:
    """Lets a home's daemon look names up in a file of its own, in a mount namespace; its name server is not there."""

    def __init__(self, home: Home) -> None:
        need_root()
        if shutil.which("unshare") is None:
            cannot("unshare is not installed")
        self._hosts = home.root / "hosts"
        self._hosts.write_text("127.0.0.1 localhost\n")
        resolver = home.root / "resolv.conf"
        resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        inside = ["unshare", "--mount", "sh", "-c", _INSIDE, "sh", str(self._hosts), str(resolver)]
        home.program = [*inside, *home.program]

    def know(self, name: str) -> None:
        """Let the name be this machine's."""
        with self._hosts.open("a") as hosts:
            hosts.write(f"127.0.0.1 {name}\n")

    def forget(self) -> None:
        """Know no name but this machine's own."""
        self._hosts.write_text("127.0.0.1 localhost\n")  # the same file, for another would not be seen inside


def certificate(place: Path, name: str) -> Path:
    """Make a certificate for `name` that signed itself, with its key in the same file."""
    if shutil.which("openssl") is None:
        cannot("openssl is not installed")
    path = place / f"{name}.pem"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "-",
        "-out",
        "-",
    ]
    words += ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    made = subprocess.run(words, capture_output=True, check=True)
    path.write_bytes(made.stdout)
    return path


class TlsFront:
    """Speaks TLS on loopback, and passes on what is inside to a port there."""

    def __init__(self, behind: int, shown: Path) -> None:
        self._behind = behind
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.show(shown)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tls-front", daemon=True)
        self.port = 0

    def show(self, path: Path) -> None:
        """Show that certificate to whoever connects from now on."""
        self._context.load_cert_chain(path)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._behind)
        try:
            await asyncio.gather(_pass_on(reader, outer), _pass_on(inner, writer))
        finally:
            for each in (outer, writer):
                each.transport.abort()
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await each.wait_closed()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
