"""From a model's answer to candidates for memories: nothing in it is believed unchecked. Pure and bounded."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec

from memsyncd.extracting.grounding import Ground
from memsyncd.extracting.prompt import LANES, MAX_CHARS, MAX_MEMORIES, MIN_CHARS
from memsyncd.platforms.instructions import CATEGORIES
from memsyncd.platforms.local.candidate import MODEL, PERSONAL, Candidate
from memsyncd.platforms.platform import Message

MAX_ITEMS = 200
"""Looked at in one answer; a model that repeats itself gives hundreds."""

MAX_TEXT_CHARS = 200_000
"""Of an answer; what is allowed takes a twentieth."""

SCORE, USERS_WORD = 1.5, 0.3
"""Between what the rules give a plain statement and a failed command; what the user said counts more, as there."""

Category = Literal["project_knowledge", "decisions_and_constraints", "workflows", "problems_and_fixes", "results"]
Lane = Literal["project", "personal"]
assert get_args(Category) == tuple(CATEGORIES)
assert get_args(Lane) == LANES

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


class Nonsense(Exception):
    """The answer is not what was asked for; the words say in what way, and hold nothing of it."""


class _Item(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(max_length=4 * MAX_CHARS)]
    category: Category
    lane: Lane


@dataclass(frozen=True, slots=True)
class Checked:
    """The candidates, and how many entries were turned down for which reason."""

    candidates: Sequence[Candidate]
    rejected: Mapping[str, int]


def checked(answer: str, piece: Sequence[Message], *, redact: Callable[[str], str], files: Sequence[str]) -> Checked:
    """Return what of an answer about `piece` is kept, at most MAX_MEMORIES.

    Raises Nonsense for an answer of another form, and for one of whose entries none is kept.
    """
    entries = _entries(answer)
    everybody = Ground(piece)
    person = Ground([message for message in piece if message.role == "user"])
    kept: dict[str, Candidate] = {}
    rejected: Counter[str] = Counter()
    for entry in entries[:MAX_ITEMS]:
        try:
            item = msgspec.convert(entry, _Item)
        except msgspec.ValidationError:
            rejected["form"] += 1
            continue
        text = _plain(item.text)
        why = _fault(text, item, everybody, person, redact)
        if why or text.casefold() in kept:
            rejected[why or "repeated"] += 1
            continue
        said_by_user = person.holds(text)
        score = SCORE + (USERS_WORD if said_by_user else 0.0)
        kept[text.casefold()] = Candidate(
            text, item.category, item.lane, score, everybody.context(text), files, made_by=MODEL
        )
    rejected["too many"] += max(0, len(entries) - MAX_ITEMS) + max(0, len(kept) - MAX_MEMORIES)
    if entries and not kept:
        told = ", ".join(f"{why}: {number}" for why, number in rejected.items() if number)
        raise Nonsense(f"none of its memories can be believed ({told})")
    return Checked(list(kept.values())[:MAX_MEMORIES], {why: number for why, number in rejected.items() if number})


def _fault(text: str, item: _Item, everybody: Ground, person: Ground, redact: Callable[[str], str]) -> str:
    """Return why an entry is turned down, or an empty text."""
    if not MIN_CHARS <= len(text) <= MAX_CHARS:
        return "length"
    if redact(text) != text:
        return "secret"
    ground = person if item.lane == PERSONAL else everybody
    return "" if ground.holds(text) else "not said"


def _entries(answer: str) -> Sequence[Any]:
    if len(answer) > MAX_TEXT_CHARS:
        raise Nonsense("it is far too long")
    text = _THINKING.sub("", answer).strip()
    if not text:
        raise Nonsense("it is empty")
    value = _json_in(text)
    entries = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise Nonsense("it is JSON of another form")
    return entries


def _json_in(text: str) -> Any:
    """Return the JSON value that a text is, or that is wrapped in it (a fence, a sentence before it)."""
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    ends = max(text.rfind("}"), text.rfind("]"))
    for part in (text, text[min(starts, default=0) : ends + 1]):
        try:
            return msgspec.json.decode(part.encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError):
            continue
    raise Nonsense("it is no JSON")


def _plain(text: str) -> str:
    """Return a text on one line, without what no person types."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())
