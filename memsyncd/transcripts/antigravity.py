"""Antigravity's JSONL (hooks-and-apis 2C): one line per step, numbered; a step written again replaces the first."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Over, Rewound, Said, Step, Turn, Worked

_REQUEST = re.compile(r"<USER_REQUEST>(.*?)(?:</USER_REQUEST>|\Z)", re.DOTALL)


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells. A prompt under a number that is taken already goes back to there."""
    number = fields.name(record.get("step_index"))
    at = fields.moment(record.get("created_at"))
    content = fields.words(record.get("content"))
    source, kind = record.get("source"), record.get("type")
    if source == "USER_EXPLICIT" and kind == "USER_INPUT":
        if number:
            yield Rewound(number, if_known=True)
        yield Said(Turn(USER, _request(content), number, at))
    elif kind == "PLANNER_RESPONSE" and source == "MODEL":
        if content.strip() and record.get("status") != "ERROR":
            yield Said(Turn(ASSISTANT, content, number, at))
        if fields.objects(record.get("tool_calls")):
            yield Worked()
        elif content.strip() and record.get("status") != "ERROR":
            yield Over()


def _request(content: str) -> str:
    found = _REQUEST.search(content)
    return found[1].strip() if found else content
