"""Short replies, which mean something only together with what they reply to: an answer, a choice, a yes."""

import re
from collections.abc import Sequence

from memsyncd.platforms.local import marks, wording
from memsyncd.platforms.local.candidate import PROJECT, Candidate
from memsyncd.platforms.local.cues import CATEGORY, Kind
from memsyncd.platforms.local.judging import is_question, specificity
from memsyncd.platforms.local.sentences import Sentence
from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.local.turns import Turn

MAX_REPLY_WORDS = 14
AGREED_SCORE, ANSWERED_SCORE = 1.8, 1.4
"""Surer than a sentence just kept (judging.KEEP), for it was asked for."""

_WH = re.compile(
    r"\b(?:which|what|where|who|whose|how|when|welche\w*|wo|wer|wie|quel\w*|ou|qui|comment|cual\w*|donde|quien|como)\b",
    re.IGNORECASE,
)
_ASKS = ("?", "\N{FULLWIDTH QUESTION MARK}")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def reply_in(turn: Turn) -> Candidate | None:
    """Return what the first sentence of a user's turn settles, if it settles something asked or proposed before."""
    if not turn.sentences or not turn.previous:
        return None
    reply, asked = turn.sentences[0].text, turn.previous[-1].text
    folded = fold(reply)
    if len(reply.split()) > MAX_REPLY_WORDS or marks.SECRET.search(folded):
        return None
    proposal = _accepted(folded, turn.previous)
    if proposal:
        return Candidate(wording.agreed(proposal), CATEGORY[Kind.RULE], PROJECT, AGREED_SCORE, turn.request)
    if asked.rstrip().endswith(_ASKS) and _WH.search(fold(asked)) and _answers(reply, folded):
        score = ANSWERED_SCORE + specificity(folded)
        return Candidate(wording.answered(asked, reply), CATEGORY[Kind.FACT], PROJECT, score, turn.request)
    return None


def _answers(reply: str, folded: str) -> bool:
    return bool(terms_of(reply).all) and not is_question(folded) and marks.TASK.search(folded) is None


def _accepted(reply: str, previous: Sequence[Sentence]) -> str:
    choice = marks.CHOICE.search(reply)
    if choice:
        options = [sentence.text for sentence in previous if sentence.in_list]
        number = _number(choice.group("a") or choice.group("b"))
        if 0 < number <= len(options):
            return options[number - 1]
    if marks.ACCEPTANCE.search(reply):
        said = [(sentence.text, fold(sentence.text)) for sentence in previous]
        proposals = [text for text, folded in said if marks.PROPOSAL.search(folded) and not is_question(folded)]
        return proposals[-1] if proposals else ""
    return ""


def _number(word: str) -> int:
    low = word.lower()
    return _ORDINALS.get(low) or (int(low) if low.isdigit() else ord(low) - ord("a") + 1)
