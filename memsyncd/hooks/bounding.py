"""Cutting what a hook tells down to what evidence may hold. Nothing here raises on any JSON value."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

Redact = Callable[[str], str]
"""Takes secrets out of a text. It has to come before a cut: half a secret no longer looks like one."""

WINDOW = 1 << 14
"""Characters at each end of a text that are looked at beyond its limit, so that a cut of 16 MB costs no more."""

MAX_JSON = 1 << 16
"""Bytes of JSON kept of an event whose form we do not know (issue 2)."""

MAX_INTEGER_BITS = 64
"""Longer numbers neither SQLite nor a parser of another language takes as they are."""

MAX_WORD = 100
_DATA = re.compile(r"data:([\w.+/-]*)[^,]*;base64,")
MAX_DEPTH = 8
_STEPS = ((4096, 200), (1024, 100), (256, 50), (64, 20), (16, 5))
"""Characters a string and entries a list or object may have, tried in order until MAX_JSON is kept."""


def unredacted(text: str) -> str:
    """Return `text`: for callers whose texts hold no secrets, such as tests."""
    return text


def head(text: str, limit: int, redact: Redact) -> str:
    """Return the beginning of `text`, redacted, of at most `limit` characters and a mark where more followed."""
    cut = text[: limit + WINDOW]
    shown = redact(cut).strip()
    if len(cut) == len(text) and len(shown) <= limit:
        return shown
    shown = shown[:limit]
    return f"{shown}\n...[{max(0, len(text) - len(shown))} characters left out]"


def ends(text: str, limit: int, redact: Redact) -> str:
    """Return the beginning and the end of `text`, redacted, about `limit` characters: of output, the end tells most."""
    if len(text) <= limit + 2 * WINDOW:
        shown = redact(text).strip()
        if len(shown) <= limit:
            return shown
        first, last = shown, shown
    else:
        first, last = redact(text[:WINDOW]).strip(), redact(text[-WINDOW:]).strip()
    first, last = first[: limit // 3], last[-(limit - limit // 3) :]
    return f"{first}\n...[{max(0, len(text) - len(first) - len(last))} characters left out]...\n{last}"


def digest(text: str) -> dict[str, Any]:
    """Return what is kept of a text that is left out: its length in characters and a hash that tells it again."""
    return {"chars": len(text), "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def data(text: str) -> str:
    """Return what is kept of a file given in a text, such as a picture; "" where the text is none."""
    kind = _DATA.match(text[:MAX_WORD])
    return f"[{kind[1] or 'data'} of {len(text)} characters, sha256 {digest(text)['sha256'][:16]}]" if kind else ""


def document(value: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """Return a JSON object cut to MAX_JSON bytes: strings and collections shortened, the deepest parts left out."""
    cut: dict[str, Any] = {}
    for characters, entries in _STEPS:
        cut = _object(value, characters, entries, MAX_DEPTH, redact)
        if len(json.dumps(cut)) <= MAX_JSON:
            return cut
    return {"left_out": len(value)}


def _object(value: Mapping[str, Any], characters: int, entries: int, depth: int, redact: Redact) -> dict[str, Any]:
    kept = {
        head(str(key), characters, redact): _value(item, characters, entries, depth - 1, redact)
        for key, item in list(value.items())[:entries]
    }
    return kept | ({"...": f"{len(value) - entries} left out"} if len(value) > entries else {})


def _value(value: object, characters: int, entries: int, depth: int, redact: Redact) -> Any:
    if isinstance(value, Mapping):
        return _object(value, characters, entries, depth, redact) if depth > 0 else f"...{len(value)} left out"
    if isinstance(value, list | tuple):
        kept = [_value(item, characters, entries, depth - 1, redact) for item in value[: entries if depth > 0 else 0]]
        return kept + ([f"...{len(value) - len(kept)} left out"] if len(value) > len(kept) else [])
    if isinstance(value, str):
        return data(value) or head(value, characters, redact)
    return _plain(value)


def _plain(value: object) -> Any:
    """Return a number, true, false or null as it is, or told in words where JSON or SQLite could not hold it."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > MAX_INTEGER_BITS:
        return f"...a number of {value.bit_length()} bits"
    is_kept = value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_kept else str(value)[:MAX_WORD]
