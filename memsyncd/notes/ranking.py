"""How well a note answers a query. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memsyncd.notes.words import IN_KEY
from memsyncd.platforms.local.terms import terms_of

MAX_QUERY_WORDS = 24
PART_SHARE, GRAM_SHARE = 0.6, 1.0
"""What a part of an identifier and a pair of neighbours count for, beside 1 for a whole word."""

BEGINNING_SHARE, INSIDE_SHARE = 0.7, 0.4
"""What another word that begins with the query's, or holds it, counts for."""

KEY_GAIN = 2.0
"""A word in the key against the same word in the value: the key says what the note is about."""

PHRASE_GAIN, KEY_PHRASE_GAIN = 0.5, 1.0
SAME_KEY_GAIN = 1_000.0
"""Above everything else: the query is the key."""

LENGTH_GAIN = 0.1
LONG_WORDS = 50
"""A long note is held back a little: it meets words by chance."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query, and what else in the index counts as it, each with its share; its own term has 1."""

    term: str
    weight: float
    alike: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note as the ranking sees it: `words` as they are indexed."""

    number: int
    key: str
    words: frozenset[str]
    updated_at: int


def query_words(query: str) -> Sequence[QueryWord]:
    """Return the words of a query, each once, in order. None: it has only function words or none at all."""
    terms = terms_of(query)
    weights: dict[str, float] = {}
    for weight, group in ((1.0, terms.words), (GRAM_SHARE, terms.grams), (PART_SHARE, terms.parts)):
        for term in group:
            weights.setdefault(term, weight)
    return [QueryWord(term, weight, {term: 1.0}) for term, weight in list(weights.items())[:MAX_QUERY_WORDS]]


@dataclass(frozen=True, slots=True)
class Gains:
    """What meeting a term is worth: by term, the places of the query's words that it meets and the gain of each.
    `weights` are those words' own, by place."""

    by_term: Mapping[str, Sequence[tuple[int, float]]]
    weights: Sequence[float]


def gains(words: Sequence[QueryWord], worth: Mapping[str, float]) -> Gains:
    """Return the gains of a query's words; `worth` is how rare each is."""
    by_term: dict[str, list[tuple[int, float]]] = {}
    for place, word in enumerate(words):
        for term, share in word.alike.items():
            gain = share * word.weight * worth[word.term]
            by_term.setdefault(term, []).append((place, gain))
            by_term.setdefault(IN_KEY + term, []).append((place, KEY_GAIN * gain))
    return Gains(by_term, [word.weight for word in words])


def score(query: str, gains: Gains, note: Candidate) -> float:
    """Return how well the words of a note fit, by rarity, place and how many of the query's words are met."""
    best: dict[int, float] = {}
    for term in gains.by_term.keys() & note.words:
        for place, gain in gains.by_term[term]:
            best[place] = max(gain, best.get(place, 0.0))
    if not best:
        return 0.0
    covered = sum(gains.weights[place] for place in best) / sum(gains.weights)
    length = 1 + LENGTH_GAIN * math.log2(1 + len(note.words) / LONG_WORDS)
    return sum(best.values()) * covered / length * (1 + key_gain(query, note.key))


def key_gain(query: str, key: str) -> float:
    """Return the gain of a key that is the query, or holds it as it is written."""
    asked, named = query.strip().casefold(), key.strip().casefold()
    if asked == named:
        return SAME_KEY_GAIN
    return KEY_PHRASE_GAIN if asked in named else 0.0


def phrase_gain(query: str, value: str) -> float:
    """Return the gain of a value that holds the query as it is written."""
    return PHRASE_GAIN if query.strip().casefold() in value.casefold() else 0.0
