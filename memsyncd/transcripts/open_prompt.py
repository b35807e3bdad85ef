"""The prompt at a transcript's end, which nobody has answered yet: for a hook that brings none."""

from memsyncd.transcripts import following, place
from memsyncd.transcripts.place import Opened
from memsyncd.transcripts.reader import Format, Reader
from memsyncd.transcripts.turn import USER

TAIL = 256 * 1024
"""Bytes at the end that are looked at: the agent waits meanwhile, and a longer prompt is not searched for anyway."""


def open_prompt(steps_of: Format, opened: Opened) -> str:
    """Return the prompt, "" where the last word is the model's or a line is still being written. Raises
    TranscriptUnreadable."""
    begin = following.next_line(opened, opened.size - TAIL) if opened.size > TAIL else 0
    reader = Reader(steps_of, begin)
    reader.feed(place.read_at(opened, begin, opened.size - begin))
    turns = reader.turns
    return turns[-1].text if turns and turns[-1].role == USER and not reader.is_torn else ""
