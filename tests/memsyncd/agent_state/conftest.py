"""Every backend of every memory, each test with all of them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memsyncd.agent_state import (
    EpisodicMemory,
    InMemoryEpisodicMemory,
    InMemoryMemoryProvider,
    InMemoryProceduralMemory,
    InMemorySessionBackend,
    ProceduralMemory,
    SessionBackend,
    SqliteEpisodicMemory,
    SqliteMemoryProvider,
    SqliteProceduralMemory,
    SqliteSessionBackend,
)
from memsyncd.clock import Clock

Result = TypeVar("Result")
Run = Callable[[Coroutine[Any, Any, Result]], Result]
Provider = InMemoryMemoryProvider | SqliteMemoryProvider


@pytest.fixture
def run() -> Iterator[Run[Any]]:
    """Run a coroutine on a loop that lasts as long as the test."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a store's file that is not there yet."""
    return tmp_path / "memory.sqlite3"


@pytest.fixture(params=["in-memory", "sqlite"])
def provider(request: pytest.FixtureRequest, path: Path) -> Iterator[Provider]:
    """Make a memory provider, at five past midnight on the first of December 2026."""
    clock = Clock(wall=lambda: 1_796_083_500.0)
    if request.param == "in-memory":
        yield InMemoryMemoryProvider(clock=clock)
        return
    made = SqliteMemoryProvider(path, clock=clock)
    yield made
    made.close()


@pytest.fixture(params=["in-memory", "sqlite"])
def episodes(request: pytest.FixtureRequest, path: Path) -> Iterator[EpisodicMemory]:
    """Make an episodic memory."""
    if request.param == "in-memory":
        yield InMemoryEpisodicMemory()
        return
    made = SqliteEpisodicMemory(path)
    yield made
    made.close()


@pytest.fixture(params=["in-memory", "sqlite"])
def procedures(request: pytest.FixtureRequest, path: Path) -> Iterator[ProceduralMemory]:
    """Make a procedural memory."""
    if request.param == "in-memory":
        yield InMemoryProceduralMemory()
        return
    made = SqliteProceduralMemory(path)
    yield made
    made.close()


@pytest.fixture(params=["in-memory", "sqlite"])
def sessions(request: pytest.FixtureRequest, path: Path) -> Iterator[SessionBackend]:
    """Make a session backend."""
    if request.param == "in-memory":
        yield InMemorySessionBackend()
        return
    made = SqliteSessionBackend(path)
    yield made
    made.close()
