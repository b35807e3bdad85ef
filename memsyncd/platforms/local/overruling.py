"""Does a newer memory take an older one's place? Only where both speak of the same and differ in one value. Pure.

Whatever else differs (a folder, a language, an environment, a number in a name) makes them two, and both are kept: one
memory too many is seen and ranked after the newer one, a lost decision is not.
"""

from collections.abc import Collection

from memsyncd.platforms.local.frames import WEEKDAYS, Frame
from memsyncd.platforms.local.vocabulary import alternatives

MIN_SUBJECT_WORDS = 2
"""Fewer words beside a figure do not name what it measures."""


def overrules(new: Frame, old: Frame) -> bool:
    """Whether `new` says otherwise about what `old` speaks of."""
    mine, theirs = new.words - old.words, old.words - new.words
    if not mine and not theirs:
        return new.negated != old.negated and len(new.subject) >= MIN_SUBJECT_WORDS
    if mine.total() > 1 or theirs.total() != 1:
        return False
    (before,) = theirs
    if before in new.replaced:
        return not old.negated and before not in new.words
    if not mine or new.negated != old.negated:
        return False
    (now,) = mine
    if now in new.figures and before in old.figures:
        says_how_much = not new.negated or new.changed or "than" in new.words
        return says_how_much and len(new.subject & old.subject) >= MIN_SUBJECT_WORDS
    chosen = now in new.choices and before in old.choices and not new.negated
    return chosen and before in _others(now) and not (new.adds or old.adds)


def _others(choice: str) -> Collection[str]:
    """Return what `choice` excludes: several may hold at once of what is no alternative."""
    return WEEKDAYS - {choice} if choice in WEEKDAYS else alternatives().get(choice, frozenset())
