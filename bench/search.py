"""What a recall costs on the embedded platform.

    python -m bench.search [--quick]

Questions and prompts of up to 6,000 characters among 100,000 memories, asked as the daemon asks: through the one
search, by another thread, against the file on disk. Nine tenths of the memories are one project's, a twentieth
another's, and the rest a third's, so that both ways of filtering are measured. Words are the corpus', as often as they
are said there, and as many rare ones as a large project has names.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import table
from daemon.searching.request import SearchRequest
from daemon.searching.search import Search
from memsyncd.clock import Clock
from memsyncd.evidence.event import Scope
from memsyncd.platforms.local import memories, schema
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.local.platform import LocalPlatform
from tests.corpus import measuring

TARGET_MS = 15.0
"""Of a recall over 100,000 memories, at the median."""

RARE_NAMES = 6_000
WORDS_OF_A_MEMORY, WORDS_AROUND = 18, 20
PROMPTS = (80, 500, 2_000, 6_000)
"""Characters: a question, a request, a bug report, the longest that is searched for (facts 7.3)."""

Words = Callable[[int], str]


def spoken(chance: random.Random) -> Words:
    """Return what says so many words, the frequent ones often."""
    said = Counter(
        word for each in measuring.sessions() for message in each.messages for word in message.content.lower().split()
    )
    known = [word for word, _ in said.most_common()] + [f"name{number}_handler" for number in range(RARE_NAMES)]
    sums: list[float] = []
    for rank in range(len(known)):
        sums.append((sums[-1] if sums else 0.0) + 1 / (rank + 3))
    return lambda count: " ".join(chance.choices(known, cum_weights=sums, k=count))


def fill(path: Path, size: int, words: Words) -> float:
    """Store `size` memories; return the seconds it took."""
    start = time.perf_counter()
    connection = schema.open_store(path)
    connection.execute("BEGIN IMMEDIATE")
    for number in range(size):
        memories.insert(connection, _memory(number, words(WORDS_OF_A_MEMORY), words(WORDS_AROUND)))
    connection.execute("COMMIT")
    connection.close()
    return time.perf_counter() - start


def _memory(number: int, text: str, context: str) -> NewMemory:
    app = "small" if number % 20 == 0 else "middle" if number % 20 == 1 else "large"
    return NewMemory(
        id=str(number),
        text=text,
        category="project_knowledge",
        lane="project",
        user_id="ada",
        app_id=app,
        agent_id=f"{app}-1",
        run_id=f"s{number // 40}",
        packet_id="p",
        batch=0,
        metadata={},
        score=1.0,
        context=context,
        created_at="2026-01-01T00:00:00.000Z",
    )


def prompts(characters: int, count: int, words: Words) -> Sequence[str]:
    """Return prompts of so many characters."""
    return [words(characters // 3)[:characters] for _ in range(count)]


def times(search: Search, texts: Sequence[str]) -> tuple[Sequence[float], float]:
    """Return the seconds each search took, and the processor seconds of one at the median; all must succeed."""
    taken, worked = [], []
    for text in texts:
        start, work = time.perf_counter(), time.process_time()
        answer = search.answer(SearchRequest(text, "/w"))
        taken.append(time.perf_counter() - start)
        worked.append(time.process_time() - work)
        assert answer.succeeded, answer.why
    return taken, statistics.median(worked)


def main() -> None:
    """Print median and 99th percentile of each kind of prompt."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="among 5,000 memories")
    size, asked = (5_000, 20) if parser.parse_args().quick else (100_000, 200)
    words = spoken(random.Random(size))
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "memory.sqlite3"
        seconds = fill(path, size, words)
        table.line(f"{size:,} memories stored", f"{seconds:.0f} s, {path.stat().st_size / 1e6:.0f} MB")
        platform = LocalPlatform(path, Clock())
        for app, share in (("large", 0.9), ("small", 0.05)):
            scope = Scope(f"https://git.example.org/team/{app}", app, f"{app}-1", "/w")
            search = Search(platform, resolve=lambda _, to=scope: to, user_id=lambda: "ada", hold=lambda _: None)
            times(search, prompts(PROMPTS[0], 3, words))  # the file's pages and the patterns are warm, as in a daemon
            for characters in PROMPTS:
                taken, worked = times(search, prompts(characters, asked, words))
                median, last = statistics.median(taken) * 1000, table.percentile(taken, 99) * 1000
                what = f"{characters:,} characters, project of {round(size * share):,} (works {worked * 1000:.1f} ms)"
                table.line(what, f"{median:.1f} / {last:.1f} ms", f"median < {TARGET_MS:g} ms", met=median < TARGET_MS)
        platform.close()


if __name__ == "__main__":
    main()
