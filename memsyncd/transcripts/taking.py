"""Which exchanges of a transcript are taken now. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from memsyncd.transcripts.following import Look
from memsyncd.transcripts.turn import Exchange


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a handoff asks of a transcript; times are Unix seconds.

    `until`: exchanges that began later belong to a later handoff; None for no such bound. `is_last_only`: the last
    exchange alone is asked for. `not_before`: what began earlier is passed over. `is_answer_due`: an answer is to be
    there, as after a stop; otherwise, at a session's end, there may be nothing new, and at any other time the open
    exchange is left to go on.
    """

    until: float | None = None
    is_last_only: bool = False
    not_before: float = 0.0
    is_answer_due: bool = True
    is_session_over: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The exchanges to take. Unless `is_whole`, the transcript is not complete yet: it is worth another look."""

    taken: Sequence[Exchange]
    is_whole: bool


def choose(found: Look, wanted: Wanted) -> Choice:
    """Choose among what a look found, never an exchange that was taken before.

    In a file read anew nothing counts up to the last exchange that is known; where none is, all but the last one was
    said before we came.
    """
    fresh, is_known = _not_taken(found)
    not_before = max(found.reached.not_before, wanted.not_before)
    due = _until(fresh, wanted.until)
    if wanted.is_last_only or (found.is_anew and not is_known and not _is_dated(fresh, not_before)):
        due = due[-1:]
    due = [each for each in due if each.began_at is None or each.began_at >= not_before]
    is_open = bool(due) and not due[-1].is_over and due[-1].start == fresh[-1].start
    if wanted.is_answer_due:
        return Choice(due, is_whole=bool(due) and not is_open)
    if wanted.is_session_over:
        return Choice(due, is_whole=not found.is_torn and not is_open)
    return Choice(due[:-1] if is_open else due, is_whole=True)


def at_last(choice: Choice) -> Sequence[Exchange]:
    """Return what is taken of a transcript that did not become complete: an open exchange without an answer is left to
    a later look."""
    last = choice.taken[-1:]
    is_left = any(not each.is_over and each.answer is None for each in last)
    return choice.taken[:-1] if is_left else choice.taken


def _not_taken(found: Look) -> tuple[Sequence[Exchange], bool]:
    """Return the exchanges after the last one that was taken, and whether one was."""
    taken = frozenset(found.reached.taken)
    known = [place for place, each in enumerate(found.exchanges) if each.key in taken]
    return (found.exchanges[known[-1] + 1 :], True) if known else (found.exchanges, False)


def _is_dated(exchanges: Sequence[Exchange], not_before: float) -> bool:
    """Whether times tell which exchanges are the session's own since its start was seen."""
    return not_before > 0 and all(each.began_at is not None for each in exchanges)


def _until(exchanges: Sequence[Exchange], until: float | None) -> Sequence[Exchange]:
    if until is None:
        return exchanges
    return list(takewhile(lambda each: each.began_at is None or each.began_at <= until, exchanges))
