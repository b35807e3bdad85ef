"""What a cue is: a pattern by which a sentence shows what kind of memory it would make.

The cues themselves are data: user_cues.py, assistant_cues.py, and marks.py for what a sentence must not be. Every
pattern is tried on text without accents (terms.fold), case ignored; none has nested repetition, so that time is linear
in the sentence. English is covered well, German, French and Spanish by their commonest cues, Japanese by a few.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a kept sentence is; each kind belongs to one category of facts 2.36."""

    RULE = "rule"
    PREFERENCE = "preference"
    FACT = "fact"
    CAUSE = "cause"
    FIX = "fix"
    HOW_TO = "how-to"
    RESULT = "result"


CATEGORY = {
    Kind.RULE: "decisions_and_constraints",
    Kind.PREFERENCE: "decisions_and_constraints",
    Kind.FACT: "project_knowledge",
    Kind.CAUSE: "problems_and_fixes",
    Kind.FIX: "problems_and_fixes",
    Kind.HOW_TO: "workflows",
    Kind.RESULT: "results",
}


@dataclass(frozen=True, slots=True)
class Cue:
    """`weight` is added once when `pattern` is found; the kind with the greatest sum names the sentence."""

    kind: Kind
    weight: float
    pattern: re.Pattern[str]


def cue(kind: Kind, weight: float, *patterns: str) -> Cue:
    """Return a cue of any of `patterns`."""
    return Cue(kind, weight, any_of(*patterns))


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern of several, case ignored."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
