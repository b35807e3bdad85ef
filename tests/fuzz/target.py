"""A target: a door through which other people's bytes come in, and what has to hold whatever they are."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

TryOne = Callable[[bytes], None]
"""Gives one input to the target. It raises what nobody may see: any exception that is not documented, and
AssertionError where a promise was broken."""

BREAK = b"\n%%%%\n"
"""Between the parts of an input that has several, as a file and the tail it grows by."""


@dataclass(frozen=True, slots=True)
class Target:
    """`opened` makes the target ready in a directory of its own; `seeds` are inputs to begin with, `words` what
    mutations put in. `share` is how much of a long run's inputs it gets beside the others."""

    name: str
    opened: Callable[[Path], AbstractContextManager[TryOne]]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[bytes, ...] = ()
    share: int = 1
    longest: int = 65_536
