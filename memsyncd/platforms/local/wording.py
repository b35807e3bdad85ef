"""A memory's words: a sentence made to stand alone, in at most 400 characters."""

import re

from memsyncd.platforms.local import cues
from memsyncd.platforms.local.judging import is_question
from memsyncd.platforms.local.sentences import Sentence
from memsyncd.platforms.local.terms import fold, terms_of

MAX_MEMORY_CHARS = 400

_FILLER = re.compile(
    r"^(?:(?:so|ok|okay|right|actually|also|and|but|btw|by the way|well|yes|yeah|yep|no|sure|great|good|perfect|hmm|oh|ah|"
    r"alright|anyway|now|then|done|thanks|fyi|fixed|note|please|one more thing|sorry)\b\s*[,.:;!–—-]+\s*|(?:and|but|so|also|oh)\s+)+(?=\S{2,})",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:,](?=\s)|[。、；]")
_SHORT_SUBJECT = 120


def standing_alone(sentence: Sentence, *, topic: str = "") -> str:
    """Return the memory's text. What a sentence leans on is carried in: the sentence before it where it begins with
    "it" or "this", the line that leads its list, a telling heading, else the `topic` (the request it answers)."""
    text = _FILLER.sub("", sentence.text).strip()
    leans = cues.ANAPHORA.search(fold(text)) is not None
    if leans and _carries(sentence.before):
        text = f"{_FILLER.sub('', sentence.before)} {text}"
        leans = cues.ANAPHORA.search(fold(text)) is not None
    lead = sentence.lead.rstrip(":").strip()
    if sentence.in_list and lead and not cues.GENERIC_HEADING.search(fold(lead)) and len(lead) <= 2 * _SHORT_SUBJECT:
        text, leans = f"{lead}: {text}", False
    heading = sentence.heading
    if heading and not cues.GENERIC_HEADING.search(fold(heading)) and _adds(heading, text):
        text, leans = f"{heading}: {text}", False
    if leans and topic:
        text = f"{_shorten(topic, _SHORT_SUBJECT)} — {text}"
    return _shorten(text[:1].upper() + text[1:] if text[:1].isascii() else text, MAX_MEMORY_CHARS)


def answered(question: str, answer: str) -> str:
    """Return one memory of a question and its short answer."""
    return _shorten(f"{_shorten(question, 240)} — {_FILLER.sub('', answer)}", MAX_MEMORY_CHARS)


def agreed(proposal: str) -> str:
    """Return one memory of a proposal the user accepted."""
    return _shorten(f"Agreed: {proposal}", MAX_MEMORY_CHARS)


def _carries(before: str) -> bool:
    folded = fold(before)
    return (
        bool(before)
        and len(before) <= 2 * _SHORT_SUBJECT
        and not is_question(folded)
        and not cues.PROGRESS.search(folded)
    )


def _adds(heading: str, text: str) -> bool:
    return not terms_of(heading).all <= terms_of(text).all


def _shorten(text: str, limit: int) -> str:
    """Cut at the last end of a clause in the last two fifths, else at a word, and mark the cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    ends = [found.end() for found in _CLAUSE_END.finditer(cut) if found.end() > 3 * limit // 5]
    space = cut.rfind(" ", limit // 2)
    return cut[: ends[-1] if ends else space if space > 0 else limit - 1].rstrip(" ,;:") + "…"
