"""Header values that reach to the end of their line: Authorization and Cookie."""

import re

from memsyncd.redaction.literals import is_reference
from memsyncd.redaction.names import announces

_VALUE = re.compile(r"(?:[^\r\n\"'`\\]|(?<==)\\{0,8}\"[^\"\r\n\\]*\\{0,8}\")+")
"""To the line's end, an escaped one, or the quote around the header; quoted parameters (`realm="…"`) belong to it."""

_SCHEME = re.compile(
    r"(?i)(?:bearer|basic|digest|token|negotiate|ntlm|api-?key|aws4-hmac-sha256|hawk|oauth|hmac(?:-sha256)?|dpop|mac"
    r"|key|signature|splunk|sharedkey(?:lite)?|gnap|privatetoken|jwt)[ \t]+"
)
_PROSE = frozenset({"is", "are", "the", "a", "an", "not", "none", "required", "optional", "header", "missing", "see"})
_WORD = re.compile(r"[^\s\"'`\\]+")
_LONG_WORD = 64
"""A longer word is no prose."""
_SECOND = re.compile(r"[ \t]{1,8}[^\s\"'`\\]{1,256}(?=[ \t]{0,8}(?:[\r\n\"'`\\]|\Z))|(?=[ \t]{0,8}(?:[\r\n\"'`\\]|\Z))")
"""At most one more word before the value's end."""
_PAIR = re.compile(r"[^\s=;,]{1,256}=")


def authorization_end(text: str, start: int) -> int:
    """Return where the Authorization value at `start` ends, or `start` if this is prose or names a variable."""
    scheme = _SCHEME.match(text, start)
    if scheme is not None:
        end = _value_end(text, start)
        return start if is_reference(text, scheme.end(), end) else end
    word = _WORD.match(text, start)
    if word is None or is_reference(text, start, word.end()):
        return start
    if len(word.group()) > _LONG_WORD:
        return word.end()
    second = _SECOND.match(text, word.end())
    is_name = word.group()[-1] in ":=" and announces(word.group().rstrip(":="))
    return start if second is None or is_name or word.group().lower() in _PROSE else second.end()


def cookie_end(text: str, start: int) -> int:
    """Return where the Cookie or Set-Cookie value at `start` ends, or `start` if it has no `name=value`."""
    return _value_end(text, start) if _PAIR.match(text, start) else start


def _value_end(text: str, start: int) -> int:
    found = _VALUE.match(text, start)
    return start + len(found.group().rstrip()) if found else start
