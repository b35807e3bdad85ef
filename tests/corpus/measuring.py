"""Measures the embedded platform on the corpus: what share of the questions finds the right memory.

Used by the test that holds a floor and by bench/local_memory.py. A question's right memory is one whose text holds all
its key phrases (each given as alternatives). The project's packets are made as the daemon makes them: ten messages
each, cut before a request.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, ExtractionState, Message, Query

SESSIONS = Path(__file__).parent / "sessions"
AGENTS_QUESTIONS = Path(__file__).parent / "agents_questions.json"
MESSAGES_PER_PACKET = 10
TUNING, HELD_OUT = "tuning", "held out"
WRITTEN_LAST = "written last"
HALVES = (TUNING, HELD_OUT, WRITTEN_LAST)
AGENTS = "as agents ask"
"""A second set of questions about the same sessions, written before any of them was asked: in the field's own words and
names, as an agent at work asks, where the others avoid the dialogue's words."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in other words than the dialogue's, and the fact that must be found."""

    text: str
    fact: Sequence[Sequence[str]]
    project: str
    half: str

    def is_answered_by(self, text: str) -> bool:
        """Whether `text` holds every key phrase in one of its spellings."""
        low = text.casefold()
        return all(any(phrase.casefold() in low for phrase in phrases) for phrases in self.fact)


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded dialogue of the corpus."""

    project: str
    half: str
    messages: Sequence[Message]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Share:
    """Of `asked` questions, how many had the right text first, among the first five, or in the store at all."""

    asked: int
    first: int
    among_five: int
    kept: int


def sessions() -> Sequence[Session]:
    """Return the corpus, by file name."""
    return [_session(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(SESSIONS.glob("*.json"))]


def agents_questions() -> Sequence[Question]:
    """Return the questions of AGENTS."""
    found = json.loads(AGENTS_QUESTIONS.read_text(encoding="utf-8"))
    return [Question(each["question"], each["fact"], each["project"], AGENTS) for each in found]


def packets(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Cut a dialogue into packets of about MESSAGES_PER_PACKET, each starting at a request."""
    packet: list[Message] = []
    for message in messages:
        if message.role == "user" and len(packet) >= MESSAGES_PER_PACKET:
            yield packet
            packet = []
        packet.append(message)
    if packet:
        yield packet


def remember(platform: LocalPlatform, session: Session, *, app_id: str) -> int:
    """Send a session's packets and carry out their extraction; return how many memories were made."""
    made = 0
    for number, messages in enumerate(packets(session.messages)):
        batch = Batch(
            f"{session.project}-{number}",
            0,
            messages,
            "ada",
            app_id,
            f"{app_id}-team",
            session.project,
            {"branch": "main"},
        )
        event = platform.extraction(platform.add(batch).event_id)
        assert event.state is ExtractionState.SUCCEEDED
        made += event.memories
    return made


def ask(platform: LocalPlatform, question: Question, *, app_id: str, top_k: int = 5) -> Sequence[str]:
    """Return the texts found for a question."""
    query = Query(question.text, "ada", app_id, [f"{app_id}-team"], top_k=top_k)
    return [memory.memory for memory in platform.search(query)]


def share(
    questions: Sequence[Question], answers: Callable[[Question], Sequence[str]], everything: Sequence[str]
) -> Share:
    """Return how well `answers` does; `everything` is all that could have been found."""
    found = [[question.is_answered_by(text) for text in answers(question)[:5]] for question in questions]
    return Share(
        asked=len(questions),
        first=sum(hits[:1] == [True] for hits in found),
        among_five=sum(any(hits) for hits in found),
        kept=sum(any(question.is_answered_by(text) for text in everything) for question in questions),
    )


def memories_in(path: Path) -> Sequence[tuple[str, str]]:
    """Return (session, text) of every memory that search may find."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT run_id, text FROM memories WHERE superseded_by = '' ORDER BY number"
        ).fetchall()
    connection.close()
    return rows


def plain_index(every: Sequence[Session], *, alone: bool) -> Callable[[Question], Sequence[str]]:
    """Return the floor to beat: whole turns in a plain `porter unicode61` index, asked with OR of all words; each
    project's `alone`, or all thrown together."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE turns USING fts5(text, project UNINDEXED, tokenize = 'porter unicode61')")
    connection.executemany(
        "INSERT INTO turns VALUES(?, ?)",
        [(message.content, session.project) for session in every for message in session.messages],
    )

    def answers(question: Question) -> Sequence[str]:
        words = "".join(letter if letter.isalnum() else " " for letter in question.text).split()
        match = " OR ".join(f'"{word}"' for word in words)
        rows = connection.execute(
            "SELECT text FROM turns WHERE turns MATCH ? AND (NOT ? OR project = ?) ORDER BY rank LIMIT 5",
            (match, alone, question.project),
        )
        return [text for (text,) in rows]

    return answers


def open_platform(path: Path) -> LocalPlatform:
    """Return the platform on a fresh store."""
    return LocalPlatform(path, Clock())


def _session(document: dict[str, object]) -> Session:
    project, half = str(document["project"]), str(document["half"])
    messages, questions = document["messages"], document["questions"]
    assert isinstance(messages, list)
    assert isinstance(questions, list)
    return Session(
        project,
        half,
        [Message(each["role"], each["content"]) for each in messages],
        [Question(each["question"], each["fact"], project, half) for each in questions],
    )
