"""A memory's words: a sentence made to stand alone, in at most 400 characters."""

# ruff: noqa: E501  (a pattern is read best on one line)

import re

from memsyncd.platforms.local import marks
from memsyncd.platforms.local.emptiness import says_nothing
from memsyncd.platforms.local.judging import is_question
from memsyncd.platforms.local.sentences import Sentence, without_filler
from memsyncd.platforms.local.terms import fold, terms_of

MAX_MEMORY_CHARS = 400

_OFFERING = re.compile(
    r"^(?:then )?(?:i'?d|i would|i|we could|we should|my (?:recommendation|suggestion|proposal)(?: is| would be)?:?) (?:suggest|recommend|propose|advise|go with|favou?r|use|pick)?(?:ing)?:? ?",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:,](?=\s)|[。、\uff1b]")
MAX_CARRIED_CHARS = 240
"""Of a sentence, lead or question that is carried in: the memory's own words must have room."""

FEW_TERMS = 8


def standing_alone(sentence: Sentence, *, question: str = "", trouble: str = "") -> str:
    """Return the memory's text. What a sentence leans on is carried in: the sentence before it where it begins with
    "it" or "this", the line that leads its list, a telling heading, else the `question` it answers. `trouble` names
    what went wrong, for a sentence that only says "the failure"."""
    text = without_filler(sentence.text)
    leans = _leans(text)
    if trouble and not leans:
        return shorten(
            f"{shorten(_capital(trouble), MAX_CARRIED_CHARS // 2)} \N{EM DASH} {_lower(text)}", MAX_MEMORY_CHARS
        )
    if leans and _carries(sentence.before):
        text = f"{without_filler(sentence.before)} {text}"
        leans = _leans(text)
    lead = sentence.lead.rstrip(":").strip()
    if sentence.in_list and lead and not marks.GENERIC_HEADING.search(fold(lead)) and len(lead) <= MAX_CARRIED_CHARS:
        text, leans = f"{lead}: {text}", False
    heading = sentence.heading
    if heading and not marks.GENERIC_HEADING.search(fold(heading)) and _adds(heading, text):
        text, leans = f"{heading}: {text}", False
    if question and (leans or _says_little(sentence)):
        return answered(question, text)
    return shorten(_capital(text), MAX_MEMORY_CHARS)


def _leans(text: str) -> bool:
    folded = fold(text)
    points = marks.ANAPHORA.search(folded) or marks.OBJECT_ANAPHORA.search(folded)
    return points is not None or says_nothing(text)


def _says_little(sentence: Sentence) -> bool:
    """Whether it opens an answer with too few words to be understood without the question."""
    return sentence.position == 0 and len(set(terms_of(sentence.text).words)) <= FEW_TERMS


def without_secret(text: str, sentence: Sentence) -> str:
    """Return `text`, or the bare `sentence` where a secret was carried in (never-again 71)."""
    safe = sentence.text if marks.SECRET.search(fold(text)) else text
    return shorten(safe, MAX_MEMORY_CHARS)


def answered(question: str, answer: str) -> str:
    """Return one memory of a question and its short answer."""
    asked = _capital(without_filler(question))
    return shorten(f"{shorten(asked, MAX_CARRIED_CHARS // 2)} — {without_filler(answer)}", MAX_MEMORY_CHARS)


def agreed(proposal: str) -> str:
    """Return one memory of a proposal the user accepted."""
    return shorten(f"Agreed: {_OFFERING.sub('', proposal)}", MAX_MEMORY_CHARS)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _carries(before: str) -> bool:
    folded = fold(before)
    return (
        bool(before)
        and len(before) <= MAX_CARRIED_CHARS
        and not is_question(folded)
        and not marks.PROGRESS.search(folded)
    )


def _adds(heading: str, text: str) -> bool:
    return not terms_of(heading).all <= terms_of(text).all


def shorten(text: str, limit: int) -> str:
    """Cut at the last end of a clause in the last two fifths, else at a word, and mark the cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    ends = [found.end() for found in _CLAUSE_END.finditer(cut) if found.end() > 3 * limit // 5]
    space = cut.rfind(" ", limit // 2)
    return cut[: ends[-1] if ends else space if space > 0 else limit - 1].rstrip(" ,;:") + "…"
