"""What holds for a whole run."""

import os
from collections.abc import Generator, Iterator

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

settings.register_profile(
    "beside others",
    # Both look at the wall's clock: what they find slow is a busy machine.
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("beside others")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Begin and end each test with the umask of a login: one that a test, or a thread of the code that it calls, had left
    closed what later tests made in the same worker, so that a booted system's bus could not read its own files."""
    os.umask(0o022)
    yield
    os.umask(0o022)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test that is marked `no_cover` without any tracing. pytest-cov sets aside its own coverage; in a worker there
    are others below, which would go on: what starts in any process of the run, and one of pytest-cov for a run without
    workers."""
    aside: list[Coverage] = []
    while item.get_closest_marker("no_cover") and (running := Coverage.current()):
        running.stop()
        aside.append(running)
    try:
        return (yield)
    finally:
        for stopped in reversed(aside):
            stopped.start()
