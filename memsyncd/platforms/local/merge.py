"""Do two memories say the same, or does the newer one overrule the older? Pure."""

# ruff: noqa: E501  (a pattern is read best on one line)

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.terms import Terms, fold, terms_of
from memsyncd.platforms.local.vocabulary import alternatives

SAME_SHARE = 0.62
"""Weighted share of common terms from which two memories say the same. Tuned on the tuning half of tests/corpus."""

CONTAINED_SHARE = 0.88
"""... or of the shorter one's terms that are in the longer."""

MIN_CONTAINED_TERMS = 3
SUBJECT_SHARE = 0.5
"""Weighted share of the shorter one's other terms that both must have for a differing value to be a change of mind."""

MIN_SUBJECT_TERMS = 2
"""Fewer words beside the figure do not name what it measures."""

_UNITS = frozenset(
    stem(unit)
    for unit in [
        "ms",
        "sec",
        "second",
        "seconds",
        "min",
        "minute",
        "minutes",
        "hour",
        "hours",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "kb",
        "mb",
        "gb",
        "kib",
        "mib",
        "gib",
        "px",
        "fps",
        "percent",
        "euro",
        "euros",
        "dollar",
        "dollars",
        "cents",
        "take",
        "takes",
    ]
)
_OVERRULED_BY = frozenset({"project_knowledge", "decisions_and_constraints", "workflows"})
"""Where the newest word counts. Results and problems are history: a newer figure does not make the older one wrong."""

_NEGATION = re.compile(
    r"\b(?:not|never|no longer|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|mustn'?t|shouldn'?t|without|avoid|stop|forbidden|nicht|niemals|nie|kein\w*|ne|pas|jamais|nunca|no)\b|禁止|しない|ない"
)
_REJECTED = re.compile(
    r"\b(?:not|never|instead of|rather than|over|from|no longer|anymore|don'?t use|do not use|statt|anstatt|nicht|au lieu de|plutot que|en (?:vez|lugar) de)\s+"
    r"(?:(?:the|a|an|our|use|using|any|de|du|der|die|das)\s+){0,2}([\w.+-]+)"
)
_REPLACED = re.compile(
    r"\b(?:replaced?|drop(?:ped)?|remov(?:e|ed)|retir(?:e|ed)|scrap(?:ped)?|(?:moved|switched|migrated|moving|switching|migrating|move|switch|migrate) (?:away |off |over )?(?:from|off))\s+(?:(?:the|a|an|our|old)\s+){0,2}([\w.+-]+)"
    r"|\b(?:instead of|rather than|no longer (?:use )?|statt|anstatt|au lieu de|en (?:vez|lugar) de)\s+(?:(?:the|a|an|our|use|using)\s+){0,2}([\w.+-]+)"
)
_FIGURE = re.compile(r"\d[\d_]*[a-z%]{0,4}")
_NAME = re.compile(r"[\d_]")
_CHANGED = re.compile(
    r"\b(?:now|no longer|switch\w*|mov(?:e|ed|ing)|migrat\w+|chang\w+|replac\w+|instead|any ?more|from now on|jetzt|nicht mehr|desormais|maintenant|ahora)\b"
)
_WEEKDAYS = frozenset(
    stem(day) for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
)


class Relation(Enum):
    """What a newer claim is to an older one."""

    SAME = "same"
    OVERRULES = "overrules"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Claim:
    """A memory prepared for comparing. `numbers` are its figures, `names` its identifiers (`host3`, `max_retries`),
    `chosen` what it takes of several alternatives, `replaced` what it says is over."""

    text: str
    category: str
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    chosen: frozenset[str]
    replaced: frozenset[str]
    negated: bool


def fingerprint(text: str, *, lane: str, owner: str, app_id: str) -> str:
    """Return what identifies a memory's content within its lane: word order and spelling variants do not matter."""
    terms = terms_of(text)
    content = " ".join(sorted(terms.all)) + ("!" if _is_negated(text) else "")
    whole = "\0".join((app_id, lane, owner, content or text.casefold()))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def claim_of(text: str, category: str, terms: Terms | None = None) -> Claim:
    """Return `text` prepared for comparing."""
    terms = terms or terms_of(text)
    folded = fold(text).lower()
    rejected = _stems(_REJECTED, folded) | _stems(_REPLACED, folded)
    content = frozenset(terms.words) | frozenset(terms.grams)
    return Claim(
        text=text,
        category=category,
        terms=content,
        numbers=frozenset(term for term in content if _FIGURE.fullmatch(term)),
        names=frozenset(term for term in content if _NAME.search(term) and not _FIGURE.fullmatch(term)),
        chosen=frozenset(term for term in content if term in alternatives() or term in _WEEKDAYS) - rejected,
        replaced=_stems(_REPLACED, folded),
        negated=_is_negated(text),
    )


def relation(new: Claim, old: Claim, weight: Callable[[str], float]) -> Relation:
    """Return what `new` is to `old`; `weight` is a term's rarity."""
    union = new.terms | old.terms
    if not union or not new.terms & old.terms:
        return Relation.DIFFERENT
    share = _sum(new.terms & old.terms, weight) / _sum(union, weight)
    contained = _contained(new.terms, old.terms, weight)
    overrules = {new.category, old.category} <= _OVERRULED_BY and _overrules(new, old, weight, share)
    if overrules:
        return Relation.OVERRULES
    clash = _clash(new.numbers, old.numbers) or _clash(new.names, old.names)
    if new.negated != old.negated or clash or _rivals(new, old):
        return Relation.DIFFERENT
    small = min(len(new.terms), len(old.terms))
    if share >= SAME_SHARE or (contained >= CONTAINED_SHARE and small >= MIN_CONTAINED_TERMS):
        return Relation.SAME
    return Relation.DIFFERENT


def fuller(new: Claim, old: Claim, weight: Callable[[str], float]) -> str:
    """Return the text to keep of two that say the same: the newer, unless the older says clearly more."""
    return old.text if _sum(old.terms - new.terms, weight) > _sum(new.terms - old.terms, weight) * 1.5 else new.text


def _overrules(new: Claim, old: Claim, weight: Callable[[str], float], share: float) -> bool:
    if _rivals(new, old):
        rest_new, rest_old = new.terms - new.chosen - _values(old), old.terms - old.chosen - _values(new)
        return not rest_new or not rest_old or _contained(rest_new, rest_old, weight) >= SUBJECT_SHARE
    if new.replaced & old.terms and not new.replaced & old.replaced and not old.negated:
        return _contained(new.terms - new.replaced, old.terms - new.replaced, weight) >= SUBJECT_SHARE
    if _clash(new.numbers, old.numbers) and not _clash(new.names, old.names):
        rest_new, rest_old = new.terms - new.numbers - _UNITS, old.terms - old.numbers - _UNITS
        if min(len(rest_new), len(rest_old)) < MIN_SUBJECT_TERMS:
            return False
        closeness = _contained(rest_new, rest_old, weight)
        needed = SUBJECT_SHARE + (0.1 if _CHANGED.search(fold(new.text).lower()) else 0.3)
        return len(rest_new & rest_old) > 0 and closeness >= needed and len(new.numbers ^ old.numbers) <= 4  # noqa: PLR2004  (one value against another, not two tables)
    return new.negated != old.negated and share >= SAME_SHARE and not _clash(new.names, old.names)


def _rivals(new: Claim, old: Claim) -> bool:
    """Whether each chooses something the other does not, of one set of alternatives."""
    for mine in new.chosen - old.chosen:
        others = _WEEKDAYS - {mine} if mine in _WEEKDAYS else alternatives().get(mine, frozenset())
        if others & (old.chosen - new.chosen):
            return True
    return False


def _values(claim: Claim) -> frozenset[str]:
    return claim.chosen | claim.replaced


def _clash(new: frozenset[str], old: frozenset[str]) -> bool:
    return bool(new - old) and bool(old - new)


def _contained(one: frozenset[str], other: frozenset[str], weight: Callable[[str], float]) -> float:
    smaller = min(_sum(one, weight), _sum(other, weight))
    return _sum(one & other, weight) / smaller if smaller else 0.0


def _sum(terms: frozenset[str], weight: Callable[[str], float]) -> float:
    return sum(weight(term) for term in terms)


def _stems(pattern: re.Pattern[str], folded: str) -> frozenset[str]:
    return frozenset(stem(group.strip(".-")) for found in pattern.finditer(folded) for group in found.groups() if group)


def _is_negated(text: str) -> bool:
    folded = fold(text).lower()
    return _NEGATION.search(re.sub(r"\bnot only\b|\binstead of not\b|\bno\.", " ", folded)) is not None
