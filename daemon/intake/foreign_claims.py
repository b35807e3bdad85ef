"""Claims of another program in a plugin's spool: its own worker at work on a session (facts 1.5, 1.12)."""

import contextlib
import json
import stat
from collections.abc import Collection

from daemon.intake.spool import CLAIMED, STALE_CLAIM_SECONDS, Age, Spool
from memsyncd import regular_file

MAX_BYTES = 1024 * 1024
"""A plugin's handoff is a few hundred bytes; a larger one is not read, and counts as anybody's."""


def is_claimed_elsewhere(spool: Spool, session_id: str, held: Collection[str], age: Age) -> bool:
    """Whether a living claim that is not ours, by the stems we hold, is for this session."""
    if spool.own:
        return False
    for path in spool.pending.glob(f"*{CLAIMED}"):
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            is_claim = stat.S_ISREG(status.st_mode) and path.stem not in held
            if not is_claim or age(status.st_mtime) > STALE_CLAIM_SECONDS:
                continue
            if status.st_size > MAX_BYTES:
                return True
            if _session(regular_file.content(path, MAX_BYTES, follow=False)) in (session_id, ""):
                return True
    return False


def _session(content: bytes) -> str:
    """Return the session a plugin's handoff names, empty where it cannot be told."""
    try:
        named = json.loads(content)["hook_input"]["session_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return named if isinstance(named, str) else ""
