"""What is logged while a target is tried: kept from standard output, and looked through for the secret."""

from collections import deque
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

from tests.fuzz import planted


class Logs:
    """The lines since the last look; more than a few of one input are not kept."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=50)

    def take(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        self._lines.append(repr(dict(event)))
        raise structlog.DropEvent

    def assert_clean(self) -> None:
        """Raise AssertionError where the secret is in a line."""
        while self._lines:
            planted.assert_absent(self._lines.popleft())


@contextmanager
def watched() -> Iterator[Logs]:
    """Take every line as long as this lasts."""
    logs = Logs()
    processors = structlog.get_config()["processors"]
    usual = processors[:]
    processors[:] = [logs.take]
    try:
        yield logs
    finally:
        processors[:] = usual
