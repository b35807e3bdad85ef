"""One detached worker as plugins start it for each handoff today: imports, SQLite, one POST, one GET, with urllib.

python bench/plugin_worker.py STORE URL KEY SESSION < messages as JSON
"""

import argparse  # noqa: F401  (a worker has a command line)
import contextlib
import datetime as dt
import fcntl  # noqa: F401  (and a lock)
import hashlib
import json
import logging  # noqa: F401
import os  # noqa: F401
import pathlib  # noqa: F401
import re  # noqa: F401
import sqlite3
import subprocess  # noqa: F401  (it asks git)
import sys
import urllib.request
import uuid

SCHEMA = """
CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY, session_id TEXT, created_at TEXT, kind TEXT,
    payload_json TEXT, flush_id TEXT);
CREATE TABLE IF NOT EXISTS flushes(packet_id TEXT PRIMARY KEY, session_id TEXT, status TEXT, event_id TEXT);
"""


def ask(method: str, url: str, key: str, body: object = None) -> dict[str, object]:
    """Make one request."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Token {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=15) as answer:
        return dict(json.load(answer))


def main(store: str, url: str, key: str, session: str) -> None:
    """Deliver one session's messages and ask once whether they have become memories."""
    messages = json.load(sys.stdin)
    packet = hashlib.sha256(f"{session}{uuid.uuid4()}".encode()).hexdigest()[:24]
    now = dt.datetime.now(dt.UTC).isoformat()
    with contextlib.closing(sqlite3.connect(store, timeout=30)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        with connection:
            connection.executemany(
                "INSERT INTO events(session_id, created_at, kind, payload_json, flush_id) VALUES (?, ?, ?, ?, ?)",
                [(session, now, one["role"], json.dumps(one), packet) for one in messages],
            )
            connection.execute("INSERT INTO flushes VALUES (?, ?, 'pending', '')", (packet, session))
        body = {"messages": messages, "user_id": "ada", "run_id": session, "metadata": {"packet": packet}}
        event = str(ask("POST", f"{url}/v3/memories/add/", key, body)["event_id"])
        status = str(ask("GET", f"{url}/v1/event/{event}/", key)["status"])
        with connection:
            connection.execute(
                "UPDATE flushes SET status = ?, event_id = ? WHERE packet_id = ?", (status.lower(), event, packet)
            )
    if status != "SUCCEEDED":
        raise SystemExit(f"the extraction is {status}")


if __name__ == "__main__":
    main(*sys.argv[1:])
