"""Copilot CLI's events.jsonl: `{type, data, id, timestamp, parentId}`.

The facts hold no description of it, only that `transcriptPath` names it. The names are those of the session events of
Copilot's own SDK; what does not fit is passed over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Over, Said, Step, Turn, Worked


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells. The end of a round of the model's is not the turn's: a message without a tool's call
    is."""
    data = fields.mapping(record.get("data"))
    at = fields.moment(record.get("timestamp"))
    match record.get("type"):
        case "user.message":
            if (fields.text(data.get("source")) or USER) == USER:
                yield Said(Turn(USER, fields.words(data.get("content")), fields.name(record.get("id")), at))
        case "assistant.message":
            yield from _reply(record, data, at)
        case "tool.execution_start":
            if not data.get("parentToolCallId"):
                yield Worked()
        case "abort":
            yield Over(is_cut_short=True)


def _reply(record: Mapping[str, Any], data: Mapping[str, Any], at: float | None) -> Iterator[Step]:
    text = fields.words(data.get("content"))
    name = fields.name(data.get("messageId")) or fields.name(record.get("id"))
    is_sidechain = bool(data.get("parentToolCallId"))
    yield Said(Turn(ASSISTANT, text, name, at, is_sidechain))
    if is_sidechain:
        return
    if fields.objects(data.get("toolRequests")):
        yield Worked()
    elif text.strip():
        yield Over()
