"""Every database: there, whole, of a version this program knows, its log no longer than it should be."""

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from daemon.cli.wording import size
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.database_file import Looked, look
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.status.kept_copies import kept_copies
from daemon.status.problems import problem_of
from jobs.queue import schema as queue_schema
from memsyncd.agent_state import schema as state_schema
from memsyncd.evidence import schema as evidence_schema
from memsyncd.notes import schema as notes_schema
from memsyncd.platforms.local import schema as memory_schema

WITHIN_SECONDS = 4.0
"""For one database; they are looked at side by side. Some 2 GB are read in it from a disk of today."""

LONG_LOG_BYTES = 128 * 1024 * 1024
"""Eight times what a log is cut back to: something keeps it from being folded in (never-again 117)."""

REMEDIES: Mapping[str, str] = {
    "queue": "Restart the daemon: it keeps the damaged file beside a new one, and what the spools hold is queued anew.",
    "memory": "Stop the daemon, move {path} (with -wal, -shm) aside, start it, and `memsyncd import` your last export.",
    "evidence": "Restart the daemon: it keeps the damaged file beside a new one. What was delivered is not lost.",
    "foreign": "It is another program's: see to it with that one. This daemon changes no form of it.",
}
"""What to do about a damaged file; `{path}` is the file."""

KNOWN: Mapping[str, Mapping[str, int]] = {
    "queue": {"queue": queue_schema.VERSION},
    "memory": {
        "memories": memory_schema.VERSION,
        "notes": notes_schema.VERSION,
        "agent state": state_schema.VERSION,
    },
    "evidence": {"evidence": evidence_schema.VERSION},
    "foreign": {},
}
"""The versions this program writes."""


def probes(examined: Examination) -> list[Probe]:
    """Return a check for the queue, the memory file, and each spool's evidence."""
    places = examined.places
    files: list[tuple[str, str, Path]] = [
        ("database queue", "queue", places.queue_file),
        ("database memory", "memory", places.memory_file),
    ]
    files += [
        (f"database evidence {spool.name}", "evidence" if spool.own else "foreign", spool.evidence)
        for spool in examined.spools
    ]
    found = [Probe(name, partial(_probe, examined, name, kind, path)) for name, kind, path in files]
    return [*found, Probe("damaged copies", partial(_copies, examined))]


def _copies(examined: Examination) -> Check:
    name = "damaged copies"
    if examined.is_another_s:
        return unchecked(name, f"{examined.places.data} is another user's")
    kept = [problem_of(finding) for finding in kept_copies(examined.places, examined.spools)]
    if not kept:
        return passed(name, "no database was damaged and set aside")
    return failed(name, " ".join(each.message for each in kept), " ".join(each.remedy for each in kept))


def database(name: str, kind: str, looked: Looked) -> Check:  # noqa: PLR0911  (one for each thing that can be found)
    """Judge one; `kind` is a key of the tables above."""
    if not looked.exists:
        return unchecked(name, f"there is no {looked.path} yet")
    if looked.unreadable:
        return unchecked(name, f"{looked.path}: {looked.unreadable}", f"`ls -l {looked.path}`")
    remedy = REMEDIES[kind].format(path=looked.path)
    if looked.error:
        return failed(name, f"{looked.path} is damaged or no database: {looked.error}", remedy)
    newer = [part for part, found in looked.versions.items() if found > KNOWN[kind].get(part, found)]
    if newer:
        return failed(
            name,
            f"{newer[0]} in {looked.path} is of version {looked.versions[newer[0]]}; this program knows "
            f"{KNOWN[kind][newer[0]]} and leaves it untouched",
            "Upgrade memsyncd (`memsyncd --version` tells yours), or use the one that wrote it.",
        )
    if looked.faults:
        return failed(name, f"{looked.path} is damaged: {'; '.join(looked.faults)}", remedy)
    told = f"{size(looked.bytes)}, {_versions(kind, looked.versions)}"
    if looked.log_bytes > LONG_LOG_BYTES:
        return failed(
            name,
            f"{told}; its write-ahead log has {size(looked.log_bytes)} and is not folded in",
            f"`fuser {looked.path}` names what reads it without an end: end that, and restart the daemon.",
        )
    if not looked.is_whole:
        return unchecked(name, f"{told}; it is too large to be read through within {WITHIN_SECONDS:g} s")
    return passed(name, f"whole, {told}")


def _versions(kind: str, found: Mapping[str, int]) -> str:
    told = [
        f"{part} version {number}" + (f" (brought to {known} at the next start)" if number < known else "")
        for part, known in KNOWN[kind].items()
        if (number := found.get(part, 0))
    ]
    return ", ".join(told) or "another program's form"


def _probe(examined: Examination, name: str, kind: str, path: Path) -> Check:
    if examined.is_another_s and path.is_relative_to(examined.places.data):
        return unchecked(name, f"{path} is another user's")
    looked = look(path, READ[kind], is_served=examined.is_held, within=WITHIN_SECONDS, monotonic=examined.monotonic)
    return database(name, kind, looked)


def _queue(connection: sqlite3.Connection) -> Mapping[str, int]:
    return {"queue": _user_version(connection)}


def _memory(connection: sqlite3.Connection) -> Mapping[str, int]:
    found = {"memories": _user_version(connection)}
    for part, table in (("notes", "note_store"), ("agent state", "state_schema")):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone():
            row = connection.execute(f"SELECT version FROM {table}").fetchone()  # noqa: S608  (the two names above)
            found[part] = int(row[0]) if row else 0
    return found


def _evidence(connection: sqlite3.Connection) -> Mapping[str, int]:
    return {"evidence": evidence_schema.version(connection)}


def _user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


READ: Mapping[str, Callable[[sqlite3.Connection], Mapping[str, int]]] = {
    "queue": _queue,
    "memory": _memory,
    "evidence": _evidence,
    "foreign": lambda _: {},
}
"""How a file tells its versions."""
