"""Do two memories say the same, or does the newer one overrule the older? Pure."""

# ruff: noqa: E501  (a pattern is read best on one line)

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from memsyncd.platforms.local.frames import Frame, frame_of
from memsyncd.platforms.local.overruling import overrules
from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.stop_words import WEAK_STEMS
from memsyncd.platforms.local.terms import Terms, fold, terms_of

SAME_SHARE = 0.62
"""Weighted share of common terms from which two memories say the same. Tuned on the tuning half of tests/corpus."""

CONTAINED_SHARE = 0.88
"""... or of the shorter one's terms that are in the longer."""

MIN_CONTAINED_TERMS = 3
_OVERRULED_BY = frozenset({"project_knowledge", "decisions_and_constraints", "workflows"})
"""Where the newest word counts. Results and problems are history: a newer figure does not make the older one wrong."""

_SAYING = "agreed propose proposal suggest recommend decided decision rule note"
_TALK = WEAK_STEMS | frozenset(map(stem, _SAYING.split()))
"""Words that may differ between two memories that say the same."""

_NARROWING = """
staging production prod preprod sandbox dev environment folder directory package module branch language region
app site service team tenant customer
"""
_PLACES = frozenset(map(stem, _NARROWING.split()))
_FEW_MORE = 4
"""So few words more, with a place among them, make a narrower memory and not a fuller one."""

_NEGATION = re.compile(
    r"\b(?:not|never|no longer|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|mustn'?t|shouldn'?t|without|avoid|stop|forbidden|nicht|niemals|nie|kein\w*|ne|pas|jamais|nunca|no)\b|禁止|しない|ない"
)
_TURNING = "on off before after above below over under with without up down in out more less first last old new"
_CONTRARIES = frozenset(_TURNING.split())
"""Stop words and weak words of which one for the other says something else."""

_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"(?<=[a-z] )[A-HJ-Z]\b")


class Relation(Enum):
    """What a newer claim is to an older one."""

    SAME = "same"
    OVERRULES = "overrules"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Claim:
    """A memory prepared for comparing. `contraries`: its words whose opposite would say something else,
    and the letters that number things."""

    text: str
    category: str
    terms: frozenset[str]
    contraries: frozenset[str]
    negated: bool
    frame: Frame


def fingerprint(text: str, *, lane: str, owner: str, app_id: str) -> str:
    """Return what identifies a memory's content within its lane: word order and spelling variants do not matter."""
    terms = terms_of(text)
    content = " ".join(sorted(terms.all)) + ("!" if _is_negated(text) else "")
    whole = "\0".join((app_id, lane, owner, content or text.casefold()))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def claim_of(text: str, category: str, terms: Terms | None = None) -> Claim:
    """Return `text` prepared for comparing."""
    terms = terms or terms_of(text)
    return Claim(
        text=text,
        category=category,
        terms=frozenset(terms.words) | frozenset(terms.grams),
        contraries=_contraries(text),
        negated=_is_negated(text),
        frame=frame_of(text),
    )


def are_contrary(one: str, other: str) -> bool:
    """Whether two texts of the same terms say something else: `turn it on` and `turn it off`, queue A and queue B."""
    return _are_contrary(_contraries(one), _contraries(other))


def relation(new: Claim, old: Claim, weight: Callable[[str], float]) -> Relation:
    """Return what `new` is to `old`; `weight` is a term's rarity."""
    common = new.terms & old.terms
    if {new.category, old.category} <= _OVERRULED_BY and overrules(new.frame, old.frame):
        return Relation.OVERRULES
    if not common or new.negated != old.negated or _tell_apart(new, old):
        return Relation.DIFFERENT
    share = _sum(common, weight) / _sum(new.terms | old.terms, weight)
    small = min(len(new.terms), len(old.terms))
    if share >= SAME_SHARE or (small >= MIN_CONTAINED_TERMS and _contained(new, old, weight) >= CONTAINED_SHARE):
        return Relation.SAME
    return Relation.DIFFERENT


def fuller(new: Claim, old: Claim, weight: Callable[[str], float]) -> str:
    """Return the text to keep of two that say the same: the newer, unless the older says clearly more."""
    return old.text if _sum(old.terms - new.terms, weight) > _sum(new.terms - old.terms, weight) * 1.5 else new.text


def _tell_apart(new: Claim, old: Claim) -> bool:
    """Whether each says something that the other does not, or one of them the same of one place only."""
    mine, theirs = new.terms - old.terms - _TALK, old.terms - new.terms - _TALK
    if (mine and theirs) or _are_contrary(new.contraries, old.contraries):
        return True
    if new.frame.words == old.frame.words:
        return False
    more = mine or theirs
    return len(more) <= _FEW_MORE and not more.isdisjoint(_PLACES)


def _contraries(text: str) -> frozenset[str]:
    folded = fold(text)
    return _CONTRARIES.intersection(_WORD.findall(folded.lower())) | frozenset(_LETTER.findall(folded))


def _are_contrary(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _contained(new: Claim, old: Claim, weight: Callable[[str], float]) -> float:
    smaller = min(_sum(new.terms, weight), _sum(old.terms, weight))
    return _sum(new.terms & old.terms, weight) / smaller if smaller else 0.0


def _sum(terms: frozenset[str], weight: Callable[[str], float]) -> float:
    return sum(weight(term) for term in terms)


def _is_negated(text: str) -> bool:
    folded = fold(text).lower()
    return _NEGATION.search(re.sub(r"\bnot only\b|\binstead of not\b|\bno\.", " ", folded)) is not None
