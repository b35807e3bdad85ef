"""A hook that brings no prompt is answered by the session's transcript."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.recalling.asking import PROMPT, Asking

SHORT = "and now?"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Asking]:
    made = Asking(tmp_path)
    yield made
    made.close()


def write(at: Asking, *said: str, place: str = "t.jsonl") -> Path:
    """Write a transcript of Antigravity's: a prompt, its answer, and so on."""
    path = at.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds = [("USER_EXPLICIT", "USER_INPUT"), ("MODEL", "PLANNER_RESPONSE")]
    lines = [
        {"step_index": number, "source": kinds[number % 2][0], "type": kinds[number % 2][1], "content": text}
        for number, text in enumerate(said)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def outcome(at: Asking, *, harness: str = "antigravity", **hook_input: Any) -> str:
    told: Mapping[str, Any] = {"conversationId": "s", "workspacePaths": ["/w/tool"], **hook_input}
    body = {"harness": harness, "action": "user-prompt", "hook_input": told}
    return str(asyncio.run(at.recaller.answer(json.dumps(body).encode()))["outcome"])


def test_the_prompt_that_waits_is_asked_with(at: Asking) -> None:
    """By the path in the payload; the model's further calls of that turn, and later turns, are told nothing more."""
    path = write(at, f"<USER_REQUEST>{PROMPT} <private>today</private></USER_REQUEST>")
    assert outcome(at, transcriptPath=str(path)) == "found"
    assert [request.query for request, _ in at.requests] == [PROMPT]
    assert outcome(at, transcriptPath=str(path)) == "not asked"
    write(at, PROMPT, "6543.", "And which port does the production database listen on?")
    assert outcome(at, transcriptPath=str(path)) == "not asked"
    assert len(at.requests) == 1


def test_it_is_found_in_its_place_where_the_payload_names_none(at: Asking) -> None:
    """As the answers are."""
    write(at, PROMPT, place=".gemini/antigravity-cli/brain/s/.system_generated/logs/transcript.jsonl")
    assert outcome(at) == "found"


def test_a_prompt_that_is_not_written_yet_uses_no_chance_up(at: Asking) -> None:
    """The next call of the model is asked for."""
    assert outcome(at, transcriptPath=str(at.root / "t.jsonl")) == "not asked"
    write(at, "Hi there, how are you today?", "Fine.")
    assert outcome(at, transcriptPath=str(at.root / "t.jsonl")) == "not asked"
    write(at, "Hi there, how are you today?", "Fine.", PROMPT)
    assert outcome(at, transcriptPath=str(at.root / "t.jsonl")) == "found"


def test_a_short_first_prompt_was_the_chance(at: Asking) -> None:
    """As with every harness."""
    path = write(at, SHORT)
    assert outcome(at, transcriptPath=str(path)) == "not asked"
    write(at, SHORT, "Now what?", PROMPT)
    assert outcome(at, transcriptPath=str(path)) == "spent"


def test_of_other_harnesses_no_transcript_is_read(at: Asking) -> None:
    """Their hooks bring the prompt; one without words asks nothing."""
    path = write(at, PROMPT)
    assert outcome(at, harness="claude-code", session_id="s", transcript_path=str(path), prompt="") == "not asked"
