"""Servers for the tests of the status socket."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.status_socket.serving import (
    HASTY,
    SMALL,
    Served,
)


@pytest.fixture
def short() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def served(short: Path) -> Iterator[Served]:
    running = Served(short / "run/status.sock", SMALL)
    yield running
    running.stop()


@pytest.fixture
def hasty(short: Path) -> Iterator[Served]:
    running = Served(short / "run/status.sock", HASTY)
    yield running
    running.stop()
