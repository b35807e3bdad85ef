"""`<private>…</private>`: what its author wants nowhere kept."""

import re

_TAG = re.compile(r"<\s*(/\s*)?private\b[^<>]*>", re.IGNORECASE)

MAX_PASSES = 10
"""Tags made of what stood around other tags, again and again, are somebody's game: the rest of such a text goes."""


def without_private(text: str) -> str:
    """Return `text` without its private spans, nested ones whole, one that is never closed to the end of the text.

    Idempotent: where taking a span out makes a new tag of what stood around it, that one goes too. A closing tag alone
    stays, for nothing says what it would close.
    """
    for _ in range(MAX_PASSES):
        cut = _once(text)
        if cut == text:
            return text
        text = cut
    opening = next((tag for tag in _TAG.finditer(text) if not tag.group(1)), None)
    return text[: opening.start()] if opening else text


def _once(text: str) -> str:
    kept: list[str] = []
    depth = end = 0
    for tag in _TAG.finditer(text):
        closing = bool(tag.group(1))
        if depth == 0 and not closing:
            kept.append(text[end : tag.start()])
        if not closing:
            depth += 1
        elif depth:
            depth -= 1
            end = tag.end()
    return "".join([*kept, "" if depth else text[end:]])
