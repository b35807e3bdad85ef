"""Redaction of texts and of JSON values: what every string passes before it is stored, sent or logged."""

import json
from collections.abc import Callable
from typing import Any, TypeGuard

from memsyncd.redaction.chance import looks_like_key
from memsyncd.redaction.contexts import redact_contexts
from memsyncd.redaction.named import redact_named
from memsyncd.redaction.names import Kind, kind_of
from memsyncd.redaction.pem import redact_blocks
from memsyncd.redaction.replacement import REPLACEMENT
from memsyncd.redaction.spoken import redact_spoken
from memsyncd.redaction.vendors import redact_vendors

_SHORTEST = 5
"""Characters of the shortest text with a secret in it: a name, a sign, a value."""

_SHORTEST_BARE = 15
"""Characters of the shortest secret told by its own shape (facts 6.4)."""

_PASSES, _LOOKED_AT = 8, 200_000
"""One pass more after each that took something out, for what stood there may have kept its neighbour from looking like
a secret: so many, or as many as look at so many characters in all."""

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def redact(text: str) -> str:
    """Return `text` with every secret we can tell replaced by REPLACEMENT.

    Idempotent, but for long texts made of nothing but names of secrets; linear in the length; raises for no text. What
    parsed as JSON before, as a whole or line by line, parses afterwards.
    """
    if len(text) < _SHORTEST or (len(text) < _SHORTEST_BARE and text.isalnum()):
        return text
    for _ in range(max(_PASSES, _LOOKED_AT // len(text))):
        redacted = _once(text)
        if redacted == text:
            return text
        text = redacted
    return text


def _once(text: str) -> str:
    redacted = _pass(text)
    if redacted is not text and redacted != text and text.lstrip()[:1] in {"{", "[", '"'}:
        redacted = _keep_parseable(text, redacted)
    return redacted


def _pass(text: str) -> str:
    if "PRIVATE KEY" in text:
        text = redact_blocks(text)
    lowered = _lower(text)
    # A mark put in on the way only takes secrets out, so the same lowered text still tells what may be there.
    changed = redact_spoken(redact_contexts(redact_vendors(text), lowered))
    if changed is not text:
        lowered = _lower(changed)
    return redact_named(changed, lowered)


def _lower(text: str) -> str:
    """Return `text` in lower case, each character in its place (some have a longer lower case)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _keep_parseable(before: str, after: str) -> str:
    """Return `after`, or where redaction broke JSON that parsed, the same made by walking the parsed value."""
    value = _parsed(before)
    if value is not _NOT_JSON:
        return after if _same_shape(value, _parsed(after)) else json.dumps(redact_value(value), ensure_ascii=False)
    lines_before, lines_after = before.split("\n"), after.split("\n")
    if len(lines_before) < 2 or len(lines_before) != len(lines_after):  # noqa: PLR2004  (one line was tried above)
        return after
    return "\n".join(
        was if was == now else _keep_parseable(was, now) for was, now in zip(lines_before, lines_after, strict=True)
    )


_NOT_JSON = object()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _same_shape(before: Any, after: Any) -> bool:
    """Whether both have as many entries at every place: no string ran into the next."""
    work = [(before, after)]
    while work:
        one, other = work.pop()
        if isinstance(one, dict):
            if not isinstance(other, dict) or len(one) != len(other):
                return False
            work += zip(one.values(), other.values(), strict=True)
        elif isinstance(one, list):
            if not isinstance(other, list) or len(one) != len(other):
                return False
            work += zip(one, other, strict=True)
        elif other is _NOT_JSON or isinstance(other, dict | list):
            return False
    return True


def redact_value(value: Any, redact: Callable[[str], str] = redact) -> Any:
    """Return a copy of a JSON value with every string redacted, keys too, at any depth.

    `redact` may be one that remembers; it returns what `redact` does.

    Under a secret name (`{"token": 123}`) every string and number is replaced, down to the leaves; null and booleans
    tell nothing and stay. `{"name": "API_KEY", "value": "…"}` counts as such a pair. Values that are not JSON stay.
    """
    holder: list[Any] = []
    # Containers to fill: (what to read, where to write, whether a secret name stands above).
    work: list[tuple[Any, Any, bool]] = []
    holder.append(_copied(value, work, redact, secret=False))
    while work:
        source, target, secret = work.pop()
        if isinstance(source, dict):
            for key, item in source.items():
                hidden = secret or _hides(key, item) or (key in _VALUE_KEYS and _is_announced(source, item))
                target[_free_key(key, target)] = _copied(item, work, redact, secret=hidden)
        else:
            flag = ""
            for item in source:
                hidden = secret or bool(flag and not _is_flag(item) and _hides(flag, item))
                target.append(_copied(item, work, redact, secret=hidden))
                flag = item.lstrip("-") if _is_flag(item) and "=" not in item else ""
    return holder[0]


def _copied(value: Any, work: list[tuple[Any, Any, bool]], redact: Callable[[str], str], *, secret: bool) -> Any:
    if isinstance(value, str):
        return REPLACEMENT if secret else redact(value)
    if isinstance(value, dict | list | tuple):
        target: Any = {} if isinstance(value, dict) else []
        work.append((value, target, secret))
        return target
    return REPLACEMENT if secret and value is not None and not isinstance(value, bool) else value


_VALUE_KEYS = ("value", "Value")
_NAME_KEYS = ("name", "Name", "key", "Key")

_plain_keys: set[str] = set()
"""Keys seen that hold no secret: a handoff's are the same ones again and again."""

_PLAIN_KEYS, _LONGEST_PLAIN_KEY = 2_000, 64


_UNCERTAIN = frozenset({Kind.AUTH, Kind.PWD, Kind.PASS, Kind.LOGIN})


def _hides(key: Any, item: Any) -> bool:
    """Whether `key` makes `item` a secret; a name that is not certain does so for the texts it would in a text."""
    if not isinstance(key, str):
        return False
    kind = kind_of(key)
    if kind is Kind.KEY:
        return isinstance(item, str) and looks_like_key(item)
    if kind in _UNCERTAIN and isinstance(item, str):
        pair = json.dumps({key: item}, ensure_ascii=False)
        return _pass(pair) != pair
    return kind is not None and kind not in _UNCERTAIN


def _is_announced(source: dict[Any, Any], item: Any) -> bool:
    """Whether `{"name": …, "value": item}` is a pair with a secret."""
    return any(_hides(source.get(key), item) for key in _NAME_KEYS)


def _is_flag(item: Any) -> TypeGuard[str]:
    return isinstance(item, str) and item.startswith("-")


def _free_key(key: Any, target: dict[Any, Any]) -> Any:
    """Return `key` redacted, made different from the keys there already, so that no entry is lost."""
    if not isinstance(key, str):
        return key
    if key in _plain_keys:
        free = key
    else:
        free = redact(key)
        if free == key and len(key) <= _LONGEST_PLAIN_KEY and len(_plain_keys) < _PLAIN_KEYS:
            _plain_keys.add(key)
    while free in target:
        free += "'"
    return free


def bounded(text: str, limit: int) -> str:
    """Return `text` redacted, trimmed and cut to `limit` characters, with a line that says how many were cut.

    That line comes on top of the limit (facts 6.37).
    """
    trimmed = redact(text).strip()
    if len(trimmed) <= limit:
        return trimmed
    return f"{trimmed[:limit]}\n...[truncated {len(trimmed) - limit} chars]"
