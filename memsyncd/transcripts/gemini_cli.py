"""Gemini CLI's chats (hooks-and-apis 2D): a message told again replaces the first, and control lines take back."""

from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Rewound, Said, Step, Turn, Worked

_ROLES = {"user": USER, "gemini": ASSISTANT}


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells. A checkpoint that holds all messages stands for all that came before it."""
    if "$rewindTo" in record:
        yield Rewound(fields.name(record["$rewindTo"]))
        return
    if "$set" in record:
        messages = fields.mapping(record["$set"]).get("messages")
        if isinstance(messages, list):
            yield Rewound("")
            for message in fields.objects(messages):
                yield from _message(message)
        return
    yield from _message(record)


def _message(record: Mapping[str, Any]) -> Iterator[Step]:
    role = _ROLES.get(fields.text(record.get("type")))
    if role is None:
        return
    at = fields.moment(record.get("timestamp"))
    yield Said(Turn(role, fields.words(record.get("content")), fields.name(record.get("id")), at))
    if role == ASSISTANT and fields.objects(record.get("toolCalls")):
        yield Worked()
