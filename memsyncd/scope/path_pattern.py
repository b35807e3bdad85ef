"""Git's patterns of paths (git-config(1), conditional includes): `**` crosses slashes, `*` does not. Pure."""

import fnmatch
from collections.abc import Sequence

MAX_PATTERN = 400
"""Characters; a longer one matches nothing."""


def matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern matches the whole of a path."""
    return len(pattern) <= MAX_PATTERN and _matches(pattern.split("/"), path.split("/"))


def _matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Tell whether the parts of a path match those of a pattern: `**` any number of them, at the end one at least.

    What follows a `**` is tried at one place after the other, and only the last `**` is gone back to, for what one
    before it could take this one can as well: never more steps than parts times parts.
    """
    if pattern[-1:] == ["**"]:
        pattern = [*pattern[:-1], "*", "**"]
    at = done = 0
    star, taken = -1, 0
    while done < len(path):
        if at < len(pattern) and pattern[at] == "**":
            star, taken = at, done
            at += 1
        elif at < len(pattern) and _part_matches(pattern[at], path[done]):
            at, done = at + 1, done + 1
        elif star >= 0:
            taken += 1
            at, done = star + 1, taken
        else:
            return False
    return all(part == "**" for part in pattern[at:])


def _part_matches(pattern: str, part: str) -> bool:
    return pattern == part or fnmatch.fnmatchcase(part, pattern.replace("[^", "[!"))
