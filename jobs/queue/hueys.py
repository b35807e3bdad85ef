"""The one door to huey: what we use of it, without the drivers it would load only because they are installed.

huey's module of stores imports psycopg, redis and cysqlite wherever it finds them: psycopg alone is 17 MB in a daemon
that has its queue in a file.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_DRIVERS = ("psycopg", "redis", "cysqlite")


@contextmanager
def _without_drivers() -> Iterator[None]:
    """Let imports of the drivers fail for a moment, except of those that are loaded already."""
    hidden = [name for name in _DRIVERS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: as if it were not there
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _without_drivers():
    import huey.storage
    from huey.api import Huey, Task
    from huey.consumer import Consumer, Scheduler, Worker
    from huey.registry import Registry
    from huey.serializer import Serializer
    from huey.storage import PostgresStorage, SqliteStorage

__all__ = (
    "Consumer",
    "Huey",
    "PostgresStorage",
    "Registry",
    "Scheduler",
    "Serializer",
    "SqliteStorage",
    "Task",
    "Worker",
)


def let_in(psycopg: ModuleType) -> None:
    """Give huey's PostgreSQL store its driver, once somebody has reason to load it."""
    huey.storage.psycopg = psycopg  # type: ignore[attr-defined]  # huey has no types
