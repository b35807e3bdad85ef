"""From a question to weighted terms, and from matching memories to their order. Pure."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.local.vocabulary import synonyms

MAX_QUERY_TERMS = 48
"""Distinct words taken from a prompt (the longest prompts, 6,000 characters, repeat themselves by then)."""

SYNONYM_WEIGHT, KIN_WEIGHT, PART_WEIGHT, CONTEXT_WEIGHT = 0.4, 0.6, 0.8, 0.3
"""Beside 1 for the question's own word found in the memory's own text. Tuned on the tuning half of tests/corpus."""

LENGTH_SHARE = 0.4
"""How much a memory longer than usual is held back (BM25's b)."""

USUAL_TERMS = 14
COVERAGE_SHARE = 0.35
RECENT_GAIN, RECENT_DAYS = 0.08, 90.0
SEEN_GAIN, SEEN_MOST = 0.03, 4.0
INTENT_GAIN = 0.08
"""Gentle gains: none outweighs one more rare word."""

_INTENT = {
    "problems_and_fixes": re.compile(r"\b(?:error|fail\w*|broke\w*|crash\w*|bug|wrong|fix\w*|cause\w*|problem|trouble|slow|leak\w*|stuck|hang\w*|fehler|erreur|problema)\b", re.I),
    "workflows": re.compile(r"\b(?:how (?:do|can|to|should)|command|steps?|run|deploy\w*|procedure|wie (?:kann|starte)|comment)\b", re.I),
    "decisions_and_constraints": re.compile(r"\b(?:should|may|must|allowed|prefer\w*|decide\w*|decision|chose\w*|policy|rule|convention|why (?:did|do|not)|which|instead|darf|soll\w*)\b", re.I),
    "results": re.compile(r"\b(?:how (?:much|fast|many|long|big|large)|numbers?|result\w*|benchmark\w*|accuracy|faster|gain\w*|improve\w*)\b", re.I),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a question: its own term and, weighted lower, those that mean nearly the same (`near`) and those of
    the index that begin alike (`kin`: other endings, in languages the stemmer does not know)."""

    term: str
    weight: float
    near: frozenset[str] = frozenset()
    kin: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """A matching memory as the ranking sees it; `age_days` since it was last seen."""

    number: int
    words: frozenset[str]
    parts: frozenset[str]
    context: frozenset[str]
    category: str
    seen: int
    age_days: float


def question_words(text: str) -> Sequence[QueryWord]:
    """Return the words of a question, each once, in order."""
    terms = terms_of(text)
    table = synonyms()
    found: dict[str, QueryWord] = {}
    for weight, group in ((1.0, terms.words), (1.0, terms.grams), (PART_WEIGHT, terms.parts)):
        for term in group:
            if term not in found:
                found[term] = QueryWord(term, weight, table.get(term, frozenset()))
    return list(found.values())[:MAX_QUERY_TERMS]


MIN_KIN_CHARS = 5


def kin_prefix(term: str) -> str:
    """Return what words of the same family as `term` begin with, or empty where it is too short to tell."""
    length = max(MIN_KIN_CHARS, round(0.7 * len(term)))
    return term[:length] if term.isalpha() and length < len(term) else term if len(term) >= MIN_KIN_CHARS and term.isalpha() else ""


def rarity(documents: int, total: int) -> float:
    """Return the inverse document frequency of a term, as BM25 takes it; never below 0.05."""
    return max(0.05, math.log(1 + (total - documents + 0.5) / (documents + 0.5)))


def chosen_terms(words: Sequence[QueryWord], documents: Mapping[str, int], *, budget: int) -> Sequence[str]:
    """Return the terms to ask the index for: the rarest first until their documents together exceed `budget`.

    A question's own word goes before its synonyms; at least one term is returned where any has a document.
    """
    own = [word.term for word in words if documents.get(word.term)]
    near = {term for word in words for term in word.near | word.kin if documents.get(term)} - set(own)
    ordered = sorted(own, key=lambda term: documents[term]) + sorted(near, key=lambda term: documents[term])
    chosen: list[str] = []
    spent = 0
    for term in ordered:
        if chosen and spent + documents[term] > budget:
            continue
        chosen.append(term)
        spent += documents[term]
    return chosen


def order(
    question: str, words: Sequence[QueryWord], rows: Sequence[Row], idf: Mapping[str, float]
) -> Sequence[tuple[int, float]]:
    """Return (number, score) of `rows`, best first; scores are positive and mean something only within one answer."""
    folded = fold(question)
    intents = {category for category, pattern in _INTENT.items() if pattern.search(folded)}
    total = sum(word.weight * idf.get(word.term, 0.0) for word in words) or 1.0
    scored = [(row.number, _score(row, words, idf, total, intents)) for row in rows]
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], -pair[0]))


def _score(row: Row, words: Sequence[QueryWord], idf: Mapping[str, float], total: float, intents: set[str]) -> float:
    matched = sum(_match(row, word, idf) for word in words)
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * max(1.0, len(row.words) / USUAL_TERMS)
    coverage = min(1.0, matched / total)
    recent = 1 + RECENT_GAIN * math.exp(-max(0.0, row.age_days) / RECENT_DAYS)
    seen = 1 + SEEN_GAIN * min(SEEN_MOST, math.log2(max(1, row.seen)))
    intent = 1 + (INTENT_GAIN if row.category in intents else 0.0)
    return matched / length * (1 - COVERAGE_SHARE + COVERAGE_SHARE * coverage) * recent * seen * intent


def _match(row: Row, word: QueryWord, idf: Mapping[str, float]) -> float:
    own = idf.get(word.term, 0.0)
    if word.term in row.words:
        return word.weight * own
    best = word.weight * own * PART_WEIGHT if word.term in row.parts else 0.0
    if not best:
        kin = KIN_WEIGHT if not word.kin.isdisjoint(row.words) or not word.kin.isdisjoint(row.parts) else 0.0
        near = [idf[term] for term in word.near if term in row.words or term in row.parts]
        best = max(kin * own, SYNONYM_WEIGHT * min(max(near), own) if near else 0.0) * word.weight
    return max(best, CONTEXT_WEIGHT * own if word.term in row.context else 0.0)
