"""Kimi Code's wire.jsonl (hooks-and-apis 2E). The file may also be an old kimi-cli's, whose lines differ in shape."""

from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields, kimi_cli
from memsyncd.transcripts.turn import ASSISTANT, USER, Over, Said, Step, Turn, Undone, Worked

PERSON = "user"
"""The one `origin.kind` that is a person; the others are the harness's injections, tasks and retries."""


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a record tells. A `context.clear` and a compaction change what the model sees, not what was said."""
    at = fields.moment(record.get("time"))
    match record.get("type"):
        case "turn.prompt" | "turn.steer":
            if _is_persons(record):
                yield Said(Turn(USER, fields.words(record.get("input")), at=at))
        case "context.append_message":
            yield from _message(fields.mapping(record.get("message")), at)
        case "context.append_loop_event":
            yield from _event(fields.mapping(record.get("event")), at)
        case "context.undo":
            count = record.get("count")
            yield Undone(count if isinstance(count, int) else 1)
        case "turn.ended":
            yield Over()
        case "turn.cancel":
            yield Over(is_cut_short=True)
        case _:
            yield from kimi_cli.steps(record)


def _is_persons(record: Mapping[str, Any]) -> bool:
    return (fields.text(fields.mapping(record.get("origin")).get("kind")) or PERSON) == PERSON


def _message(message: Mapping[str, Any], at: float | None) -> Iterator[Step]:
    """Yield a message's steps. One of a turn comes as its records too, one of a session taken over comes alone."""
    role = message.get("role")
    if role == USER and fields.mapping(message.get("origin")).get("kind") == PERSON:
        yield Said(Turn(USER, fields.words(message.get("content")), at=at), is_echo=True)
    elif role == ASSISTANT:
        yield Said(Turn(ASSISTANT, fields.words(message.get("content")), at=at), is_echo=True)
        if fields.objects(message.get("toolCalls")):
            yield Worked()


def _event(event: Mapping[str, Any], at: float | None) -> Iterator[Step]:
    step = f"{fields.name(event.get('turnId'))}.{fields.name(event.get('step'))}"
    match event.get("type"):
        case "content.part":
            part = fields.mapping(event.get("part"))
            if part.get("type") == "text":
                yield Said(Turn(ASSISTANT, fields.text(part.get("text")), step if step != "." else "", at), joint="")
        case "tool.call":
            yield Worked()
        case "step.end":
            yield Over() if event.get("finishReason") == "end_turn" else Worked()
