"""Fixtures of the shared queue's tests."""

from collections.abc import Iterator

import pytest

from tests.jobs.queue.fleet import Fleet, a_fleet


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """Give a database without machines yet."""
    with a_fleet() as made:
        yield made
