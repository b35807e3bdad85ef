"""How well and how fast the embedded platform remembers: `python bench/local_memory.py`.

Prints, on tests/corpus: the share of questions whose right memory is first, or among the first five, for the half the
rules were tuned on and the half held out, with each project on its own (as in use) and with all sessions thrown into
one project; the same for whole turns in a plain full-text index; memories left per session; a session of 200 turns.
Then times: extraction per batch. What a search takes prints `bench.search`.
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

from memsyncd.platforms.local.candidates import memories_from  # noqa: E402  (after the path is set)
from memsyncd.platforms.platform import Message  # noqa: E402
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
    asked = measuring.agents_questions()
    row(f"{measuring.AGENTS}: each project alone", asked, lambda q: measuring.ask(alone, q, app_id=q.project), texts)
    row(f"{measuring.AGENTS}: all in one project", asked, lambda q: measuring.ask(thrown, q, app_id="one"), texts)
    row(f"{measuring.AGENTS}: plain index, alone", asked, measuring.plain_index(every, alone=True), turns)
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
