"""The end that no hook told, of a session whose transcript holds more than was read of it.

A kill, or a terminal that was closed, leaves no stop: what the model had said by then is in the transcript alone. The
daemon leaves the handoff that the harness would have left at an orderly end, so that it is read and delivered the same.
"""

import hashlib
import json
import os
from pathlib import Path

from daemon.intake.sessions import Ended
from daemon.intake.spool import CLAIMED, WAITING, Spool
from memsyncd.clock import Clock, rfc3339
from memsyncd.evidence.store import EvidenceStore
from memsyncd.evidence.transcript_offsets import TranscriptOffset
from memsyncd.hooks import spool as hook_spool
from memsyncd.hooks.handoff import FLUSH, VERSION
from memsyncd.transcripts.sources import SOURCES, AnswerFrom

UNTOLD = "over-"
"""How the ids of such handoffs begin."""


def leave_end(ended: Ended, spool: Spool, store: EvidenceStore, clock: Clock) -> bool:
    """Leave a handoff for a session's end, if its answers come from a transcript and there is more in that. Raises
    OSError and EvidenceError."""
    source = SOURCES.get(spool.harness)
    if source is None or source.answer_from is not AnswerFrom.TRANSCRIPT or not store.own:
        return False
    known = store.transcript(ended.session_id)
    if known is None or not _has_more(known):
        return False
    name = UNTOLD + hashlib.sha256(ended.last_event.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    if any((spool.pending / (name + suffix)).exists() for suffix in (WAITING, CLAIMED)):
        return True
    document = {
        "v": VERSION,
        "id": name,
        "harness": spool.harness,
        "action": FLUSH,
        "reason": "idle" if ended.why == "idle" else "session-end",
        "captured_at": rfc3339(clock.wall()),
        "hook_input": _told(store, known),
    }
    pending = hook_spool.open_own(os.fsencode(spool.pending))
    try:
        hook_spool.write(pending, name, (json.dumps(document).encode(),), [])
    finally:
        os.close(pending)
    return True


def _told(store: EvidenceStore, known: TranscriptOffset) -> dict[str, str]:
    """Return a hook's own fields: whose end it is, where the transcript lies, and the directory, by which a project is
    paused or excluded."""
    scope = store.scope(known.session_id)
    directory = os.path.join(scope.root, scope.directory) if scope is not None and scope.root else ""
    told = {"session_id": known.session_id, "transcript_path": known.path, "cwd": directory}
    return {name: value for name, value in told.items() if value}


def _has_more(known: TranscriptOffset) -> bool:
    """Whether the file is longer than what was read; one whose place only its session's id tells may be."""
    try:
        return not known.path or Path(known.path).stat().st_size > known.offset
    except OSError:
        return False
