"""The prompt at a transcript's end."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memsyncd.transcripts import place
from memsyncd.transcripts.errors import TranscriptUnreadable
from memsyncd.transcripts.open_prompt import TAIL, open_prompt
from tests.memsyncd.transcripts.recordings import FIRST, RECORDINGS, SECOND, jsonl

STEPS_OF, LINES = RECORDINGS["antigravity"]


def prompt_in(path: Path) -> str:
    opened = place.open_transcript(str(path), below=[path.parent], owner=os.geteuid())
    try:
        return open_prompt(STEPS_OF, opened)
    finally:
        os.close(opened.descriptor)


@pytest.mark.parametrize(
    ("lines", "prompt"),
    [(LINES[:1], FIRST), (LINES[:2], FIRST), (LINES[:6], ""), (LINES[:7], SECOND), (LINES, ""), ([], "")],
)
def test_it_is_the_last_word_while_nobody_has_answered(
    lines: Sequence[Mapping[str, Any]], prompt: str, tmp_path: Path
) -> None:
    """What the model has answered is no question any more; what the harness added behind it does not matter."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(jsonl(lines))
    assert prompt_in(path) == prompt


def test_a_prompt_that_is_still_being_written_is_none(tmp_path: Path) -> None:
    """Half a line may be the answer."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(jsonl(LINES[:7]) + b'{"step_index": 7, "source": "MO')
    assert prompt_in(path) == ""


def test_of_a_long_session_the_end_is_read(tmp_path: Path) -> None:
    """The agent waits, so that what lies before is not."""
    path = tmp_path / "t.jsonl"
    before = jsonl([{"step_index": 1, "type": "GENERIC", "content": "x" * 1_000}]) * (2 * TAIL // 1_000)
    path.write_bytes(before + jsonl(LINES[:7]))
    assert prompt_in(path) == SECOND
    path.write_bytes(jsonl(LINES[:7]) + before)
    assert prompt_in(path) == ""


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    """As of any transcript."""
    with pytest.raises(TranscriptUnreadable):
        prompt_in(tmp_path / "none")
