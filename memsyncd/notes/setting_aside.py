"""Copies of what an import could not read, kept private and once each, beside the source that stays as it is."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memsyncd.recall.cutting import repaired
from memsyncd.redaction import redact_value
from memsyncd.redaction.private_spans import without_private

_HASH_CHARS = 12


def keep_file(directory: Path, name: str, content: bytes) -> Path:
    """Keep a file whole: what cannot be parsed cannot be cleaned either. Return where. Raises OSError."""
    return _keep(directory, Path(name).stem, "json", content)


def keep_entries(directory: Path, name: str, refused: Sequence[tuple[int, str, Any]]) -> Path:
    """Keep (place, reason, entry) as JSON lines, secrets and private spans taken out. Return where. Raises OSError."""
    lines = [
        json.dumps({"file": repaired(name), "place": place, "reason": reason, "entry": _public(redact_value(entry))})
        for place, reason, entry in refused
    ]
    return _keep(directory, Path(name).stem, "entries.jsonl", ("\n".join(lines) + "\n").encode())


def _keep(directory: Path, stem: str, suffix: str, content: bytes) -> Path:
    """Write under a name that follows from the content, so that the next import finds it there."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()[:_HASH_CHARS]
    target = directory / f"{stem[:100]}.{digest}.{suffix}"
    if target.exists():
        return target
    writing = directory / f".{digest}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    descriptor = os.open(writing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        writing.rename(target)
    except BaseException:
        writing.unlink(missing_ok=True)
        raise
    return target


def _public(value: Any) -> Any:
    if isinstance(value, str):
        return without_private(value)
    if isinstance(value, dict):
        return {without_private(name): _public(entry) for name, entry in value.items()}
    return [_public(entry) for entry in value] if isinstance(value, list) else value
