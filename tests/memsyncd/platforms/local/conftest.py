"""A memory file of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memsyncd.platforms.local.stored import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give out a fresh one."""
    made = Store(tmp_path / "memory.sqlite3")
    yield made
    made.platform.close()
