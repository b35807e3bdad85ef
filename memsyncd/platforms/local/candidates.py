"""What of a batch is worth keeping: from its messages to candidates for memories. Pure and bounded."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms.local import cues, evidence_block, wording
from memsyncd.platforms.local.commands import problems_in
from memsyncd.platforms.local.cues import CATEGORY, Kind
from memsyncd.platforms.local.evidence_block import Command
from memsyncd.platforms.local.judging import Place, is_question, judge, specificity
from memsyncd.platforms.local.sentences import Sentence, sentences_of
from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.local.vocabulary import WEAK_STEMS
from memsyncd.platforms.platform import Message

PROJECT, PERSONAL = "project", "personal"
"""Lanes: what belongs to the project's people, and what to this person (facts 5.24)."""

MAX_PER_BATCH = 16
PER_EXCHANGE, BASE = 2, 4
"""A batch leaves at most BASE + PER_EXCHANGE for each request of the user, never above MAX_PER_BATCH: with the usual
packet of five answers (CONTRACT) that is fourteen."""

MAX_SENTENCES = 2_000
"""Sentences judged in one batch; a whole request of short lines has fewer."""

MAX_CONTEXT_CHARS = 400
MAX_JOINED_CHARS = 300
TELLING_WORDS = 5
"""A request with fewer words of its own leaves its subject to the one before."""

_ANSWER_WORDS = 14
_WH = re.compile(
    r"\b(?:which|what|where|who|whose|how|when|welche\w*|wo|wer|wie|quel\w*|ou|qui|comment|cual\w*|donde|quien|como)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory in the making. `context` is not shown but helps to find it: the request it came from and the heading.
    `files` are the paths changed in the packet. `score` orders candidates where a bound cuts."""

    text: str
    category: str
    lane: str
    score: float
    context: str = ""
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Turn:
    message: Message
    sentences: Sequence[Sentence]
    request: str
    asked: str
    closes_turn: bool
    closes_packet: bool
    previous: Sequence[Sentence]


def memories_from(messages: Sequence[Message], metadata: Mapping[str, Any]) -> Sequence[Candidate]:
    """Return the candidates of one batch, in the order of the dialogue; at most MAX_PER_BATCH. Never raises on any
    text. `metadata` may carry `files_touched`, a list of paths."""
    commands: list[Command] = []
    files: list[str] = [path for path in _list(metadata.get("files_touched")) if isinstance(path, str)]
    dialogue: list[Message] = []
    for message in messages:
        evidence = evidence_block.split(message.content) if message.role == "assistant" else None
        dialogue.append(Message(message.role, evidence.dialogue) if evidence else message)
        commands += evidence.commands if evidence else ()
        files += evidence.files if evidence else ()
    found: list[Candidate] = []
    judged = 0
    turns = _turns(dialogue)
    for turn in turns:
        judged += len(turn.sentences)
        if judged > MAX_SENTENCES:
            break
        found += _of_user(turn) if turn.message.role == "user" else _of_assistant(turn)
    found += [
        Candidate(text, CATEGORY[Kind.FIX], PROJECT, 2.0, context=_last_request(turns))
        for text in problems_in(commands)
    ]
    paths = list(dict.fromkeys(files))[: evidence_block.MAX_FILES]
    kept = _best(
        _without_repeats(found),
        min(MAX_PER_BATCH, BASE + PER_EXCHANGE * sum(turn.message.role == "user" for turn in turns)),
    )
    return [Candidate(each.text, each.category, each.lane, each.score, each.context, paths) for each in kept]


def _turns(messages: Sequence[Message]) -> Sequence[_Turn]:
    last_answer = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)
    turns: list[_Turn] = []
    request = asked = ""
    previous: Sequence[Sentence] = ()
    for index, message in enumerate(messages):
        sentences = sentences_of(message.content)
        if message.role == "user":
            said = " ".join(sentence.text for sentence in sentences)
            request = _request(said, request)
            asked = next((each.text for each in reversed(sentences) if is_question(fold(each.text))), "")
        closes = index + 1 == len(messages) or messages[index + 1].role == "user"
        turns.append(_Turn(message, sentences, request, asked, closes, index == last_answer, previous))
        previous = sentences
    return turns


def _request(said: str, before: str) -> str:
    """What the answer is about: the request, and the one before it where it says little itself ("yes, do that")."""
    if len(set(terms_of(said).words)) < TELLING_WORDS:
        said = f"{said} {before}"
    return said.strip()[:MAX_CONTEXT_CHARS]


def _around(turn: _Turn, sentence: Sentence) -> str:
    """Return the sentences before and after one, which often name its subject."""
    first = max(0, sentence.position - 1)
    return " ".join(other.text for other in turn.sentences[first : sentence.position + 2] if other is not sentence)


def _of_assistant(turn: _Turn) -> Sequence[Candidate]:
    place = Place(by_user=False, closes_turn=turn.closes_turn, closes_packet=turn.closes_packet)
    found: list[Candidate] = []
    last = -2
    for sentence in turn.sentences:
        verdict = judge(sentence, place)
        if verdict:
            text = wording.standing_alone(sentence, question=turn.asked)
            context = f"{sentence.heading} {sentence.lead} {_around(turn, sentence)[:MAX_CONTEXT_CHARS]} {turn.request}"
            candidate = Candidate(text, CATEGORY[verdict.kind], PROJECT, verdict.score, context[: 2 * MAX_CONTEXT_CHARS])
            if sentence.position == last + 1 and _belong_together(found[-1], sentence):
                found[-1] = _joined(found[-1], candidate, sentence.text)
            else:
                found.append(candidate)
            last = sentence.position
    return found


def _belong_together(first: Candidate, second: Sentence) -> bool:
    """Whether two neighbouring sentences make one memory: the second leans on the first or shares a word with it."""
    if second.in_list or len(first.text) + len(second.text) > MAX_JOINED_CHARS:
        return False
    return cues.ANAPHORA.search(fold(second.text)) is not None or bool(
        frozenset(terms_of(first.text).words) & frozenset(terms_of(second.text).words) - WEAK_STEMS
    )


def _joined(first: Candidate, second: Candidate, text: str) -> Candidate:
    whole = first.text if text in first.text else f"{first.text} {text}"
    better = max(first, second, key=lambda candidate: candidate.score)
    return Candidate(whole, better.category, first.lane, better.score, f"{first.context} {second.context}")


def _of_user(turn: _Turn) -> Sequence[Candidate]:
    found = list(_reply(turn))
    last = -2
    for sentence in turn.sentences[1 if found else 0 :]:
        verdict = judge(sentence, Place(by_user=True))
        if verdict:
            lane = PERSONAL if verdict.kind is Kind.PREFERENCE else PROJECT
            context = " ".join(other.text for other in turn.sentences if other is not sentence)[:MAX_CONTEXT_CHARS]
            found.append(
                Candidate(wording.standing_alone(sentence), CATEGORY[verdict.kind], lane, verdict.score + 0.3, context)
            )
    return found


def _reply(turn: _Turn) -> Sequence[Candidate]:
    """A short reply means something only together with what it replies to: an answer, or a yes to a proposal."""
    if not turn.sentences or not turn.previous:
        return ()
    reply, asked = turn.sentences[0].text, turn.previous[-1].text
    if len(reply.split()) > _ANSWER_WORDS:
        return ()
    folded = fold(reply)
    proposal = _accepted(folded, turn.previous)
    if proposal:
        return [Candidate(wording.agreed(proposal), CATEGORY[Kind.RULE], PROJECT, 1.8, turn.request)]
    is_answer = asked.rstrip().endswith(("?", "？")) and _WH.search(fold(asked))
    if (
        is_answer
        and terms_of(reply).words
        and not is_question(folded)
        and not cues.TASK.search(folded)
        and not cues.SECRET.search(folded)
    ):
        return [
            Candidate(
                wording.answered(asked, reply), CATEGORY[Kind.FACT], PROJECT, 1.4 + specificity(folded), turn.request
            )
        ]
    return ()


def _accepted(reply: str, previous: Sequence[Sentence]) -> str:
    choice = cues.CHOICE.search(reply)
    if choice:
        options = [sentence.text for sentence in previous if sentence.in_list]
        number = _number(choice.group("a") or choice.group("b"))
        if 0 < number <= len(options):
            return options[number - 1]
    if cues.ACCEPTANCE.search(reply):
        proposals = [s.text for s in previous if cues.PROPOSAL.search(fold(s.text)) and not is_question(fold(s.text))]
        return proposals[-1] if proposals else ""
    return ""


def _number(word: str) -> int:
    ordinals = {"first": 1, "second": 2, "third": 3, "fourth": 4}
    low = word.lower()
    return ordinals.get(low) or (int(low) if low.isdigit() else ord(low) - ord("a") + 1)


def _last_request(turns: Sequence[_Turn]) -> str:
    return turns[-1].request if turns else ""


def _without_repeats(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    seen: dict[str, Candidate] = {}
    for candidate in candidates:
        key = candidate.text.casefold().rstrip(".!…")
        if key not in seen or seen[key].score < candidate.score:
            seen[key] = candidate
    return list(seen.values())


def _best(candidates: Sequence[Candidate], limit: int) -> Sequence[Candidate]:
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].score)[:limit]
    return [candidates[index] for index in sorted(order)]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()
