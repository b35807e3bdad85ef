"""What of a batch is worth keeping: from its messages to candidates for memories. Pure and bounded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsyncd.platforms.local import evidence_block, marks, wording
from memsyncd.platforms.local.candidate import PERSONAL, PROJECT, Candidate
from memsyncd.platforms.local.commands import problems_in
from memsyncd.platforms.local.cues import CATEGORY, Kind
from memsyncd.platforms.local.emptiness import says_nothing
from memsyncd.platforms.local.evidence_block import Command
from memsyncd.platforms.local.judging import Place, judge
from memsyncd.platforms.local.replies import reply_in
from memsyncd.platforms.local.sentences import Sentence
from memsyncd.platforms.local.stop_words import WEAK_STEMS
from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.local.turns import Turn, is_telling, turns_of
from memsyncd.platforms.platform import Message

MAX_PER_BATCH = 16
PER_EXCHANGE, BASE = 2, 4
"""A batch leaves at most BASE + PER_EXCHANGE for each request of the user, never above MAX_PER_BATCH: with the usual
packet of five answers (CONTRACT) that is fourteen."""

MAX_SENTENCES = 2_000
"""Sentences judged in one batch; a whole request of short lines has fewer."""

MAX_CONTEXT_CHARS = 800
MAX_JOINED_CHARS = 300
"""Two neighbouring sentences become one memory up to here ("a self-contained sentence or two")."""

USERS_WORD = 0.3
"""Added to what the user says: it outranks what an answer concludes."""

PROBLEM_SCORE = 2.0


def memories_from(messages: Sequence[Message], metadata: Mapping[str, Any]) -> Sequence[Candidate]:
    """Return the candidates of one batch, in the order of the dialogue; at most MAX_PER_BATCH. Never raises on any
    text. `metadata` may carry `files_touched`, a list of paths."""
    dialogue: list[Message] = []
    commands: list[Command] = []
    touched = metadata.get("files_touched")
    files = [path for path in touched if isinstance(path, str)] if isinstance(touched, list | tuple) else []
    for message in messages:
        evidence = evidence_block.split(message.content) if message.role == "assistant" else None
        dialogue.append(Message(message.role, evidence.dialogue) if evidence else message)
        commands += evidence.commands if evidence else ()
        files += evidence.files if evidence else ()
    turns = turns_of(dialogue)
    found = _stated(turns)
    request = turns[-1].request if turns else ""
    problems = problems_in(commands)
    found += [Candidate(text, CATEGORY[Kind.FIX], PROJECT, PROBLEM_SCORE, request) for text in problems]
    limit = min(MAX_PER_BATCH, BASE + PER_EXCHANGE * sum(turn.by_user for turn in turns))
    paths = list(dict.fromkeys(files))[: evidence_block.MAX_FILES]
    return [replace(candidate, files=paths) for candidate in _best(_without_repeats(found), limit)]


def _stated(turns: Sequence[Turn]) -> list[Candidate]:
    found: list[Candidate] = []
    judged = 0
    for turn in turns:
        judged += len(turn.sentences)
        if judged > MAX_SENTENCES:
            break
        found += _of_turn(turn)
    return found


def _of_turn(turn: Turn) -> Sequence[Candidate]:
    reply = reply_in(turn) if turn.by_user else None
    found: list[Candidate] = []
    place = Place(turn.by_user, closes_turn=turn.closes_turn and not turn.by_user, closes_packet=turn.closes_packet)
    last = -2
    for sentence in turn.sentences[1 if reply else 0 :]:
        candidate = _of_sentence(turn, sentence, place)
        told = sentence.position == last + 1 and sentence.text in found[-1].text
        if candidate is None or told:
            continue
        if sentence.position == last + 1 and _belong_together(found[-1], candidate, sentence):
            found[-1] = _joined(found[-1], candidate, sentence.text)
        else:
            found.append(candidate)
        last = sentence.position
    return [reply, *found] if reply else found


def _of_sentence(turn: Turn, sentence: Sentence, place: Place) -> Candidate | None:
    verdict = judge(sentence, place)
    if verdict is None:
        return None
    around = f"{sentence.heading} {sentence.lead} {turn.around(sentence)}"[: MAX_CONTEXT_CHARS // 2]
    if turn.by_user:
        lane = PERSONAL if verdict.kind is Kind.PREFERENCE else PROJECT
        context = around if is_telling(sentence.text) else f"{around} {turn.before}"
        standing, worth = f"{wording.standing_alone(sentence)} {turn.why_after(sentence)}".strip(), USERS_WORD
    else:
        lane, context, worth = PROJECT, f"{around} {turn.request}", 0.0
        standing = wording.standing_alone(sentence, question=turn.asked, trouble=turn.trouble_before(sentence))
    text = wording.without_secret(standing, sentence)
    return None if says_nothing(text) else Candidate(text, CATEGORY[verdict.kind], lane, verdict.score + worth, context)


def _belong_together(first: Candidate, second: Candidate, sentence: Sentence) -> bool:
    """Whether two neighbouring sentences make one memory: the second leans on the first or shares a word with it."""
    too_long = len(first.text) + len(sentence.text) > MAX_JOINED_CHARS
    if sentence.in_list or too_long or first.lane != second.lane:
        return False
    shared = frozenset(terms_of(first.text).words) & frozenset(terms_of(sentence.text).words) - WEAK_STEMS
    return bool(shared) or marks.ANAPHORA.search(fold(sentence.text)) is not None or says_nothing(sentence.text)


def _joined(first: Candidate, second: Candidate, text: str) -> Candidate:
    whole = first.text if text in first.text else f"{first.text} {text}"
    better = max(first, second, key=lambda candidate: candidate.score)
    context = f"{first.context} {second.context}"[:MAX_CONTEXT_CHARS]
    return Candidate(whole, better.category, first.lane, better.score, context)


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
