"""Opening the shared queue; its driver is loaded for this alone, for an idle daemon's memory has no room for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

from jobs.queue.claims import LEASE_SECONDS
from jobs.queue.errors import NotSetUp
from jobs.queue.policy import Policy
from jobs.queue.shared_queue import Serves
from memsyncd.clock import Clock
from memsyncd.counters import Counters

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue
    from jobs.queue.postgres.sealing import Sealing


def open_shared(
    url: str,
    *,
    host: str,
    worker: str,
    clock: Clock,
    policy: Policy,
    counters: Counters,
    random: Random,
    account: str = "",
    sealing: "Sealing | None" = None,
    serves: Callable[[], Serves | None] = lambda: None,
    lease: float = LEASE_SECONDS,
) -> "PostgresQueue":
    """Return the queue of a `postgresql://` URL: jobs/queue/postgres/__init__.py tells what the arguments are.

    Raises NewerSchema, NotSetUp and QueueUnavailable.
    """
    with _driver_needed():
        from jobs.queue.postgres.queue import PostgresQueue  # noqa: PLC0415
    return PostgresQueue(
        url,
        host=host,
        worker=worker,
        clock=clock,
        policy=policy,
        counters=counters,
        random=random,
        account=account,
        sealing=sealing,
        serves=serves,
        lease=lease,
    )


def check_url(url: str) -> None:
    """See that the driver is there and understands the URL; nothing is connected. Raises NotSetUp."""
    with _driver_needed():
        from jobs.queue.postgres.storage import place_of  # noqa: PLC0415
    place_of(url)


@contextmanager
def _driver_needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise NotSetUp(f"a queue on PostgreSQL needs psycopg ({error}): pip install 'memsyncd[postgres]'") from error
