"""Secrets told by the name before them, in any notation: `name=value`, JSON however escaped, YAML, code, flags.

A trigger finds the names, then one look at what follows each decides whether there is a value and where it ends. Every
look either takes what it has read or stops within a fixed distance, so the cost is linear in the text.
"""

import re

from memsyncd.redaction.following import secrets_after
from memsyncd.redaction.names import kind_of
from memsyncd.redaction.replacement import REPLACEMENT
from memsyncd.redaction.telling import Name

_TRIGGER = re.compile(
    "p(?:ass(?!ed|ing)|w(?=d|[^a-z]|\\Z))|secret|token|c(?:red|ookie|ontrase(?:\u00f1|n\u0303?)a)|auth(?!or[^i])"
    "|ke(?:y(?!word)|nnwort)"
)
"""Part of every telling name; plain, for it runs over all text. What is left out here is only common and harmless."""

_NAME_REST = re.compile(r"[A-Za-z0-9_-]{0,48}")
_FOLLOWS = frozenset(" \u00a0\u202f\t\r\n:=\"'`\\]?!>%,(")
"""What can stand between a name and its value."""

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_MAX_NAME = 64
_SIGN = 8
"""Characters of a sign, of the quote before it and of a block's sign after it, that a value may have taken in behind a
name."""

_TARGET = re.compile(r"(?:\b(?:self|this|cls)\.|(?:\A|\n)[ \t]*[A-Za-z_][\w.]*(?:, [A-Za-z_][\w.]*)*, )\Z")
"""What stands before a target of an assignment in code: `self.token = …`, `user, password = …`."""

_FRENCH, _FRENCH_END = "mot de passe", "de passe"
"""The second also stands behind `code` and `phrase`, and behind what was taken for the first's beginning."""

_ESCAPED = re.compile(r"[nrtbfv](?=.)")
_CODED = re.compile(r"u00[0-9a-fA-F]{2}")
_PERCENT = re.compile(r"[0-9A-Fa-f]{2}")
_COLOUR = re.compile(r"[0-9]{1,3}m")


def redact_named(text: str, lowered: str) -> str:
    """Return `text` without the values that follow telling names; `lowered` is as long as `text`, in lower case."""
    pieces: list[str] = []
    done = read = 0
    for trigger in _TRIGGER.finditer(lowered):
        if trigger.start() < read:
            continue
        rest = _NAME_REST.match(text, trigger.end())
        read = rest.end() if rest else trigger.end()
        name = _name_at(text, trigger.start(), read) if text[read : read + 1] in _FOLLOWS else None
        if name is None or name.end < done - _SIGN:
            continue
        for secret in secrets_after(text, name):
            is_told = text[secret.start : secret.end].strip() != REPLACEMENT
            if secret.start >= done and is_told:
                pieces += (text[done : secret.start], secret.replacement)
                done = secret.end
                read = max(read, done - _MAX_NAME)  # what was taken for a value may end in the name of the next one
    if not pieces:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def _name_at(text: str, start: int, end: int) -> Name | None:
    least = max(0, start - _MAX_NAME)
    while start > least and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    before = text[start - 1] if start else ""
    if before in {" ", "."} and text[start : start + 3].lower() == "key":  # "API key", two words
        start -= 1
        while start > least and text[start - 1].isalpha():
            start -= 1
        before = text[start - 1] if start else ""
    is_french = before == " " and text[max(0, start - 3) : end].lower() == _FRENCH_END
    if is_french:
        start -= 7 if text[max(0, start - 7) : end].lower() == _FRENCH else 3
        before = text[start - 1] if start else ""
    for mark, pattern in (("\\", _ESCAPED), ("\\", _CODED), ("%", _PERCENT), ("[;", _COLOUR)):
        if before and before in mark and (escape := pattern.match(text, start, end)):
            start = escape.end()
            break
    name = _FRENCH if is_french else text[start:end].strip("-")
    kind = kind_of(name)
    if kind is None:
        return None
    target = before in {".", " "} and _TARGET.search(text, max(0, start - _MAX_NAME), start) is not None
    return Name(start, end, name, kind, flag=text[start] == "-", is_target=target)
