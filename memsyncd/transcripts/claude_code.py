"""Claude Code's JSONL (hooks-and-apis 2A). Its lines form a tree: a prompt sent again hangs on an earlier line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsyncd.hooks.prompt_noise import persons_words
from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Branched, Linked, Over, Said, Step, Turn, Worked

PERSONS_SOURCES = frozenset({"typed", "queued", "sdk", ""})
"""Values of `promptSource` that stand for a person's words; old clients have none."""

NOT_PERSONS = ("Caveat:", "Base directory for this skill:")
INTERRUPTED = "[Request interrupted by user"

_ONLY_SHOWN = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells."""
    line = fields.name(record.get("uuid"))
    kind = record.get("type")
    message = fields.mapping(record.get("message"))
    blocks = fields.objects(message.get("content"))
    if kind == "user" and not any(block.get("type") == "tool_result" for block in blocks):
        told = _prompt(record, message)
    elif kind == "assistant":
        told = _reply(record, message, blocks)
    else:
        told = ()
    is_sidechain = record.get("isSidechain") is True
    if told and line and not is_sidechain:
        yield Branched(line, fields.name(record.get("parentUuid")))
    yield from told if not is_sidechain else [step for step in told if isinstance(step, Said)]
    if line:
        yield Linked(line)


def _prompt(record: Mapping[str, Any], message: Mapping[str, Any]) -> Sequence[Step]:
    if any(record.get(key) is True for key in _ONLY_SHOWN):
        return ()
    text = fields.words(message.get("content"))
    if text.startswith(INTERRUPTED):
        return (Over(is_cut_short=True),)
    kind = fields.text(fields.mapping(record.get("origin")).get("kind"))
    if (kind or "human") != "human" or (not kind and fields.text(record.get("promptSource")) not in PERSONS_SOURCES):
        return ()
    said, _ = persons_words(text)
    if not said.strip() or said.startswith(NOT_PERSONS):
        return ()
    return (Said(_turn(record, USER, said, fields.name(record.get("uuid")))),)


def _reply(
    record: Mapping[str, Any], message: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]
) -> Sequence[Step]:
    if record.get("isApiErrorMessage") is True:
        return ()
    told: list[Step] = []
    line = fields.name(record.get("uuid"))
    if (text := fields.words(message.get("content"))).strip():
        turn = _turn(record, ASSISTANT, text, fields.name(message.get("id")) or line)
        told.append(Said(turn, joint="\n", part=line))
    if any(block.get("type") == "tool_use" for block in blocks):
        told.append(Worked())
    elif message.get("stop_reason") == "end_turn":
        told.append(Over())
    return told


def _turn(record: Mapping[str, Any], role: str, text: str, name: str) -> Turn:
    return Turn(role, text, name, fields.moment(record.get("timestamp")), record.get("isSidechain") is True)
