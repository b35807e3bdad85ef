"""What may be told of an event's properties: no private key at any depth, no secret, and little (facts 12.5). Pure."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from memsyncd.redaction.names import announces
from memsyncd.telemetry.event import whole

PRIVATE_KEYS = frozenset(
    {
        "apikey", "authorization", "password", "query", "secret", "prompt", "token", "text", "memory", "message",
        "error", "path", "cwd", "userid", "agentid", "runid", "repoid", "repositoryid", "projectid", "appid", "filters",
        # Beyond 12.5: what names a session, a repository or a person by itself (12.6 wants these hashed).
        "sessionid", "repository", "repo", "directory", "branch", "transcriptpath", "email", "username", "hostname",
        "distinctid",  # whose an event is stands beside the properties
    }
)  # fmt: skip
"""Keys that are dropped, in lower case and without anything but letters and digits (facts 12.5)."""

CUT = "properties_cut"
"""The property that counts what was left out or shortened by the bounds below, where anything was."""

MAX_DEPTH = 6
"""Objects and lists within each other, the properties themselves being the first."""

MAX_VALUES = 200
"""Entries looked at, of all objects and lists together, whether kept or not."""

MAX_TEXT, MAX_KEY = 256, 64
"""Characters kept of a text and of a key: telemetry tells labels, not texts."""

_LOOKED_AT = 4
"""A text longer than so many times what is kept is left out whole: cut before it is redacted it could show half a
secret, and redacting it all costs time."""

_LARGEST = 2**63
"""Integers beyond 64 bits are other programs' trouble."""

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


def clean(properties: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """Return what may be told of `properties`: JSON values only, without nulls, private keys and secrets.

    Keys are dropped in any spelling, those that announce a secret too; `redact` sees every text, keys included.
    Values that are no JSON, and what is beyond the bounds of depth, number and length, are counted under CUT.
    """
    pass_ = _Pass(redact)
    cleaned = pass_.mapping(properties, 1)
    if pass_.cut:
        cleaned[CUT] = pass_.cut
    return cleaned


@lru_cache(maxsize=512)
def is_private(key: str) -> bool:
    """Whether `key`, in any spelling, is one whose value is nobody's business (facts 12.5)."""
    plain = _NOT_ALPHANUMERIC.sub("", unicodedata.normalize("NFKD", key).casefold())
    return plain in PRIVATE_KEYS or announces(key)


_LEFT_OUT = object()


class _Pass:
    """One pass over one event's properties, with what it has left of the bounds."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._left = MAX_VALUES
        self.cut = 0

    def mapping(self, source: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        target: dict[str, Any] = {}
        for key, item in self._within_bounds(source.items(), len(source)):
            if item is None or (isinstance(key, str) and len(key) <= _LOOKED_AT * MAX_KEY and is_private(key)):
                continue
            name = self._key(key)
            if is_private(name):
                continue  # redacted and shortened it is another key
            value = self._value(item, depth) if name and name not in target else self._leave_out()
            if value is not _LEFT_OUT:
                target[name] = value
        return target

    def _list(self, source: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        items = (
            item if item is None else self._value(item, depth) for item in self._within_bounds(source, len(source))
        )
        return [item for item in items if item is not _LEFT_OUT]

    def _within_bounds(self, entries: Iterable[Any], number: int) -> Iterator[Any]:
        for seen, entry in enumerate(entries):
            if self._left <= 0:
                self.cut += number - seen
                return
            self._left -= 1
            yield entry

    def _value(self, value: Any, depth: int) -> Any:  # noqa: PLR0911  (one return for each type of JSON)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value) if -_LARGEST <= value < _LARGEST else self._leave_out()
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else self._leave_out()
        if depth >= MAX_DEPTH:
            return self._leave_out()
        if isinstance(value, Mapping):
            return self.mapping(value, depth + 1)
        if isinstance(value, list | tuple):
            return self._list(value, depth + 1)
        return self._leave_out()

    def _text(self, text: str) -> Any:
        if len(text) > _LOOKED_AT * MAX_TEXT:
            return self._leave_out()
        redacted = self._redact(whole(text))
        if len(redacted) > MAX_TEXT:
            self.cut += 1
        return redacted[:MAX_TEXT]

    def _key(self, key: Any) -> str:
        """Return the key redacted, or an empty string for one that is none."""
        if not isinstance(key, str) or len(key) > _LOOKED_AT * MAX_KEY:
            return ""
        return self._redact(whole(key))[:MAX_KEY]

    def _leave_out(self) -> object:
        self.cut += 1
        return _LEFT_OUT
