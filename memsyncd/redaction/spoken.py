"""Passwords told in scripts without spaces between words, where neither name nor value has an edge of its own."""

import re

from memsyncd.redaction.literals import is_made_up, is_prose
from memsyncd.redaction.names import UNSPACED_PASSWORDS
from memsyncd.redaction.replacement import REPLACEMENT

_NAMES = (*UNSPACED_PASSWORDS, "contrase\u00f1a")
"""The last for its escaped form."""

_VERBS = (
    "\u662f", "\u4e3a", "\u70ba", "\u5c31\u662f", "\u8bbe\u4e3a", "\u8bbe\u7f6e\u4e3a", "\u8bbe\u6210",
    "\u6539\u6210", "\u6539\u70ba", "\u6539\u4e3a", "\u8a2d\u70ba",  # Chinese
    "\u306f", "\ub294", "\uc740", "\u2014", " is", " es",
)  # fmt: skip
_SIGNS = (":", "=", "\uff1a", "\uff1d")
_QUOTES = ("\u300c", "\u300e", "\u201c", "\u2018", "\u00ab")


def _escapable(text: str) -> str:
    """Return a pattern for `text` as it is, and as JSON escapes it."""
    return "".join(
        re.escape(character) if character.isascii() else f"(?:{character}|\\\\{{1,8}}u(?i:{ord(character):04x}))"
        for character in text
    )


def _any_of(texts: tuple[str, ...]) -> str:
    return "|".join(map(_escapable, texts))


_SPOKEN = re.compile(
    f"(?:{_any_of(_NAMES)})" + r"\\{0,8}[\"'`]?[ \t]{0,4}"
    f"(?:(?P<sign>{_any_of(_SIGNS)})|(?:{_any_of(_VERBS)})(?:{_any_of((':', _SIGNS[2]))})?)"
    r"[ \t]{0,4}(?P<quote>\\{0,8}[\"'`]|" + _any_of(_QUOTES) + ")?"
    r"(?P<secret>\[REDACTED\]|(?:[A-Za-z0-9!#$%*+./:=?@^_~|-]|[&,;()](?=[A-Za-z0-9]))+)"
)
"""A name, a sign or verb, and a run of what passwords are made of: letters of these scripts end it."""

_FIRST = re.compile("[" + "".join(name[0] for name in UNSPACED_PASSWORDS) + "]")


def redact_spoken(text: str) -> str:
    """Return `text` without the passwords that such sentences tell."""
    escaped = "\\" in text and "\\u" in text
    if not escaped and (text.isascii() or _FIRST.search(text) is None):
        return text
    return _SPOKEN.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    word = match["secret"]
    secret = word.rstrip(".,:!?") or word
    if secret == REPLACEMENT or is_prose(secret) or secret[0] in "$%{/:":
        return match.group()
    if match["sign"] is None and match["quote"] is None and not is_made_up(secret):
        return match.group()
    start, offset = match.start("secret"), match.start()
    whole = match.group()
    return whole[: start - offset] + REPLACEMENT + whole[start - offset + len(secret) :]
