"""Stems of English words, after M. F. Porter, "An algorithm for suffix stripping" (Program 14, 1980).

The same stems serve the index, the query and the merging of near-duplicates, so that the three agree on what is the
same word; SQLite's own porter tokenizer could only serve the first two.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

_CONSONANT = "(?:[^aeiouy]|(?<![^aeiou])y|^y)"
_VOWEL = "(?:[aeiou]|(?<=[^aeiou])y)"
_MEASURE = re.compile(f"{_VOWEL}+{_CONSONANT}+")
_HAS_VOWEL = re.compile(_VOWEL)
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")
_SHORT = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al",
    "er", "ic", "ou",
)  # fmt: skip

_MIN_STEMMED = 3
"""Words shorter than this stay as they are (Porter leaves one and two letters alone)."""


def _measure(stem: str) -> int:
    return len(_MEASURE.findall(stem))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and _HAS_VOWEL.search(stem):
            if stem.endswith(("at", "bl", "iz")) or (_measure(stem) == 1 and _SHORT.search(stem)):
                return stem + "e"
            return stem[:-1] if _DOUBLE.search(stem) else stem
    return word


def _replace(word: str, rules: Sequence[tuple[str, str]]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if _measure(stem) > 0 else word
    return word


def _residual(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem if _measure(stem) > 1 else word
    stem = word.removesuffix("ion")
    return stem if stem != word and stem.endswith(("s", "t")) and _measure(stem) > 1 else word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _SHORT.search(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case `word`; anything but plain ASCII letters comes back unchanged."""
    if len(word) < _MIN_STEMMED or not word.isascii() or not word.isalpha():
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and _HAS_VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    return _tidy(_residual(_replace(_replace(word, _STEP_2), _STEP_3)))
