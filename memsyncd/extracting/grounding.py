"""Whether a memory is said in the dialogue it is claimed to be from. Pure and bounded.

No understanding of meaning: a memory is believed whose names and figures all stand in the dialogue and whose other
words mostly do. What a model makes up fails this; a sentence turned into its opposite does not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.platform import Message

SHARE = 0.6
"""Share of a memory's words that the dialogue must have: two of five may be the model's own ("uses", "the team")."""

MAX_CONTEXT_CHARS = 400

_PIECE_WORDS, _PIECE_CHARS = 60, 600
"""A text is taken in pieces of this size: as many terms as `terms_of` takes of one, and enough for a context."""

_PROPER = re.compile(r"(?<![.!?:;] )(?<!^)(?<![\w-])[A-Z]\w+|\b\w+[a-z0-9][A-Z]\w*|\b[A-Z]{2,}\w*")
"""A capital inside a sentence or a word: mostly a name."""

_NUMBER = re.compile(r"\d+")
_FIGURE_OR_NAME = re.compile(r"[\d_]")
"""In a term: it is a figure, or an identifier like `host3` and `max_retries`."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    terms: frozenset[str]
    request: str


class Ground:
    """A dialogue, prepared once for all memories that are held against it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._pieces = list(_pieces(messages))
        self._terms = frozenset(term for piece in self._pieces for term in piece.terms)
        self._text = fold("\n".join(message.content for message in messages)).lower()

    def holds(self, text: str) -> bool:
        """Whether `text` is grounded here."""
        terms = terms_of(text)
        said = frozenset(terms.words) | frozenset(terms.grams)
        if not said:
            return False
        if not all(self._has(term) for term in said if _FIGURE_OR_NAME.search(term)):
            return False
        if not all(self._names(word) for word in _PROPER.findall(fold(text))):
            return False
        return sum(self._has(term) for term in said) >= SHARE * len(said)

    def context(self, text: str) -> str:
        """Return what helps to find `text`: the piece it is closest to, and the request that led there."""
        terms = terms_of(text).all
        nearest = max(self._pieces, key=lambda piece: len(piece.terms & terms), default=None)
        return "" if nearest is None else f"{nearest.text[:MAX_CONTEXT_CHARS]} {nearest.request}".strip()

    def _has(self, term: str) -> bool:
        """Whether a term stands here, whole, by all its parts (`api_client_py`), or by its figure (`8s`)."""
        if term in self._terms:
            return True
        parts = [part for part in term.split("_") if part]
        if len(parts) > 1:
            return all(part in self._terms or part in self._text for part in parts)
        number = _NUMBER.match(term)
        return number is not None and number.group() in self._terms

    def _names(self, word: str) -> bool:
        return word.lower() in self._text or not terms_of(word).words


def _pieces(messages: Sequence[Message]) -> Iterator[_Piece]:
    request = ""
    for message in messages:
        if message.role == "user":
            request = message.content[:MAX_CONTEXT_CHARS]
        words = [part for word in message.content.split() for part in _cut(word)]
        for start in range(0, len(words), _PIECE_WORDS):
            joined = " ".join(words[start : start + _PIECE_WORDS])
            for text in _cut(joined):
                yield _Piece(text, terms_of(text).all, request)


def _cut(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE_CHARS):
        yield text[start : start + _PIECE_CHARS]
