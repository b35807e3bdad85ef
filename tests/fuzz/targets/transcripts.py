"""Transcripts: a file of any bytes looked at, changed, and looked at again from where the first look ended."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.intake.own_words import own_words
from memsyncd.evidence.transcript_offsets import TranscriptOffset
from memsyncd.redaction import redact_value
from memsyncd.transcripts import following, place, recorded
from memsyncd.transcripts.reader import Format, Reader
from memsyncd.transcripts.taking import Wanted, at_last, choose
from tests.fuzz import planted, seeds
from tests.fuzz.target import BREAK, Target, TryOne
from tests.memsyncd.transcripts.recordings import RECORDINGS, jsonl

NAMES = sorted(RECORDINGS)
WANTED = (Wanted(is_answer_due=False, is_session_over=True), Wanted(), Wanted(is_last_only=True), Wanted(until=1.8e9))


class _Follower:
    """Looks at one file. An input's parts: the format's name, what the file holds at first, and what becomes of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "transcript.jsonl"

    def try_one(self, content: bytes) -> None:
        name, _, rest = planted.into(content).partition(BREAK)
        first, _, tail = rest.partition(BREAK)
        by_chance = zlib.crc32(content)
        shown = name.decode("utf-8", "replace")
        steps_of = RECORDINGS[shown if shown in RECORDINGS else NAMES[by_chance % len(NAMES)]][0]
        _assert_pieces_do_not_matter(steps_of, first, by_chance)
        wanted = WANTED[by_chance % len(WANTED)]
        self.path.write_bytes(first)
        known = self._look(steps_of, None, wanted)
        is_grown = by_chance % 3 != 0
        with self.path.open("r+b") as file:
            if is_grown:
                file.seek(0, os.SEEK_END)
            else:
                file.truncate(by_chance % (len(first) + 1))
                file.seek(by_chance // 7 % (len(first) + 1))
            file.write(tail)
        later = self._look(steps_of, known, wanted)
        if is_grown:
            assert later.offset >= known.offset, "the offset went back in a file that grew"

    def _look(self, steps_of: Format, known: TranscriptOffset | None, wanted: Wanted) -> TranscriptOffset:
        opened = place.open_transcript(str(self.path), below=[self.directory], owner=os.geteuid())
        try:
            found = following.look(steps_of, opened, "s", known)
        finally:
            os.close(opened.descriptor)
        choice = choose(found, wanted)
        taken = choice.taken if choice.is_whole else at_last(choice)
        reached = following.after(found, taken) if taken else found.reached
        assert 0 <= reached.offset <= opened.size
        for each in taken:
            for record in recorded.records(each, session_id="s", cwd="/w", fit=own_words, with_prompts=True):
                planted.assert_absent(redact_value(dict(record.payload)), record.turn_id, record.captured_at)
        return reached


def _assert_pieces_do_not_matter(steps_of: Format, content: bytes, by_chance: int) -> None:
    whole, pieces = Reader(steps_of), Reader(steps_of)
    whole.feed(content)
    cut = by_chance % (len(content) + 1)
    for piece in (content[:cut], b"", content[cut:]):
        pieces.feed(piece)
    assert whole.exchanges == pieces.exchanges
    assert (whole.offset, whole.is_torn) == (pieces.offset, pieces.is_torn)


@contextmanager
def opened(directory: Path) -> Iterator[TryOne]:
    yield _Follower(directory.resolve()).try_one


def inputs() -> Iterator[bytes]:
    """Yield each recording cut in two, whole and within a line, and with the secret in its words."""
    for name, (_, records) in RECORDINGS.items():
        for told in (records, seeds.with_secret(records)):
            content = jsonl(told)
            middle = len(content) // 2
            line = content.index(b"\n", middle) + 1
            for cut in (0, middle, line, len(content)):
                yield BREAK.join((name.encode(), content[:cut], content[cut:]))


WORDS = (
    *(name.encode() for name in NAMES),
    *b"uuid parentUuid type user assistant content text id timestamp isSidechain message role payload tool_use".split(),
    *b"context.undo count turn.ended $rewindTo $set messages toolCalls step_index USER_EXPLICIT created_at".split(),
    b"\n{}\n",
    b"\n",
)
TARGET = Target("transcripts", opened, inputs, WORDS, share=2)
