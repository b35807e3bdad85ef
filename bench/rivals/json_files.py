"""Notes as a JSON file for each namespace, read and written whole: how agent-memory-mcp keeps them.

That program comes from its repository alone, which is not fetched here, so this is a stand-in made from a description
of what it does: a namespace's entries are read, changed, and written over the file, which is emptied before it is
locked; nothing waits for the disk; a search looks into every entry for the words as they stand.
"""

import contextlib
import fcntl
import json
import time
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


class JsonFiles:
    """The four verbs that are measured."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(exist_ok=True)

    def remember(self, namespace: str, key: str, value: str) -> None:
        """Add an entry, or write over it."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entries = [entry for entry in self._read(namespace) if entry["key"] != key]
        entries.append({"key": key, "value": value, "created_at": now, "accessed_at": now, "access_count": 0})
        self._write(namespace, entries)

    def recall(self, namespace: str, key: str) -> str | None:
        """Return a value, and count that it was asked for."""
        entries = self._read(namespace)
        for entry in entries:
            if entry["key"] == key:
                entry["access_count"] += 1
                self._write(namespace, entries)
                return str(entry["value"])
        return None

    def search(self, query: str) -> list[Entry]:
        """Return what has the words in it, what was asked for most first."""
        found = [
            entry
            for path in self._directory.glob("*.json")
            for entry in self._read(path.stem)
            if query.lower() in entry["value"].lower() or query.lower() in entry["key"].lower()
        ]
        return sorted(found, key=lambda entry: (entry["access_count"], entry["created_at"]), reverse=True)[:10]

    def count(self, namespace: str) -> int:
        """Return how many entries there are."""
        return len(self._read(namespace))

    def _read(self, namespace: str) -> list[Entry]:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return list(json.loads((self._directory / f"{namespace}.json").read_text()))
        return []

    def _write(self, namespace: str, entries: list[Entry]) -> None:
        with open(self._directory / f"{namespace}.json", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            json.dump(entries, file)
