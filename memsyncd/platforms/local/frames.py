"""The frame of a memory: its words, and which of them are values that a newer memory may change. Pure."""

# ruff: noqa: E501  (a pattern is read best on one line)

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.terms import fold
from memsyncd.platforms.local.vocabulary import alternatives

_TOKEN = re.compile(r"\d+(?:[.,:_]\d+)*%?|[^\W\d](?:[\w'+#./-]*[\w+#])?")
_FIGURE = re.compile(r"\d[\d.,:_]*%?")
_LETTER = re.compile(r"(?<=[a-z] )[A-HJ-Z]\b")

_NEGATING = """
not never no don't doesn't didn't isn't aren't won't can't cannot mustn't shouldn't without avoid stop forbidden
nicht niemals nie kein keine ne pas jamais nunca
"""
_NEGATIONS = frozenset(_NEGATING.split())
_SAYING_LITTLE = """
a an the we our us i you your it its it's is are was were be been am must should shall will would have has do does to that
this these those there please always all generally just simply really so then and use uses used using remember note decided
decision agreed
wir der die das dem den ein eine einen ist sind wird werden bitte immer unser unsere
nous le la les l un une est sont toujours el los las uno una es son siempre
"""
_FILLER = frozenset(_SAYING_LITTLE.split())
"""Words with or without which a sentence says the same. Not among them: what tells where, when, which or how much."""

_CHANGED = re.compile(
    r"\b(?:from now on|as of (?:now|today)|starting (?:now|today)|going forward|henceforth|now|any ?more|instead|currently|new|(?:chang|mov|switch|migrat|rais|lower|increas|reduc|decreas)(?:e|ed|ing)?|set|ab sofort|jetzt|kunftig|desormais|maintenant|ahora)\b",
    re.IGNORECASE,
)
_OLD = r"(?:(?:the|a|an|our|old|use|using|any|de|du|der|die|das)\s+){0,2}(?P<old>[\w+#](?:[\w.+#-]*[\w+#])?)"
_REPLACED = re.compile(
    r"(?:,\s*(?:not|nicht|pas|no)|\b(?:instead of|rather than|no longer|statt|anstatt|nicht mehr|au lieu de|en (?:vez|lugar) de"
    r"|replac(?:e|ed|ing)|drop(?:ped)?|remov(?:e|ed)|retir(?:e|ed)|scrap(?:ped)?|(?:mov|switch|migrat)(?:e|ed|ing)?\s+(?:away\s+|off\s+|over\s+)?(?:from|off)))\s+"
    + _OLD
    + r"(?:\s+(?:with|by|to|in favou?r of)\b)?",
    re.IGNORECASE,
)
"""What is over or turned down, with the words that say so."""

_MEASURES = """
ms s sec second seconds min minute minutes h hour hours day days week weeks month months year years kb mb gb tb kib mib gib
px fps percent euro euros dollar dollars cents tage stunden minuten sekunden
"""
_UNITS = frozenset(_MEASURES.split())
_INTRODUCING = """
is are be was to at than of most least about around every within exactly maximum minimum max min keep keeps keeping allow
allows need needs require requires retry retries version limit timeout size
"""
_BEFORE_VALUES = frozenset(_INTRODUCING.split())
"""What stands before a figure that is a value; any other word makes it that word's number: `service 1`, `step 2`."""

_BEFORE_PORTS = frozenset({"on", "to", "at", "is", "use", "uses"})
_PREDICATES = """
is are was were be has have had must should may can will shall does do takes take needs need runs run uses use keeps keep gets
goes holds
"""
_VERBS = frozenset(_PREDICATES.split())
"""What comes before one of them is what the sentence is about, not what it says of it."""

_RELATING = """
in on at for of with from by into onto per under over above below before after during between within through via until since
up down out off than if when as or only
"""
_PREPOSITIONS = frozenset(_RELATING.split())
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
WEEKDAYS = frozenset(map(stem, _DAYS.split()))
_ONE_MORE = "support supported add added accept allow available include install offer both another open"
_ADDING = frozenset(map(stem, _ONE_MORE.split()))
"""A sentence with one of these tells of one more, not of another one."""


@dataclass(frozen=True, slots=True)
class Frame:
    """`words`: stems without filler, figures with their units; `figures` and `choices`: those of them that are values;
    `replaced`: what it says is over; `changed`: whether it says that something changed."""

    words: Counter[str]
    subject: frozenset[str]
    figures: frozenset[str]
    choices: frozenset[str]
    replaced: frozenset[str]
    negated: bool
    changed: bool
    adds: bool


def frame_of(text: str) -> Frame:
    """Return the frame of any text."""
    folded = _LETTER.sub(lambda letter: f"letter_{letter.group()}", fold(text))
    replaced = frozenset(stem(found["old"].lower()) for found in _REPLACED.finditer(folded))
    kept = _REPLACED.sub(" ", folded)
    plain = _CHANGED.sub(" ", kept)
    tokens = _TOKEN.findall(plain.lower().replace("\u2019", "'"))
    words: list[str] = []
    subject: set[str] = set()
    figures: set[str] = set()
    choices: set[str] = set()
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if (
            token in _FILLER
            or token in _NEGATIONS
            or (token in _UNITS and index and _FIGURE.fullmatch(tokens[index - 1]))
        ):
            continue
        is_figure = _FIGURE.fullmatch(token) is not None
        word = (f"{token} {after}" if after in _UNITS else token) if is_figure else stem(token)
        words.append(word)
        if after in _VERBS or (not subject and (is_figure or word in WEEKDAYS)):
            pass
        elif is_figure and _is_value(tokens, index):
            figures.add(word)
        elif word in alternatives() or word in WEEKDAYS:
            choices.add(word)
        if token not in _PREPOSITIONS:
            subject.add(word)
    return Frame(
        words=Counter(words),
        subject=frozenset(subject),
        figures=frozenset(figures),
        choices=frozenset(choices),
        replaced=replaced,
        negated=any(token in _NEGATIONS for token in tokens),
        changed=plain != folded,
        adds=not _ADDING.isdisjoint(words),
    )


def _is_value(tokens: Sequence[str], index: int) -> bool:
    """Whether a figure says how much, and not which one."""
    before = tokens[index - 1] if index else ""
    if before == "port":
        return index > 1 and tokens[index - 2] in _BEFORE_PORTS
    is_measured = tokens[index].endswith("%") or not _UNITS.isdisjoint(tokens[index + 1 : index + 2])
    return is_measured or before in _BEFORE_VALUES
