"""Machines for the tests: one for each, booted in about a second."""

import os
import warnings
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


def booted() -> Machine:
    """Return a machine that is up. One that did not come up is thrown away, told of in the run's warnings with all that
    is known of it, and followed by one other: what is tested is memsyncd, not a first boot beside everything else."""
    for last in (False, True):
        made = Machine()
        try:
            made.boot()
        except CannotBoot as error:
            made.close()
            if last:
                cannot(str(error))
            warnings.warn(f"booted anew: {error}", stacklevel=1)
        else:
            return made
    raise AssertionError


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Give a machine that is up, with two accounts and memsyncd in /opt/memsyncd."""
    if why := why_not():
        cannot(why)
    made = booted()
    try:
        yield made
    finally:
        made.close()
