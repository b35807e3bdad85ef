"""What every fake of an HTTP service is: a server on loopback, there while it is a context."""

from types import TracebackType
from typing import Self

from tests.fakes.loopback_http import LoopbackServer


class Listening:
    """Sets nothing up by itself: `_server` is the fake's."""

    _server: LoopbackServer

    def start(self) -> Self:
        """Listen on loopback."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop listening and cut every connection."""
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The base URL."""
        return self._server.url

    @property
    def connections(self) -> int:
        """How many connections were ever taken."""
        return self._server.connections
