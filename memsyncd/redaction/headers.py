"""Header values that reach to the end of their line: Authorization and Cookie."""

import re

from memsyncd.redaction.literals import is_reference
from memsyncd.redaction.replacement import REPLACEMENT

_VALUE = re.compile(r"(?:[^\r\n\"'`\\]|(?<==)\\{0,8}\"[^\"\r\n\\]*\\{0,8}\")+")
"""To the line's end, an escaped one, or the quote around the header; quoted parameters (`username="…"`) belong to it."""

_SCHEME = re.compile(
    r"(?i)(?:bearer|basic|digest|token|negotiate|ntlm|api-?key|aws4-hmac-sha256|hawk|oauth|hmac(?:-sha256)?|dpop|mac"
    r"|key|signature|splunk|sharedkey(?:lite)?|gnap|privatetoken|jwt)[ \t]+"
)
_PROSE = frozenset({"is", "are", "the", "a", "an", "not", "none", "required", "optional", "header", "missing", "see"})
_FEW_WORDS = 2


def authorization_end(text: str, start: int) -> int:
    """Return where the Authorization value at `start` ends, or `start` if this is prose or names a variable."""
    found = _VALUE.match(text, start)
    if found is None:
        return start
    value = found.group().rstrip()
    end = start + len(value)
    scheme = _SCHEME.match(value)
    if scheme is not None:
        rest = start + scheme.end()
        return start if is_reference(text, rest, end) else end
    words = value.split()
    if not words or len(words) > _FEW_WORDS or words[0].lower() in _PROSE or is_reference(text, start, end):
        return end if REPLACEMENT in value else start
    return end


def cookie_end(text: str, start: int) -> int:
    """Return where the Cookie or Set-Cookie value at `start` ends, or `start` if it has no `name=value`."""
    found = _VALUE.match(text, start)
    if found is None:
        return start
    value = found.group().rstrip()
    return start + len(value) if re.match(r"[^\s=;,]{1,256}=", value) else start
