"""The prompt of a hook that brings none, from the session's transcript (hooks-and-apis 1E)."""

import os
from pathlib import Path

from daemon.recalling.question import Question
from memsyncd.lifecycle.capture import prepare_user_text
from memsyncd.transcripts import place
from memsyncd.transcripts.errors import TranscriptUnreadable
from memsyncd.transcripts.open_prompt import open_prompt
from memsyncd.transcripts.sources import SOURCES


def untold_prompt(question: Question, home: Path) -> str:
    """Return a person's words as they may leave the machine, "" where the transcript has none that waits, cannot be
    read, or is of a harness whose hooks bring them."""
    source = SOURCES.get(question.harness)
    if source is None or not source.has_prompts:
        return ""
    named = {source.path_keys[0]: question.transcript_path}
    around = place.Around(home)
    path = place.path_of(source, named, question.session_id, around)
    try:
        opened = place.open_transcript(path, below=around.roots(source), owner=os.geteuid())
        try:
            return prepare_user_text(open_prompt(source.steps_of, opened))
        finally:
            os.close(opened.descriptor)
    except TranscriptUnreadable:
        return ""
