"""From a question to weighted terms, and from matching memories to their order. Pure."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memsyncd.platforms.local import asking
from memsyncd.platforms.local.stop_words import NAMING_STEMS, WEAK_STEMS
from memsyncd.platforms.local.terms import fold, terms_of_question
from memsyncd.platforms.local.vocabulary import synonyms

MAX_QUERY_WORDS = 32
"""Words of a prompt that are searched for: of a longer one those that the fewest memories hold."""

MAX_ASKING_CHARS = 300
"""Up to so many characters a text is read as a question, which asks for something of a certain kind. In a longer one,
a prompt that tells and quotes, every such pattern finds something."""

SYNONYM_WEIGHT, KIN_WEIGHT, PART_WEIGHT, CONTEXT_WEIGHT = 0.7, 0.5, 0.75, 0.4
"""Beside 1 for the question's own word found in the memory's own text. Tuned on the tuning half of tests/corpus."""

WEAK_WEIGHT = 0.5
LENGTH_SHARE = 0.4
"""How much a memory longer than usual is held back (BM25's b)."""

USUAL_TERMS = 14
RECENT_GAIN, RECENT_DAYS = 0.08, 90.0
SEEN_GAIN, SEEN_MOST = 0.03, 4.0
INTENT_GAIN, FITTING_GAIN = 0.12, 0.6
"""Gentle gains: none outweighs one more rare word."""

NAMING_GAIN = 1.3
"""A word that names which environment or thing is meant weighs more than what is said of it."""

OTHER_ENVIRONMENT_SHARE = 0.5
"""What is left of a memory that speaks of another environment than the question."""


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
    text: str
    words: frozenset[str]
    parts: frozenset[str]
    context: frozenset[str]
    category: str
    seen: int
    age_days: float


def question_terms(text: str) -> Mapping[str, float]:
    """Return the terms of a question, each once and in order, and what each weighs beside a plain word's 1."""
    terms = terms_of_question(text)
    weights: dict[str, float] = {}
    for weight, group in ((1.0, terms.words), (1.0, terms.grams), (PART_WEIGHT, terms.parts)):
        for term in group:
            weights.setdefault(term, weight)
    return weights


def question_words(weights: Mapping[str, float], documents: Mapping[str, int]) -> Sequence[QueryWord]:
    """Return at most MAX_QUERY_WORDS of a question's terms, in their order, as words to ask for: the rarest that any
    memory holds, then those that none does."""
    kept = set(weights)
    if len(weights) > MAX_QUERY_WORDS:
        by_rarity = sorted((term for term in weights if term in documents), key=documents.__getitem__)
        absent = (term for term in weights if term not in documents)
        kept = set(itertools.islice(itertools.chain(by_rarity, absent), MAX_QUERY_WORDS))
    table = synonyms()
    return [
        QueryWord(term, weight * _share(term), table.get(term, frozenset()))
        for term, weight in weights.items()
        if term in kept
    ]


def _share(term: str) -> float:
    return WEAK_WEIGHT if term in WEAK_STEMS else NAMING_GAIN if term in NAMING_STEMS else 1.0


MIN_KIN_CHARS, MIN_COMPOUND_CHARS = 5, 9


def kin_prefix(term: str) -> str:
    """Return what words of the same family as `term` begin with, or empty where it is too short to tell."""
    length = max(MIN_KIN_CHARS, round(0.7 * len(term)))
    return (
        term[:length]
        if term.isalpha() and length < len(term)
        else term
        if len(term) >= MIN_KIN_CHARS and term.isalpha()
        else ""
    )


def compound_parts(term: str) -> Sequence[str]:
    """Return the beginnings and ends of a long word that may be words themselves: `schlafmodus` holds `schlaf`."""
    if not term.isalpha() or len(term) < MIN_COMPOUND_CHARS:
        return ()
    cuts = range(MIN_KIN_CHARS, len(term) - 1)
    return [*(term[:cut] for cut in cuts), *(term[-cut:] for cut in cuts)]


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


def order(question: str, worth: Mapping[str, Mapping[int, float]], rows: Sequence[Row]) -> Sequence[tuple[int, float]]:
    """Return (number, score) of `rows`, best first, given the `gains` of the question's terms. Scores are positive and
    mean something only within one answer."""
    folded = fold(question) if len(question) <= MAX_ASKING_CHARS else ""
    intents = asking.likely_categories(folded)
    shapes = asking.expected_shapes(folded)
    asked = asking.environments(folded)
    scored = []
    for row in rows:
        matched = _matched(row, worth)
        if matched > 0:
            fit = FITTING_GAIN if any(shape.search(row.text) for shape in shapes) else 0.0
            intent = INTENT_GAIN if row.category in intents else 0.0
            other = OTHER_ENVIRONMENT_SHARE if asking.speaks_of_another(asked, fold(row.text)) else 1.0
            scored.append((row.number, matched * other * _standing(row) * (1 + fit) * (1 + intent)))
    return sorted(scored, key=lambda pair: (-pair[1], -pair[0]))


def gains(words: Sequence[QueryWord], idf: Mapping[str, float]) -> Mapping[str, Mapping[int, float]]:
    """Return what meeting a term is worth, by the question's word (its place) that it meets."""
    found: dict[str, dict[int, float]] = {}
    for place, word in enumerate(words):
        own = idf.get(word.term, 0.0)
        worth = {term: SYNONYM_WEIGHT * min(idf.get(term, own), own) for term in word.near}
        worth |= {term: max(worth.get(term, 0.0), KIN_WEIGHT * own) for term in word.kin}
        worth[word.term] = own
        for term, value in worth.items():
            found.setdefault(term, {})[place] = word.weight * value
    return found


def _matched(row: Row, worth: Mapping[str, Mapping[int, float]]) -> float:
    """Return the sum, over the question's words, of the best way each is met: in the text, in a part of an
    identifier or, for less, in what stood around it."""
    best: dict[int, float] = {}
    for terms, share in ((row.words, 1.0), (row.parts, PART_WEIGHT), (row.context, CONTEXT_WEIGHT)):
        for term in terms & worth.keys():
            for place, value in worth[term].items():
                if value * share > best.get(place, 0.0):
                    best[place] = value * share
    return sum(best.values())


def _standing(row: Row) -> float:
    """Return the factor for length, age and how often it was said."""
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * max(1.0, len(row.words) / USUAL_TERMS)
    recent = 1 + RECENT_GAIN * math.exp(-max(0.0, row.age_days) / RECENT_DAYS)
    return recent * (1 + SEEN_GAIN * min(SEEN_MOST, math.log2(max(1, row.seen)))) / length
