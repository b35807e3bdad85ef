"""`<private>…</private>`: what its author wants nowhere kept."""

import re

_TAG = re.compile(r"<\s*+(/?)\s*+private(?:\s[^<>]*+)?>", re.IGNORECASE)
"""Possessive, so that a `<` before a megabyte of blanks is looked at once and not once for each of them."""


def without_private(text: str) -> str:
    """Return `text` with a space in place of each private span, nested ones whole. Idempotent, linear in the length.

    One that never ends takes the rest: to keep too little is the smaller harm. A closing tag alone stays. The space
    keeps what stood around a span from becoming a tag.
    """
    kept: list[str] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
        elif depth:
            depth -= 1
            start = tag.end()
    return " ".join([*kept, "" if depth else text[start:]])
