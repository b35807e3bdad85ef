"""Whose answers come from a transcript: the table that says of each harness how its transcript is read.

An entry is all that a harness needs. It lies beside no adapter, for what runs inside the agent reads no transcript.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memsyncd.transcripts import antigravity, claude_code, codex, copilot, cursor, gemini_cli, kimi_code
from memsyncd.transcripts.reader import Format


class AnswerFrom(StrEnum):
    """Where the answer of a turn is looked for."""

    TRANSCRIPT = "transcript"
    """Every answer since the last one read; an answer in the payload is taken all the same, and wins."""
    PAYLOAD = "payload"
    """The last one alone, and only when a stop came without one."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a harness's transcript is read.

    `path_keys` are the fields of the hook's input that name the file, the first that is there counts. Where none does,
    `places` are patterns below the `directory` that the harness has in the user's home, or wherever a variable of its
    own has moved it, and `older_places` below the home itself, in which `{session}` is the session's id; of several
    files the one changed last counts. With `has_prompts` prompts come from the transcript as well, for no hook brings
    them.
    """

    steps_of: Format
    directory: str
    answer_from: AnswerFrom = AnswerFrom.TRANSCRIPT
    path_keys: tuple[str, ...] = ("transcript_path", "transcriptPath")
    places: tuple[str, ...] = ()
    older_places: tuple[str, ...] = ()
    has_prompts: bool = False


SOURCES: Mapping[str, Source] = {
    "antigravity": Source(
        antigravity.steps,
        ".gemini",
        places=(
            "antigravity-cli/brain/{session}/.system_generated/logs/transcript.jsonl",
            "antigravity-ide/brain/{session}/.system_generated/logs/transcript.jsonl",
        ),
        has_prompts=True,
    ),
    "claude-code": Source(claude_code.steps, ".claude", AnswerFrom.PAYLOAD),
    "codex": Source(codex.steps, ".codex", AnswerFrom.PAYLOAD),
    "copilot": Source(copilot.steps, ".copilot", places=("session-state/{session}/events.jsonl",)),
    "cursor": Source(cursor.steps, ".cursor", AnswerFrom.PAYLOAD),
    "gemini-cli": Source(gemini_cli.steps, ".gemini", AnswerFrom.PAYLOAD),
    "kimi": Source(
        kimi_code.steps,
        ".kimi-code",
        places=("sessions/*/{session}/agents/main/wire.jsonl",),
        older_places=(".kimi/sessions/*/{session}/wire.jsonl",),
    ),
    "kimi-cli": Source(kimi_code.steps, ".kimi", places=("sessions/*/{session}/wire.jsonl",)),
}
"""By harness (hooks-and-apis 0 and 2). One that is not here has its answers in its payloads, or none to be found."""
