"""Following a transcript: what was said since the stored offset, whatever became of the file in between."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memsyncd.evidence.transcript_offsets import TranscriptOffset
from memsyncd.transcripts import place
from memsyncd.transcripts.place import Opened
from memsyncd.transcripts.reader import Format, Reader
from memsyncd.transcripts.turn import Exchange

CHUNK = 256 * 1024
MAX_UNREAD = 32 * 1024 * 1024
"""What is read at a time at most. Of more, as in a file met for the first time, only the last TAIL is."""

TAIL = 8 * 1024 * 1024
TAKEN = 100
"""Names of exchanges remembered, by which a file that was written anew is read without repeating anything."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a transcript found.

    `exchanges` begin at the offset that was known. `is_torn` tells that a line is still being written. `is_anew` that
    the file was not read before, or is another one now, so that `exchanges` may hold what was taken already.
    `bytes_passed_over` were too many to be read, `lines_passed_over` hold no JSON object.
    """

    exchanges: Sequence[Exchange]
    reached: TranscriptOffset
    is_torn: bool
    is_anew: bool
    bytes_passed_over: int = 0
    lines_passed_over: int = 0


def look(steps_of: Format, opened: Opened, session_id: str, known: TranscriptOffset | None) -> Look:
    """Read on from what is `known`; the file's bytes are held a piece at a time. Raises TranscriptUnreadable."""
    is_anew = known is None or not _is_same(opened, known)
    begin = 0 if known is None or is_anew else known.offset
    skipped = 0
    if opened.size - begin > MAX_UNREAD:
        skipped = opened.size - TAIL - begin
        begin = next_line(opened, opened.size - TAIL)
        is_anew = True
    reader = Reader(steps_of, begin)
    at = begin
    while at < opened.size:
        content = place.read_at(opened, at, min(CHUNK, opened.size - at))
        if not content:
            break  # it has shrunk since it was opened: the next look sees another file
        reader.feed(content)
        at += len(content)
    head = min(place.HEAD_BYTES, opened.size)
    reached = TranscriptOffset(
        session_id=session_id,
        path=opened.path,
        device=opened.device,
        inode=opened.inode,
        head_bytes=head,
        head_digest=place.head_digest(opened, head),
        offset=reader.offset,
        not_before=known.not_before if known else 0.0,
        taken=known.taken if known else (),
    )
    is_torn = reader.is_torn or at < opened.size
    return Look(reader.exchanges, reached, is_torn, is_anew, skipped, reader.lines_passed_over)


def after(found: Look, taken: Sequence[Exchange]) -> TranscriptOffset:
    """Return how far the transcript is read once `taken`, of which there is one at least, and all that came before
    them need no look any more."""
    left = next((each.start for each in found.exchanges if each.start > taken[-1].start), found.reached.offset)
    names = (*found.reached.taken, *(each.key for each in taken))[-TAKEN:]
    return replace(found.reached, offset=left, taken=names)


def passed_over(known: TranscriptOffset, before: float) -> TranscriptOffset:
    """Return the offset of a transcript of which nothing is taken that was said `before`, in Unix seconds. The file is
    as one that was never read: where it tells no times, only its last exchange will be taken then."""
    return TranscriptOffset(known.session_id, not_before=max(known.not_before, before))


def _is_same(opened: Opened, known: TranscriptOffset) -> bool:
    """Whether the file is the one that was read and has only grown since: it has the same head, and a line still begins
    at the offset."""
    if not known.path or (known.path, known.inode) != (opened.path, opened.inode):
        return False
    if opened.device != known.device or opened.size < known.offset or opened.size < known.head_bytes:
        return False
    if known.offset and place.read_at(opened, known.offset - 1, 1) != b"\n":
        return False
    return place.head_digest(opened, known.head_bytes) == known.head_digest


def next_line(opened: Opened, at: int) -> int:
    """Return where the next line begins at or after `at`, the file's end where none does."""
    while at < opened.size:
        content = place.read_at(opened, at, CHUNK)
        if not content:
            break
        end = content.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(content)
    return opened.size
