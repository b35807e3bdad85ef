"""What every part of an evidence store works with: its file, and where a session belongs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from memsyncd.evidence import packet_rows, reading
from memsyncd.evidence.database import Database
from memsyncd.evidence.event import Packet, Scope
from memsyncd.evidence.schema import Shape

Answer = TypeVar("Answer")


class Stored:
    """One spool's file. Every method of its parts is one short transaction, safe from any thread."""

    def __init__(self, database: Database, *, project_id_of: reading.ProjectOf) -> None:
        self._database = database
        self._project_of = project_id_of
        self._known: dict[str, tuple[tuple[int, int, int], Any]] = {}

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def own(self) -> bool:
        """Whether it is ours, not a plugin's."""
        return self._database.own

    @property
    def read_only(self) -> bool:
        """Whether it is read and not written to."""
        return self._database.read_only

    @property
    def problem(self) -> str:
        """What is wrong with the file, for people; empty if nothing is."""
        return self._database.problem

    @property
    def was_replaced(self) -> bool:
        """Whether a file of ours was removed or replaced while it was served."""
        return self._database.was_replaced

    def _scope(self, connection: sqlite3.Connection, session_id: str) -> Scope | None:
        return reading.scope(connection, self._database.shape, session_id, self._project_of)

    def _packet_scope(self, connection: sqlite3.Connection, packet: Packet) -> Scope:
        scope = self._scope(connection, packet.session_id)
        if scope is None:
            scope = Scope(packet.repo_id, packet.app_id, self._project_of(packet.app_id, packet.repo_id))
        pinned = packet_rows.pinned(connection, self._database.shape, packet.packet_id)
        return scope if pinned is None else replace(scope, branch=pinned[0], head_sha=pinned[1])

    def _remembered(self, name: str, read: Callable[[sqlite3.Connection, Shape], Answer]) -> Answer:
        """Read anew only if the file has changed: these reads walk whole tables in a plugin's file."""
        with self._database.reading() as connection:
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            state = (id(connection), version, connection.total_changes)
            known = self._known.get(name)
            if known is None or known[0] != state:
                known = self._known[name] = (state, read(connection, self._database.shape))
            answer: Answer = known[1]
            return answer

    def _unreadable(self) -> None:
        self._database.counters.add("evidence_payloads_unreadable")
