"""A proxy as companies have it: it opens every TLS connection, under certificates of an authority of its own."""

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_AUTHORITY = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Corner-Authority"
_CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -CA ca.pem -CAkey ca.key"
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass
class InterceptingProxy:
    """It says of every host that it is `host`, and passes what it reads on to `port` of this machine in the clear.

    `authority` is the certificate to believe, in a file below `directory`. `asked` has the first line of every
    connection. Raises OSError and CalledProcessError where there is no openssl command that can make certificates.
    """

    directory: Path
    host: str
    port: int
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.authority = self.directory / "ca.pem"
        self._run(f"{_AUTHORITY} -keyout ca.key -out ca.pem")
        self._run(f"{_CERTIFICATE} -subj /CN={self.host} -addext subjectAltName=DNS:{self.host} -keyout k -out c")
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.directory / "c", self.directory / "k")
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        """What to set as the proxy."""
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        """Take no more connections."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _run(self, command: str) -> None:
        subprocess.run(command.split(), cwd=self.directory, check=True, capture_output=True, timeout=20)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def _tunnel(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            asked = client.recv(4096)
            if not asked:  # a client that was stopped before it had asked
                return
            self.asked.append(asked.split(b"\r\n")[0].decode())
            client.sendall(_ESTABLISHED)
            with (
                self._context.wrap_socket(client, server_side=True) as inside,
                socket.create_connection(("127.0.0.1", self.port)) as server,
            ):
                back = threading.Thread(target=_pump, args=(server, inside), daemon=True)
                back.start()
                _pump(inside, server)
                back.join(60)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def intercepting_proxy(directory: Path, host: str, port: int) -> Iterator[InterceptingProxy]:
    """Give one, and close it."""
    proxy = InterceptingProxy(directory, host, port)
    try:
        yield proxy
    finally:
        proxy.close()
