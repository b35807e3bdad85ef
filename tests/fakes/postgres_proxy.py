"""What lies between a client and PostgreSQL, and breaks at a chosen moment: a Unix socket that passes everything on."""

import contextlib
import socket
import threading
from pathlib import Path

SOCKET = ".s.PGSQL.5432"
"""What libpq calls the socket in its host's directory."""

COMMITTED = b"COMMIT\0"
"""What the server's answer to a commit holds."""


class PostgresProxy:
    """Listens in `directory` and leads to the server that listens in `server`."""

    def __init__(self, directory: Path, server: Path) -> None:
        self.directory = directory
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(directory / SOCKET))
        self._listener.listen()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.answers_to_lose = 0
        """So many answers to commits are taken from the server and not passed on; the connection breaks there."""
        self.commits_to_lose = 0
        """So many commits are not passed on to the server; the connection breaks there."""
        self.is_down = False
        """New connections break at once, as does one at which something gets lost."""
        self.goes_down = False
        """Whether what is lost next takes the whole line down."""
        self.lost = threading.Event()
        """Set when something was lost."""
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, server_url: str) -> str:
        """Return the server's URL, by this way."""
        return server_url.replace(str(self._server), str(self.directory))

    def break_all(self) -> None:
        """Break every connection there is."""
        with self._lock:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Break everything, and take no more."""
        self.is_down = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.break_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_down:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._server / SOCKET))
            except OSError:
                server.close()
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            if self.is_down:  # since the look above
                self.break_all()
            for source, sink, loses in ((client, server, self._loses_commit), (server, client, self._loses_answer)):
                threading.Thread(target=self._pass_on, args=(source, sink, loses), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, loses: "object") -> None:
        assert callable(loses)
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if loses(data):
                    self.is_down |= self.goes_down
                    self.lost.set()
                    break
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            with self._lock:
                self._open.discard(each)
        source.close()

    def _loses_answer(self, data: bytes) -> bool:
        return COMMITTED in data and self._is_one_of("answers_to_lose")

    def _loses_commit(self, data: bytes) -> bool:
        return COMMITTED in data and self._is_one_of("commits_to_lose")

    def _is_one_of(self, name: str) -> bool:
        """Whether there is one more to lose; counted by one connection at a time."""
        with self._lock:
            left: int = getattr(self, name)
            setattr(self, name, max(0, left - 1))
        return left > 0
