"""PostgreSQL's errors, mapped once."""

import re
from enum import Enum
from typing import Any

import psycopg

from jobs.queue.errors import NotLetIn, QueueUnavailable
from jobs.queue.shared_queue import UNUSABLE


class Fault(Enum):
    """What an error of the driver says.

    OURS: the statement or its values are wrong. CONFLICT: two transactions met; this one did not happen and may run
    again at once. STORE: the server will not do it now. LOST: the connection is gone, and with it the answer.
    """

    OURS = "ours"
    CONFLICT = "conflict"
    STORE = "store"
    LOST = "lost"


_FAULTS = {
    "40001": Fault.CONFLICT,  # serialization failure
    "40P01": Fault.CONFLICT,  # deadlock
    "57014": Fault.STORE,  # cancelled: it took too long
    "25006": Fault.LOST,  # the server has become a standby
    "25P03": Fault.LOST,  # this process stood still within a transaction
    "42501": Fault.STORE,  # no rights
    "42P01": Fault.STORE,  # the tables are gone
    "42883": Fault.STORE,  # as above, the functions
}
"""By SQLSTATE. After these, by its class:"""

_FAULTS_OF_CLASSES = {
    "08": Fault.LOST,  # connection exception
    "57": Fault.LOST,  # operator intervention: shutting down, crashed, starting
    "28": Fault.STORE,  # not let in
    "3D": Fault.STORE,  # no such database
    "3F": Fault.STORE,  # no such schema
    "53": Fault.STORE,  # no room, no memory, too many connections
    "55": Fault.STORE,  # locked for too long
    "58": Fault.STORE,  # the system
    "XX": Fault.STORE,  # damage
}


def fault_of(error: psycopg.Error, connection: "psycopg.Connection[Any] | None") -> Fault:
    """Return what `error` says; `connection` is the one it came from, None where there never was one."""
    if connection is None or connection.closed or connection.broken:
        return Fault.LOST
    state = error.sqlstate or ""
    return _FAULTS.get(state) or _FAULTS_OF_CLASSES.get(state[:2], Fault.OURS)


_REFUSALS = re.compile(
    "authentication failed|password supplied|pg_hba|does not exist|not permitted to log in|permission denied"
    "|certificate"
)
"""The words of a server, or of libpq, for what a new try alone does not mend. A refused connection has no SQLSTATE; a
server that speaks another language is told as one that cannot be reached, with its own words."""

_REFUSING_CLASSES = ("28", "3D", "3F", "42501")


def unavailable(error: psycopg.Error) -> QueueUnavailable:
    """Return our error for the driver's: its first line, and the state's code."""
    first = str(error).strip().partition("\n")[0].removeprefix("connection failed: ") or type(error).__name__
    told = f"{UNUSABLE}{first}" + (f" ({error.sqlstate})" if error.sqlstate else "")
    is_refused = error.sqlstate.startswith(_REFUSING_CLASSES) if error.sqlstate else _REFUSALS.search(first)
    return NotLetIn(told) if is_refused else QueueUnavailable(told)
