"""The queue's file: its table, indexes and version, created private and never touched when newer than we know."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from jobs.queue.errors import NewerSchema, unavailable
from memsyncd import damaged_file, schema_steps
from memsyncd.private_store import make_private

VERSION = 1
"""`PRAGMA user_version` of a file this program writes."""

BUSY_SECONDS = 10.0
"""How long a statement waits for another process's lock."""

WAL_BYTES = 16 * 1024 * 1024
"""What the write-ahead log is cut back to after a checkpoint (never-again 117)."""

_DDL = (
    # `head`: this ready job is the first of its lane and destination, and no other of its lane is claimed. Only heads
    # are looked at when claiming, so that a lane's or a destination's backlog is never walked through.
    # `cools`: how often in a row this job ended with its destination failing; such a job goes behind its neighbours,
    # so that an item which alone makes a destination fail is not its probe for ever.
    # `claim_epoch`: the destination's epoch when the job was claimed.
    """
    CREATE TABLE jobs (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        lane TEXT NOT NULL,
        destination TEXT NOT NULL,
        priority INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('ready', 'claimed', 'waiting', 'done', 'dead', 'cancelled')),
        head INTEGER NOT NULL DEFAULT 0,
        not_before REAL,
        attempts INTEGER NOT NULL DEFAULT 0,
        crashes INTEGER NOT NULL DEFAULT 0,
        cools INTEGER NOT NULL DEFAULT 0,
        claim_owner TEXT,
        claim_expires REAL,
        claim_epoch INTEGER,
        payload TEXT NOT NULL,
        errors TEXT NOT NULL DEFAULT '[]',
        reason TEXT NOT NULL DEFAULT '',
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        ready_since REAL
    )
    """,
    # The statements that run for each job name their index: without statistics SQLite takes jobs_changed for anything
    # that names a state, and then walks through a backlog.
    "CREATE INDEX jobs_heads ON jobs (destination, cools, priority DESC, seq) WHERE head = 1",
    "CREATE INDEX jobs_lane_heads ON jobs (lane) WHERE head = 1 AND lane <> ''",
    "CREATE INDEX jobs_lane_ready ON jobs (lane, destination, priority DESC, seq) WHERE state = 'ready' AND lane <> ''",
    "CREATE UNIQUE INDEX jobs_lane_claimed ON jobs (lane) WHERE state = 'claimed' AND lane <> ''",
    "CREATE INDEX jobs_claims ON jobs (claim_expires) WHERE state = 'claimed'",
    "CREATE INDEX jobs_due ON jobs (not_before) WHERE state = 'waiting'",
    "CREATE INDEX jobs_waiting_kind ON jobs (kind) WHERE state = 'waiting'",
    "CREATE INDEX jobs_ready_since ON jobs (destination, ready_since) WHERE state = 'ready'",
    "CREATE INDEX jobs_lane ON jobs (lane) WHERE lane <> ''",
    "CREATE INDEX jobs_changed ON jobs (state, destination, updated_at)",
    # Every destination a job ever named. `until` is not null while it cools; after that time one job goes as the
    # probe. `epoch` rises whenever a cooldown begins or ends: it tells whether a run began before or after that.
    """
    CREATE TABLE destinations (
        name TEXT PRIMARY KEY,
        until REAL,
        why TEXT NOT NULL DEFAULT '',
        code TEXT NOT NULL DEFAULT '',
        failures INTEGER NOT NULL DEFAULT 0,
        parked INTEGER NOT NULL DEFAULT 0,
        since REAL,
        last_success_at REAL,
        epoch INTEGER NOT NULL DEFAULT 0,
        probe TEXT
    ) WITHOUT ROWID
    """,
    # How many jobs are in each state for each destination, kept by triggers: counting 100,000 rows for every status
    # request would not be cheap.
    """
    CREATE TABLE tally (
        state TEXT NOT NULL, destination TEXT NOT NULL, jobs INTEGER NOT NULL,
        PRIMARY KEY (state, destination)
    ) WITHOUT ROWID
    """,
    """
    CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
        INSERT INTO tally VALUES (new.state, new.destination, 1)
            ON CONFLICT (state, destination) DO UPDATE SET jobs = jobs + 1;
    END
    """,
    """
    CREATE TRIGGER jobs_moved AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
        UPDATE tally SET jobs = jobs - 1 WHERE state = old.state AND destination = old.destination;
        INSERT INTO tally VALUES (new.state, new.destination, 1)
            ON CONFLICT (state, destination) DO UPDATE SET jobs = jobs + 1;
    END
    """,
    """
    CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
        UPDATE tally SET jobs = jobs - 1 WHERE state = old.state AND destination = old.destination;
    END
    """,
)

_STEPS = (schema_steps.sql(*_DDL),)


def set_aside_damaged(path: Path, now: float) -> str:
    """Set a file aside that is damaged for certain, so that a new queue can be begun (never-again 47, 49).

    Returns the name it is kept under, empty where the file is sound or not there. Raises NewerSchema, and OSError where
    it cannot be renamed.
    """
    if not path.exists() or not path.stat().st_size:
        return ""
    with suppress(sqlite3.Error):  # of a damaged file; any other trouble is met again when it is opened
        _refuse_newer(path)
    return damaged_file.set_aside(path, now)[0].name if damaged_file.is_sure(path) else ""


def prepare(path: Path) -> None:
    """Make `path` a private file with our schema.

    Raises NewerSchema before anything is written to it, QueueUnavailable where it is no database or cannot be opened.
    """
    try:
        make_private(path)
        if path.stat().st_size:
            _refuse_newer(path)
        _create(path)
    except sqlite3.Error as error:
        raise unavailable(error) from error


def _refuse_newer(path: Path) -> None:
    """Read the version on a connection that cannot write: not even a checkpoint of a log left behind may happen."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    try:
        _check_version(connection, path)
    finally:
        connection.close()


def _check_version(connection: sqlite3.Connection, path: Path) -> int:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise NewerSchema(path, found, VERSION)
    return found


def _create(path: Path) -> None:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        if _check_version(connection, path) == VERSION:
            return
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only possible before the first table
        schema_steps.forward(connection, _STEPS)
        _check_version(connection, path)  # another process may have been first, and a newer one
    finally:
        connection.close()
