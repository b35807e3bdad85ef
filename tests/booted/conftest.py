"""Machines for the tests: one for each, booted in about a second."""

import os
from collections.abc import Iterator

import pytest

from tests.booted.machine import CannotBoot, Machine, why_not

REQUIRED = "MEMSYNCD_REQUIRE_BOOT"
"""Set by `.ci/run`: what cannot boot there is a failure, not a skip."""


def cannot(why: str) -> None:
    """Skip, and say why; or fail where booting is required."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"no systemd can be booted here, and {REQUIRED} is set: {why}")
    pytest.skip(f"no systemd can be booted here: {why}")


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Give a machine that is up, with two accounts and memsyncd in /opt/memsyncd."""
    if why := why_not():
        cannot(why)
    made = Machine()
    try:
        try:
            made.boot()
        except CannotBoot as error:
            cannot(str(error))
        yield made
    finally:
        made.close()
