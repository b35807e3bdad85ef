"""Does a sentence say anything by itself? "Please remember that." does not: it points at what is not in it. Pure."""

import re

from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.stop_words import WEAK_STEMS
from memsyncd.platforms.local.terms import fold, terms_of

_RULING = """
never always must forget mind bear keep sure note noted ensure record decide decided agree agreed settled decision rule
rules convention policy stop avoid forbidden allowed required mandatory mention say said stick happen repeat
follow forward future exception exceptions circumstances dont let stay
bitte merk merke dir euch vergiss denk daran wieder nie niemals immer mach mache tu
n c oublie oubliez retiens souviens jamais toujours fais refais faire ca
recuerda olvides nunca siempre hagas haz hacer vuelvas
"""
_RULING_STEMS = frozenset(map(stem, _RULING.split()))
"""What a rule is told with, without what it is about."""

_SECRETS = """
password passwords passphrase passwd pass pw pwd secret secrets token tokens key keys api access credential credentials
"""
_SECRET_STEMS = frozenset(map(stem, _SECRETS.split()))

_REDACTED = re.compile(r"\[REDACTED[^\]]{0,40}\]", re.IGNORECASE)
_REDACTED_OBJECT = re.compile(
    r"\b(?:us(?:e|es|ing)|take|enter|type|paste|verwende|nimm|benutze|utilise|usa)\s{1,4}(?:this |the )?"
    r"[\"'`]?\[REDACTED",
    re.IGNORECASE,
)
_REDACTED_END = re.compile(
    r"(?:\b(?:is|are|ist|est|es)(?: (?:always|now|immer|toujours|siempre))?|[:=])\s{0,4}"
    r"[\"'`]?\[REDACTED[^\]]{0,40}\][\"'`]?\W{0,4}\Z",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?P<verb>\w+)(?:'t)?\s+(?:it|this|that|these|those|them)"
    r"(?:\s+(?:again|any ?more|ever|either|please|now|too|here|there|(?:like|for) (?:this|that))){0,4}\W*\Z",
    re.IGNORECASE,
)
"""A verb, and a pronoun for what it is about."""

_REDACTED_RULES = ((_REDACTED, 0), (_REDACTED_END, 2), (_REDACTED_OBJECT, 4))
"""Beside how many words what was taken out was all there was to say."""


def says_nothing(text: str) -> bool:
    """Whether `text` rules without telling what: its object is a pronoun alone, or a secret that was taken out."""
    folded = fold(text)
    terms = terms_of(_REDACTED.sub(" ", folded))
    if terms.grams:
        return False  # written without spaces, or partly: its words are not told apart
    about = frozenset(terms.words) - WEAK_STEMS - _RULING_STEMS
    if _REDACTED.search(folded):
        about -= _SECRET_STEMS
        return any(len(about) <= most and pattern.search(folded) for pattern, most in _REDACTED_RULES)
    points = _POINTS.search(folded)
    return not about or (points is not None and about == {stem(points["verb"].lower())})
