"""An existing plugin's data directory, made and used as its own program does (facts 1.2 to 1.5, 2.1; issue 2)."""

import hashlib
import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

EVENTS = "events(id INTEGER PRIMARY KEY AUTOINCREMENT, repo_id TEXT NOT NULL, app_id TEXT, session_id TEXT NOT NULL, created_at TEXT NOT NULL, kind TEXT NOT NULL, payload_json TEXT NOT NULL, flush_id TEXT)"
SCOPES = "session_scopes(session_id TEXT PRIMARY KEY, repo_id TEXT, app_id TEXT, root TEXT, branch TEXT, head_sha TEXT, created_at TEXT, directory TEXT)"
FLUSHES = "flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT NOT NULL, app_id TEXT, session_id TEXT NOT NULL, reason TEXT NOT NULL, event_start INTEGER, event_end INTEGER, status TEXT NOT NULL, episode_event_id TEXT, semantic_event_id TEXT, error TEXT, attempts INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)"
OPERATIONS = "operations(id INTEGER PRIMARY KEY, created_at TEXT, repo_id TEXT, session_id TEXT, operation TEXT, duration_ms REAL, success INTEGER, item_count INTEGER, request_chars INTEGER, response_chars INTEGER, error TEXT)"
TODAY = (EVENTS, SCOPES, FLUSHES, OPERATIONS, "settings(key TEXT PRIMARY KEY, value TEXT, updated_at TEXT)")
OLDER = (
    "events(id INTEGER PRIMARY KEY, repo_id TEXT, session_id TEXT, created_at TEXT, kind TEXT, payload_json TEXT, flush_id TEXT)",
    "session_scopes(session_id TEXT PRIMARY KEY, repo_id TEXT, root TEXT)",
    "flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, session_id TEXT, reason TEXT, event_start INTEGER, event_end INTEGER, status TEXT, semantic_event_id TEXT)",
)
SHAPES = {"today": TODAY, "older": OLDER}
STATUSES = frozenset(
    {"prepared", "semantic-queued", "semantic-succeeded", "semantic-failed", "semantic-timeout", "semantic-missing",
     "error", "explicitly-stored", "gave-up"}
)  # fmt: skip


def _iso(age: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - age))


class PluginSpool:
    """`~/.mem0/<name>`: its evidence store and its handoffs."""

    def __init__(self, home: Path, name: str = "claude-code-plugin", tables: tuple[str, ...] = TODAY) -> None:
        self.path = home / ".mem0" / name
        self.pending = self.path / "pending"
        self.pending.mkdir(parents=True, mode=0o700)
        self.evidence = self.path / "evidence.sqlite3"
        self.run("PRAGMA journal_mode = WAL", *(f"CREATE TABLE {table}" for table in tables))

    def run(self, *statements: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Execute and commit; return the rows of the last statement."""
        rows: list[tuple[Any, ...]] = []
        with closing(sqlite3.connect(self.evidence, timeout=10.0)) as connection:
            for statement in statements:
                rows = connection.execute(statement, values).fetchall()
            connection.commit()
        return rows

    def columns(self) -> dict[str, list[str]]:
        """Return the plugin's tables with their columns; a table of ours is none of theirs."""
        names = [row[0] for row in self.run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [str(row[1]) for row in self.run(f"PRAGMA table_info({name})")]
            for name in sorted(names)
            if not name.startswith(("memsyncd_", "sqlite_"))
        }

    def insert(self, table: str, **row: object) -> None:
        """Insert what the table has columns for."""
        present = {column[1] for column in self.run(f"PRAGMA table_info({table})")}
        known = {name: value for name, value in row.items() if name in present}
        marks = ", ".join("?" * len(known))
        self.run(f"INSERT INTO {table}({', '.join(known)}) VALUES ({marks})", values=tuple(known.values()))

    def exchange(self, session: str, number: int = 1, *, packet: str | None = None) -> None:
        for kind, text in (("user_prompt", f"question {number}"), ("assistant_stop", f"answer {number}")):
            self.insert(
                "events",
                repo_id="github.com/team/tool",
                app_id="team-tool",
                session_id=session,
                created_at=_iso(5),
                kind=kind,
                payload_json=json.dumps({"prompt" if kind == "user_prompt" else "text": f"{text} of {session}"}),
                flush_id=packet,
            )

    def packet(self, session: str, status: str, *, slots: object = "", attempts: int = 0, age: float = 0.0) -> str:
        """Leave a packet of one exchange as the plugin's worker did."""
        name = hashlib.sha256(session.encode()).hexdigest()[:32]
        self.exchange(session, packet=name)
        ids = [row[0] for row in self.run("SELECT id FROM events WHERE flush_id = ?", values=(name,))]
        self.insert(
            "flushes",
            packet_id=name,
            repo_id="github.com/team/tool",
            app_id="team-tool",
            session_id=session,
            reason="session-end",
            event_start=ids[0],
            event_end=ids[-1],
            status=status,
            semantic_event_id=slots if isinstance(slots, str) else json.dumps(slots),
            error="",
            attempts=attempts,
            created_at=_iso(age),
            updated_at=_iso(age),
        )
        return name

    def status(self, packet: str) -> tuple[str, int]:
        has_attempts = "attempts" in self.columns()["flushes"]
        column = "attempts" if has_attempts else "0"
        ((status, attempts),) = self.run(f"SELECT status, {column} FROM flushes WHERE packet_id = ?", values=(packet,))
        return str(status), int(attempts)

    def statuses(self, session: str) -> list[str]:
        return [
            str(row[0])
            for row in self.run(
                "SELECT status FROM flushes WHERE session_id = ? ORDER BY event_start", values=(session,)
            )
        ]

    def handoff(
        self,
        session: str,
        *,
        reason: str = "session-end",
        suffix: str = ".json",
        age: float = 0.0,
        delay: float | None = None,
        wait: bool = False,
    ) -> Path:
        """Leave a handoff by the plugin's own name and keys."""
        cwd = "/srv/tool"
        document: dict[str, Any] = {"hook_input": {"session_id": session, "cwd": cwd}, "reason": reason}
        words = (reason, cwd, session) if reason == "idle" else (cwd, session, reason)
        name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:24] + f"-{os.urandom(4).hex()}"
        if reason == "idle":
            name, document["delay_seconds"] = f"idle-{name}", delay
        else:
            document["wait_for_inflight"] = wait
        temporary = self.pending / f"{name}.tmp"
        temporary.write_text(json.dumps(document))
        if age:
            os.utime(temporary, (time.time() - age,) * 2)
        return temporary.rename(self.pending / f"{name}{suffix}")
