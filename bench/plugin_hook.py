"""One hook as plugins run it today: imports, four questions to git, one insert (measured.md, Hooks).

python bench/plugin_hook.py STORE PROJECT < the hook's JSON
"""

import argparse  # noqa: F401  (a hook has a command line)
import contextlib
import datetime as dt
import hashlib
import json
import os
import pathlib  # noqa: F401
import re  # noqa: F401
import sqlite3
import subprocess
import sys
import urllib.request  # noqa: F401  (the client it shares with its worker)
import uuid

QUESTIONS = (
    ("rev-parse", "--show-toplevel"),
    ("config", "--get", "remote.origin.url"),
    ("rev-parse", "--abbrev-ref", "HEAD"),
    ("rev-parse", "HEAD"),
)


def main(store: str, project: str) -> None:
    """Record one event."""
    told = json.load(sys.stdin)
    answers = [
        subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=False).stdout.strip()
        for words in QUESTIONS
    ]
    now = dt.datetime.now(dt.UTC).isoformat()
    with contextlib.closing(sqlite3.connect(store, timeout=30)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY, uuid TEXT, at TEXT, repo TEXT, event TEXT)"
        )
        with connection:
            repo = hashlib.sha256("\n".join(answers).encode()).hexdigest()
            connection.execute(
                "INSERT INTO events(uuid, at, repo, event) VALUES (?, ?, ?, ?)",
                (str(uuid.uuid4()), now, repo, json.dumps({"pid": os.getpid(), **told})),
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
