"""Machines of one fleet: real daemons with their waits cut short (hurried_fleet.py), on one shared queue."""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.conftest import Home
from tests.fakes.mem0_api import FakeMem0

Member = Callable[..., Home]

HURRIED = Path(__file__).with_name("hurried_fleet.py")


@contextmanager
def members(api: FakeMem0, queue: str) -> Iterator[Member]:
    """Give a maker of machines that share `queue`. An edge has no key; further settings are environment variables."""
    made: list[Home] = []

    def make(role: str, *, url: str = queue, start: bool = True, lease: float = 4.0, **environ: str) -> Home:
        home = Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")), api)
        home.program = [sys.executable, str(HURRIED), str(lease)]
        home.environ |= {
            "PYTHONPATH": str(HURRIED.parents[2]),
            "MEMSYNCD_QUEUE_URL": url,
            "MEMSYNCD_QUEUE_ROLE": role,
            "MEMSYNCD_PLATFORM_KIND": "mem0",
            **environ,
        }
        if role == "edge":
            del home.environ["MEM0_API_KEY"]
        made.append(home)
        if start:
            home.start()
        return home

    try:
        yield make
    finally:
        for home in made:
            home.close()


def session(home: Home, name: str, exchanges: int = 1) -> None:
    """Have an agent ask so many times, and end."""
    for number in range(exchanges):
        home.exchange(name, number)
    home.end(name)


def sent(api: FakeMem0) -> Counter[str]:
    """Count how often each prompt is on the platform."""
    return Counter(
        message["content"] for request in api.commits() for message in request["messages"] if message["role"] == "user"
    )


def problems(home: Home) -> set[str]:
    """Return the codes of a machine's problems."""
    return {each["code"] for each in home.status()["problems"]}
