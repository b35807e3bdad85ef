"""How a setting that may hold a secret is told: an address as a place alone, a command without what it says itself."""

import re
import shlex

_PLACE = re.compile(r"(?P<scheme>[^:/?#]*://)?(?:[^/?#]*@)?(?P<place>[^?#]*)")

_SAYING = frozenset({"echo", "printf"})
"""Programs whose arguments are what they print."""


def place(url: str, mask: str = "") -> str:
    """Return an address without user, query and fragment, which may be or hold secrets and say nothing of where it
    leads; `mask` stands for a user and for a query that were there."""
    found = _PLACE.match(url)
    assert found is not None  # it matches nothing too
    scheme, where = found["scheme"] or "", found["place"]
    user = f"{mask}@" if mask and found.start("place") > len(scheme) else ""
    query = f"?{mask}" if mask and found.end() < len(url) else ""
    return f"{scheme}{user}{where}{query}"


def holds_secret(url: str) -> bool:
    """Whether a user, or a secret in the query, stands in an address: `?sslmode=require` is none."""
    from memsyncd.redaction import redact  # noqa: PLC0415  (as below)

    found = _PLACE.match(url)
    assert found is not None
    rest = url[found.end() :]
    return found.start("place") > len(found["scheme"] or "") or redact(rest) != rest


def command(line: str, mask: str) -> str:
    """Return a command line as it is, with `mask` for a secret that stands in it instead of coming from elsewhere."""
    from memsyncd.redaction import redact  # noqa: PLC0415  (every command reads settings, and few show this one)
    from memsyncd.redaction.chance import is_random_password, looks_like_key  # noqa: PLC0415

    try:
        words = shlex.split(line)
    except ValueError:
        return mask  # no shell would run it either
    if words and words[0].rpartition("/")[2] in _SAYING:
        return f"{words[0]} {mask}"
    told = redact(line)
    for word in (part for each in words for part in each.split()):
        if looks_like_key(word) or is_random_password(word):
            told = told.replace(word, mask)
    return told
