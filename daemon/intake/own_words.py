"""What of a handoff may be recorded at all: nothing its author marked private, and nothing that we put there. Pure.

Done before an adapter reads it, so that no cut, digest or preview is made of what is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memsyncd.hooks.handoff import Handoff
from memsyncd.lifecycle.capture import without_own_context
from memsyncd.recall.context import HEADING, TAG
from memsyncd.redaction.private_spans import without_private

MAX_DEPTH = 64
"""Deeper than anything an adapter keeps; beyond it lies what somebody sends to exhaust us."""


_IN_JSON = re.compile(re.escape(HEADING) + r"(?:\\n\d+\. (?:(?!\\n)(?:\\.|[^\"\\\n]))*)+")
"""A context inside a string of JSON, as the agent's own transcript holds it and a tool prints it."""


def own_words(text: str) -> str:
    """Return `text` without contexts of ours and without `<private>` spans (DESIGN, promise 8)."""
    text = without_own_context(text)
    if HEADING in text:
        text = _IN_JSON.sub("", text)
    return without_private(text)


_SIGNS = (b"private", HEADING.lower().encode(), TAG.encode(), b"\\u00", "\u0130".encode(), "\u0131".encode())
"""One of these is in the bytes of a handoff, in lower case, that holds what is to be cleaned: the thing itself, one of
its letters spelled out, or a letter that counts as its `i`."""


def is_to_be_cleaned(content: bytes) -> bool:
    """Whether the JSON in `content` may hold what `of_handoff` leaves out. Most does not, which costs less to see."""
    lowered = content.lower()
    is_deep = content.count(b"[") + content.count(b"{") > MAX_DEPTH
    return is_deep or any(sign in lowered for sign in _SIGNS)


def of_handoff(handoff: Handoff) -> Handoff:
    """Return a handoff with every text in its hook's JSON, or in what stands for that, so cleaned."""
    hook_input = {key: _cleaned(value) for key, value in handoff.hook_input.items()}
    extra = handoff.extra
    if isinstance(extra.get("raw"), str):
        extra = {**extra, "raw": own_words(extra["raw"])}
    return replace(handoff, hook_input=hook_input, extra=extra)


def _cleaned(value: Any, depth: int = MAX_DEPTH) -> Any:
    if isinstance(value, str):
        return own_words(value)
    if not isinstance(value, Mapping | list):
        return value
    if depth == 0:
        return f"...{len(value)} left out"
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in value]
    return {key: _cleaned(item, depth - 1) for key, item in value.items()}
