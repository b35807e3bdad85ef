"""From text to the terms that are indexed, asked for and compared.

A term is a stem, a whole identifier with its parts joined by `_` (so that `maxRetries`, `max_retries` and
`max-retries` are one), or two neighbouring characters of a script written without spaces.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.stop_words import STOP_WORDS

MAX_TERM_CHARS = 64
"""Longer ones are hashes, keys and encoded data: nobody asks for them in words."""

MAX_TERMS = 400
"""Terms taken from one text, so that work per text is bounded; a memory of 400 characters has fewer than 100."""

MAX_QUESTION_TERMS = 3_000
"""A prompt of 6,000 characters (facts 7.3) has at most some 1,500 words in any script."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
)
"""What is written without spaces, or with few."""

_WITH_SIGNS = "\u0900-\u0963\u0970-\u0dff"
"""Scripts whose vowels are signs, which are no letters to a regular expression but belong to their word: Devanagari to
Sinhala, without their full stops."""

_LETTER = rf"(?:[^\W{_UNSPACED}]|[{_WITH_SIGNS}])"
_RUN = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:[-./:\\@+~]+{_LETTER}+)*")
_ASCII_RUN = re.compile(r"\w+(?:[-./:\\@+~]+\w+)*", re.ASCII)
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]")
_SEPARATORS = re.compile(r"[-./:\\@+~_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER_AND_UNIT = re.compile(r"(\d+)([a-z%]+)")
_COMBINING = re.compile(
    "[\u0300-\u036f"  # accents
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"  # Arabic's
)
"""What is written or not, and says the same."""

_PIECE = 1_000
"""Characters normalised at a time: of marks alone, each is put in order among all before it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a text, in order and with repeats: `words` (stems and whole identifiers), `parts` of identifiers
    as stems, `grams` of scripts without spaces."""

    words: Sequence[str]
    parts: Sequence[str]
    grams: Sequence[str]

    @property
    def all(self) -> frozenset[str]:
        """Every term once."""
        return frozenset(self.words) | frozenset(self.parts) | frozenset(self.grams)


def fold(text: str) -> str:
    """Return `text` with compatibility forms unified and accents dropped; case is kept."""
    if text.isascii():
        return text
    return "".join(_folded(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE))


def _folded(text: str) -> str:
    plain = _COMBINING.sub("", unicodedata.normalize("NFKD", text.replace("ß", "ss")))
    return unicodedata.normalize("NFC", plain)


def split_identifier(identifier: str) -> Sequence[str]:
    """Return the lower-case parts of a snake, camel, kebab, dotted or slashed identifier."""
    return [part.lower() for piece in _SEPARATORS.split(identifier) for part in _CAMEL.split(piece) if part]


@lru_cache(maxsize=16)
def terms_of(text: str) -> Terms:
    """Return the terms of any text, stop words left out. What becomes of a memory asks several times in a row."""
    return _sorted_out(_runs(text), MAX_TERMS)


def terms_of_question(text: str) -> Terms:
    """Return the terms of a question or prompt: those of each of its words once, however often it stands there."""
    return _sorted_out(dict.fromkeys(_runs(text)), MAX_QUESTION_TERMS)


def is_lone_character(term: str) -> bool:
    """Whether a term is a single character of a script without spaces; in the index it stands inside pairs."""
    return len(term) == 1 and _UNSPACED_RUN.match(term) is not None


def _runs(text: str) -> Sequence[str]:
    return _ASCII_RUN.findall(text) if text.isascii() else _RUN.findall(fold(text))


def _sorted_out(runs: Iterable[str], most: int) -> Terms:
    groups: dict[str, list[str]] = {"word": [], "part": [], "gram": []}
    for kind, term in itertools.islice(itertools.chain.from_iterable(map(_terms, runs)), most):
        groups[kind].append(term)
    return Terms(*map(tuple, groups.values()))


@lru_cache(maxsize=8_192)
def _terms(run: str) -> Sequence[tuple[str, str]]:
    """Return kind and term of what one word, identifier or run of characters without spaces is indexed by."""
    if _UNSPACED_RUN.match(run):
        return [("gram", gram) for gram in _bigrams(run)]
    pieces = split_identifier(run)
    return list(_word(pieces[0]) if len(pieces) == 1 else _identifier(pieces)) if pieces else []


def _bigrams(run: str) -> Sequence[str]:
    return [run[index : index + 2] for index in range(len(run) - 1)] or [run]


def _word(word: str) -> Iterator[tuple[str, str]]:
    if len(word) > MAX_TERM_CHARS or word in STOP_WORDS or not word.strip("_"):
        return
    yield "word", stem(word)
    measured = _NUMBER_AND_UNIT.fullmatch(word)
    if measured:
        yield "part", measured.group(1)


def _identifier(pieces: Sequence[str]) -> Iterator[tuple[str, str]]:
    whole = "_".join(pieces)
    if len(whole) <= MAX_TERM_CHARS:
        yield "word", whole
    if all(piece.isdigit() for piece in pieces):
        return
    for piece in pieces:
        if len(piece) <= MAX_TERM_CHARS and piece not in STOP_WORDS and (len(piece) > 1 or piece.isdigit()):
            yield "part", stem(piece)
