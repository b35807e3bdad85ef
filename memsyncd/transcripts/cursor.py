"""Cursor's agent transcript: `{role, message: {content: [{type, text}]}}`.

Undocumented (hooks-and-apis 1C); its answers also come by `afterAgentResponse`. The shape is that of messages as most
models' interfaces have them, with the role beside, inside, or as the line's type, as other programs read it
(hindsight-cursor-cli 0.3.0); what does not fit is passed over. It tells no end of a turn, and neither ids nor times.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Said, Step, Turn, Worked

_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_CALLS = ("tool_use", "tool_call", "tool-call")
"""A tuple, for what is looked for may be of any type of JSON."""


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells."""
    message = fields.mapping(record.get("message")) or record
    kind = record.get("type")
    role = record.get("role") or message.get("role") or kind
    content = message.get("content")
    if kind in _CALLS:
        yield Worked()
    if role not in (USER, ASSISTANT):
        return
    text = fields.words(content)
    name = fields.name(record.get("id") or message.get("id"))
    at = fields.moment(record.get("timestamp"))
    if role == USER:
        found = _QUERY.search(text)
        yield Said(Turn(USER, found[1].strip() if found else text, name, at))
        return
    yield Said(Turn(ASSISTANT, text, name, at))
    if any(part.get("type") in _CALLS for part in fields.objects(content)):
        yield Worked()
