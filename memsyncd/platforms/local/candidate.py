"""A memory in the making, and the lanes it may go to."""

from collections.abc import Sequence
from dataclasses import dataclass

RULES, MODEL = "rules", "model"
"""Who made a memory."""

PROJECT, PERSONAL = "project", "personal"
"""Lanes: what belongs to the project's people, and what to this person (facts 5.24)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory in the making. `context` is not shown but helps to find it: the request it came from, the heading, the
    sentences around. `files` are the paths changed in the packet. `score` orders candidates where a bound cuts.
    `made_by` is one of RULES and MODEL."""

    text: str
    category: str
    lane: str
    score: float
    context: str = ""
    files: Sequence[str] = ()
    made_by: str = RULES
