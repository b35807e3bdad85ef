"""What one source of the API key gave."""

from dataclasses import dataclass, field

MAX_BYTES = 4096
"""Of a key; no platform's is near it."""


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key, or a sentence why there is none; `origin` says where it was looked for. `warning` is about one that is
    used all the same."""

    key: str = field(default="", repr=False)
    origin: str = ""
    problem: str = ""
    warning: str = ""


def judged(text: str, origin: str, warning: str = "") -> FoundKey:
    """Return the key that `text` is, if one line of printable ASCII without blanks is what it is."""
    key = text.strip()
    if not key:
        return FoundKey(origin=origin, problem=f"{origin} is empty.", warning=warning)
    if len(key) > MAX_BYTES or not key.isascii() or not key.isprintable() or " " in key:
        problem = f"{origin} holds something other than a key on a line."
        return FoundKey(origin=origin, problem=problem, warning=warning)
    return FoundKey(key=key, origin=origin, warning=warning)
