"""How well and how fast the embedded platform remembers: `python bench/local_memory.py`.

Prints, on tests/corpus: the share of questions whose right memory is first, or among the first five, for the half the
rules were tuned on and the half held out, with each project on its own (as in use) and with all sessions thrown into
one project; the same for whole turns in a plain full-text index; memories left per session; a session of 200 turns.
Then times: search among 10,000 and 100,000 memories of one project, and extraction per batch.
"""

import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memsyncd.platforms.local import memories, schema  # noqa: E402  (after the path is set)
from memsyncd.platforms.local.candidates import memories_from  # noqa: E402
from memsyncd.platforms.local.memories import NewMemory  # noqa: E402
from memsyncd.platforms.platform import Message, Query  # noqa: E402
from tests.corpus import long_session, measuring  # noqa: E402
from tests.corpus.measuring import Question, Session  # noqa: E402


def quality(home: Path) -> None:
    """Print the shares."""
    every = measuring.sessions()
    alone = measuring.open_platform(home / "alone.sqlite3")
    thrown = measuring.open_platform(home / "together.sqlite3")
    for session in every:
        measuring.remember(alone, session, app_id=session.project)
        measuring.remember(thrown, session, app_id="one")
    kept = measuring.memories_in(home / "alone.sqlite3")
    texts = [text for _, text in kept]
    turns = [message.content for session in every for message in session.messages]
    print(f"{len(every)} sessions, {sum(len(session.questions) for session in every)} questions\n")
    print(f"{'':34}{'asked':>6}{'first':>8}{'in five':>9}{'kept':>7}")
    for half in measuring.HALVES:
        asked = [question for session in every if session.half == half for question in session.questions]
        row(f"{half}: each project alone", asked, lambda q: measuring.ask(alone, q, app_id=q.project), texts)
        row(f"{half}: all in one project", asked, lambda q: measuring.ask(thrown, q, app_id="one"), texts)
        row(f"{half}: plain index, alone", asked, measuring.plain_index(every, alone=True), turns)
        row(f"{half}: plain index, all in one", asked, measuring.plain_index(every, alone=False), turns)
    counts = Counter(run for run, _ in kept)
    messages = sum(len(session.messages) for session in every)
    print(
        f"\nmemories per session: {min(counts.values())} to {max(counts.values())}, of {messages} messages {len(kept)}"
    )


def row(
    name: str, asked: Sequence[Question], answers: Callable[[Question], Sequence[str]], everything: Sequence[str]
) -> None:
    """Print one line of shares."""
    share = measuring.share(asked, answers, everything)
    print(
        f"{name:34}{share.asked:6}{share.first / share.asked:8.0%}{share.among_five / share.asked:9.0%}"
        f"{share.kept / share.asked:7.0%}"
    )


def long_day(home: Path) -> None:
    """Print what a session of 200 turns leaves."""
    platform = measuring.open_platform(home / "long.sqlite3")
    session = Session("long", "", long_session.long_session(), [])
    made = measuring.remember(platform, session, app_id="one")
    left = len(measuring.memories_in(home / "long.sqlite3"))
    print(f"200 turns ({len(session.messages)} messages): {made} memories made, {left} left")


def extraction_times() -> None:
    """Print milliseconds per batch: the thinking alone, on packets of the corpus and on a full request."""
    packets = [packet for session in measuring.sessions() for packet in measuring.packets(session.messages)]
    times = [seconds(lambda packet=packet: memories_from(packet, {})) for packet in packets]
    print(f"extraction per packet of the corpus: median {statistics.median(times) * 1000:.1f} ms")
    large: list[Message] = []
    while sum(len(message.content) for message in large) < 58_000:
        large += random.Random(len(large)).choice(packets)
    print(
        f"extraction of a full request (58,000 characters): {seconds(lambda: memories_from(large, {})) * 1000:.0f} ms"
    )


def search_times(home: Path, size: int) -> None:
    """Print milliseconds per 12-word question among `size` memories of one project."""
    chance = random.Random(size)
    words = vocabulary()
    weights = [1 / (rank + 3) for rank in range(len(words))]
    path = home / f"{size}.sqlite3"
    connection = schema.open_store(path)
    connection.execute("BEGIN IMMEDIATE")
    for number in range(size):
        text = " ".join(chance.choices(words, weights, k=18))
        memories.insert(connection, memory(number, text, " ".join(chance.choices(words, weights, k=20))))
    connection.execute("COMMIT")
    connection.close()
    platform = measuring.open_platform(path)
    questions = [" ".join(chance.choices(words, weights, k=12)) for _ in range(200)]
    ask = [lambda text=text: platform.search(Query(text, "ada", "shop", ["team"])) for text in questions]
    times = sorted(seconds(each) * 1000 for each in ask)
    print(
        f"search, 12 words, {size:,} memories ({path.stat().st_size / 1e6:.0f} MB): "
        f"median {times[100]:.1f} ms, 95th percentile {times[190]:.1f} ms"
    )
    platform.close()


def vocabulary() -> Sequence[str]:
    """Return the corpus' words, commonest first, and as many rare ones as a large project has names."""
    said = Counter(
        word
        for session in measuring.sessions()
        for message in session.messages
        for word in message.content.lower().split()
    )
    return [word for word, _ in said.most_common()] + [f"name{number}_handler" for number in range(6_000)]


def memory(number: int, text: str, context: str) -> NewMemory:
    """Return a memory of the team's lane."""
    return NewMemory(
        id=str(number),
        text=text,
        category="project_knowledge",
        lane="project",
        user_id="ada",
        app_id="shop",
        agent_id="team",
        run_id=f"s{number // 40}",
        packet_id="p",
        batch=0,
        metadata={},
        score=1.0,
        context=context,
        created_at="2026-01-01T00:00:00.000Z",
    )


def seconds(act: Callable[[], object]) -> float:
    """Return how long `act` takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        quality(Path(directory))
        long_day(Path(directory))
        extraction_times()
        for count in (10_000, 100_000):
            search_times(Path(directory), count)
