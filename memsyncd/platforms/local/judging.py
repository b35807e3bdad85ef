"""Is a sentence worth keeping, and as what? Pure: cues in, a verdict out."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memsyncd.platforms.local import marks
from memsyncd.platforms.local.assistant_cues import ASSISTANT_CUES
from memsyncd.platforms.local.cues import Cue, Kind
from memsyncd.platforms.local.sentences import Sentence, without_filler
from memsyncd.platforms.local.stop_words import STOP_WORDS
from memsyncd.platforms.local.terms import fold
from memsyncd.platforms.local.user_cues import USER_CUES

KEEP = 1.2
"""A sentence is kept from this score on: one clear cue, or a weak one with something specific to say. Tuned on the
tuning half of tests/corpus."""

MAX_SENTENCE_CHARS = 900
"""A longer "sentence" is a list or data without punctuation; its first part is judged."""

CLEAR_RULE = 2.0
"""From this sum of cues on, a request or a complaint is also a rule."""

FEW_WORDS = 5
"""Fewer rarely stand alone."""

_DOUBTS: Mapping[bool, Sequence[tuple[re.Pattern[str], float]]] = {
    by_user: (
        (marks.PROGRESS, 1.5 if by_user else 3.0),
        (marks.OFFER, 3.0),
        *(() if by_user else ((marks.PROMISE, 3.0), (marks.COMMITTED, 3.0))),
        (marks.HEDGE, 0.6 if by_user else 1.2),
        (marks.PASSING, 0.7),
        (marks.TESTS_PASS, 2.0),
        (marks.REDACTED, 1.0),
    )
    for by_user in (True, False)
}
"""What each mark takes away: talk about work in progress says more of an answer than of a user's words."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_IDENTIFIER = re.compile(r"`[^`]+`|\b\w+[._/]\w+|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|--\w+")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_CODE_SPAN = re.compile(r"`[^`]*`")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_UNSPACED_PER_WORD = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands. `closes_turn`: in the assistant's last message before the user speaks again;
    `closes_packet`: in the packet's last assistant message."""

    by_user: bool
    closes_turn: bool = False
    closes_packet: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """A kept sentence's kind and score; higher is surer."""

    kind: Kind
    score: float


def judge(sentence: Sentence, place: Place) -> Verdict | None:
    """Return the verdict on a sentence, or None where it is not worth keeping."""
    text = fold(without_filler(sentence.text)[:MAX_SENTENCE_CHARS])
    words = count_words(text)
    if _is_noise(text, words) or marks.SECRET.search(text):
        return None
    if is_question(text) and not _is_standing_request(text, place):
        return None
    sums: defaultdict[Kind, float] = defaultdict(float)
    for cue in USER_CUES if place.by_user else ASSISTANT_CUES:
        if _found(cue, text):
            sums[cue.kind] += cue.weight
    kind = max(sums, key=lambda name: sums[name], default=Kind.FACT)
    strongest = sums[kind]
    score = strongest + 0.3 * (sum(sums.values()) - strongest)
    score += (
        specificity(text) * (1.5 if place.closes_turn else 1.0)
        + _place_bonus(sentence, place, text)
        - _doubts(sentence, place, text, words, strongest)
    )
    return Verdict(kind, round(score, 3)) if score >= KEEP else None


def is_question(text: str) -> bool:
    """Whether folded `text` asks."""
    return marks.QUESTION.search(text) is not None


def count_words(text: str) -> int:
    """Return the number of words; scripts without spaces count three characters as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // _UNSPACED_PER_WORD


def specificity(text: str) -> float:
    """Return 0 to 0.8: identifiers, numbers and names make a sentence worth finding again."""
    identifier = 0.4 if _IDENTIFIER.search(text) else 0.0
    return identifier + (0.25 if _NUMBER.search(text) else 0.0) + (0.15 if _NAME.search(text) else 0.0)


def is_readable(text: str) -> bool:
    """Whether a language the cue words cover is recognised: at least one function word in twelve."""
    words = [word.lower() for word in _WORD.findall(text)]
    return 12 * sum(word in STOP_WORDS for word in words) >= len(words) > 0


def _found(cue: Cue, text: str) -> bool:
    return cue.pattern.search(text) is not None


def _is_noise(text: str, words: int) -> bool:
    if words < 3 or (words <= 8 and marks.CHIT_CHAT.search(text) and not _IDENTIFIER.search(text)):  # noqa: PLR2004  (too short to stand alone)
        return True
    prose = _CODE_SPAN.sub("x", text)
    return 2 * len(_LETTER.findall(prose)) < len(prose)


def _place_bonus(sentence: Sentence, place: Place, text: str) -> float:
    bonus = 0.0
    if place.by_user and not _is_task(text):
        bonus += 0.5
    if not place.by_user:
        bonus += 0.3 if place.closes_turn else -0.7
        ends = sentence.position == 0 or sentence.from_end == 0
        bonus += 0.3 if ends else 0.0
        bonus += 0.3 if place.closes_packet and ends else 0.0
        bonus += 0.6 if sentence.in_list and sentence.lead and not _plans(sentence) else 0.0
        if ends and place.closes_turn and not is_readable(text):
            bonus += 0.6
    if sentence.heading and marks.GOOD_HEADING.search(fold(sentence.heading)):
        bonus += 0.8
    return bonus


def _leans_on_nothing(sentence: Sentence, text: str) -> bool:
    """Whether it begins with "it" or "this" after a question, or after nothing: what is meant is not said."""
    return marks.ANAPHORA.search(text) is not None and (not sentence.before or is_question(fold(sentence.before)))


def _is_task(text: str) -> bool:
    """Whether it asks for one piece of work; "for each release" makes it a rule."""
    return marks.TASK.search(text) is not None and marks.PER_CASE.search(text) is None


def _is_standing_request(text: str, place: Place) -> bool:
    """Whether a question is only the polite form of an instruction for all answers: "could you reply in German?"."""
    polite = place.by_user and marks.STANDING_REQUEST.search(text)
    return bool(polite) and any(
        cue.kind is Kind.PREFERENCE and cue.weight >= CLEAR_RULE and _found(cue, text) for cue in USER_CUES
    )


def _plans(sentence: Sentence) -> bool:
    return any(marks.BAD_HEADING.search(fold(above)) for above in (sentence.heading, sentence.lead) if above)


def _doubts(sentence: Sentence, place: Place, text: str, words: int, strongest: float) -> float:
    doubt = sum(weight for mark, weight in _DOUBTS[place.by_user] if mark.search(text))
    doubt += 0.5 if not place.by_user and marks.ECHO.search(fold(sentence.text[:MAX_SENTENCE_CHARS])) else 0.0
    if place.by_user and strongest < CLEAR_RULE:
        doubt += 1.4 if _is_task(text) else 0.0
        doubt += 0.7 if marks.COMPLAINT.search(text) else 0.0
        doubt += 0.8 if _leans_on_nothing(sentence, text) else 0.0
    doubt += 1.8 if _plans(sentence) else 0.0
    return doubt + (0.4 if words < FEW_WORDS else 0.0)
