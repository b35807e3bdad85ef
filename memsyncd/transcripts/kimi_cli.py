"""The old kimi-cli's wire.jsonl: `{timestamp, message: {type, payload}}`.

The facts hold no description of it. The names are those of its wire protocol (MoonshotAI/kimi-cli 1.49);
what does not fit is passed over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Over, Said, Step, Turn, Worked


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells. A subagent's events come wrapped, under a name of their own, and are passed over."""
    message = fields.mapping(record.get("message"))
    payload = fields.mapping(message.get("payload"))
    at = fields.moment(record.get("timestamp"))
    match message.get("type"):
        case "TurnBegin" | "SteerInput":
            yield Said(Turn(USER, fields.words(payload.get("user_input")), at=at))
        case "ContentPart":
            if payload.get("type") == "text":
                yield Said(Turn(ASSISTANT, fields.text(payload.get("text")), at=at), joint="")
        case "StepBegin" | "ToolCall":
            yield Worked()
        case "TurnEnd":
            yield Over()
        case "StepInterrupted":
            yield Over(is_cut_short=True)
