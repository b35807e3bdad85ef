"""huey's PostgreSQL storage: its way to connect and its channel; claims in place of its deleting."""

from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row

from jobs.queue import hueys
from jobs.queue.errors import NotSetUp
from jobs.queue.postgres.patience import Patience, PatientConnection

hueys.let_in(psycopg)

CONNECT_SECONDS = 5
"""How long a connection may take to come about."""

STALLED_SECONDS = 10
"""A transaction whose process stands still for so long is undone by the server, and its locks are gone: a stopped
worker must not stand in the others' way."""

STATEMENT_SECONDS = 60

SILENCE_MS = 15_000
"""A server that acknowledges nothing for so long is gone. All of TCP's, as the next three; a socket file needs none."""

_PARAMETERS: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "tcp_user_timeout": SILENCE_MS,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 2,
    "application_name": "memsyncd",
    "target_session_attrs": "read-write",
}

_SETTINGS = (
    f"SET idle_in_transaction_session_timeout = '{STALLED_SECONDS}s'; SET lock_timeout = '{2 * STALLED_SECONDS}s';"
    f"SET statement_timeout = '{STATEMENT_SECONDS}s';"
    # every statement finds its rows by an index that is made for it, whatever the statistics say of a table that was
    # empty a moment ago; and it is planned once
    "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; SET jit = off"
)

Connection = PatientConnection
Cursor = psycopg.Cursor[DictRow]


class SharedStorage(hueys.PostgresStorage):
    """Gives the connections of one database, each committing by itself until told to begin.

    huey's own tables do not exist here and its reading and deleting of them is never reached:
    `jobs.queue.claiming_huey` enqueues and dequeues through the queue's claims.
    """

    blocking = True

    def __init__(self, url: str) -> None:
        """Take the URL, or what else libpq understands; nothing is connected yet."""
        given = conninfo_to_dict(url)
        parameters = {name: value for name, value in _PARAMETERS.items() if name not in given}
        connect = partial(PatientConnection.connect, url, **parameters)
        super().__init__("jobs", dsn=url, connection=connect, table_prefix="memsyncd", create_tables=False)
        self.patience = Patience()

    def connect(self) -> Connection:
        """Return a new connection. Raises psycopg.Error."""
        connection: Connection = self._connect()
        connection.patience = self.patience
        connection.row_factory = dict_row
        connection.execute(_SETTINGS)
        return connection


def place_of(url: str) -> str:
    """Return what to call the database in a sentence: no password in it. Raises NotSetUp."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise NotSetUp("it is no URL of a PostgreSQL database (not shown: it may hold a password)") from None
    return f"the shared queue {parts.get('dbname') or ''} at {parts.get('host') or 'the local socket'}"
