"""Fixtures of the queue's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.queue.queues import FACTORIES, World


@pytest.fixture(params=sorted(FACTORIES))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Give a fresh queue of each kind."""
    with FACTORIES[request.param](tmp_path) as made:
        yield made
