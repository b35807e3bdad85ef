"""What the daemon costs as its stores grow: to a million events and 200,000 memories.

    python -m bench.growth [--quick] [--plot FILE]

The stores are filled in steps by the stores' own code, as a year of sessions would have; after each step a real daemon
is started on them, on the embedded platform, and asked: how fast it takes handoffs in, how long a status, a recall and
the delivery of a session take, and what it has resident. `--plot` writes the curves as an SVG.
"""

import argparse
import contextlib
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import curves, process_figures, table
from bench.claude_code_events import HARNESS, Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.search import spoken
from memsyncd.clock import Clock, rfc3339
from memsyncd.evidence.event import NewEvent, PacketStatus
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.local import memories, schema
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.scope.resolve import ScopeResolver

STEPS = 8
EVENTS, MEMORIES = 1_000_000, 200_000
QUICK_EVENTS, QUICK_MEMORIES = 8_000, 1_600

EVENTS_OF_A_SESSION = 200
HANDOFFS, SESSIONS, QUESTIONS = 2_000, 20, 60
QUICK_HANDOFFS, QUICK_SESSIONS, QUICK_QUESTIONS = 200, 4, 5

MAX_GROWTH = 1.5
"""A cost that grows with the stores by more than this, from their first step to their last, is no flat one."""

WORDS_OF_A_MEMORY, WORDS_AROUND = 18, 20


@dataclass(frozen=True, slots=True)
class Step:
    """What was measured at one size: rates and milliseconds as their names tell, and megabytes when all is done."""

    events: int
    memories: int
    ingest_per_second: float
    status_ms: float
    recall_ms: float
    flush_ms: float
    start_ms: float
    resident_mb: float


class Growth:
    """One home whose stores grow. `scope` is that of its project, as the daemon would resolve it."""

    def __init__(self, daemon: DaemonAtWork, *, handoffs: int, sessions: int, questions: int) -> None:
        self.daemon = daemon
        self._amounts = handoffs, sessions, questions
        self._chance = random.Random(7)
        self._say = spoken(self._chance)
        self._spool = daemon.places.spools / HARNESS
        self._scope = ScopeResolver(daemon.root, daemon.environ).resolve(str(daemon.project))
        self._events = self._memories = self._rounds = self._found = 0
        self._dropper = Dropper(daemon.places.data, daemon.project)
        self._dropper.prompt("first", 0)

    def begin(self) -> None:
        """Let the daemon make its stores."""
        self.daemon.start()
        self.daemon.until_ready()
        self.daemon.until_quiet(60.0)
        self.daemon.stop()

    def grow(self, events: int, memories_: int) -> None:
        """Fill the stores up to so many of each; every session but the daemon's own is delivered."""
        self._grow_evidence(events)
        self._grow_memories(memories_)

    def measure(self) -> Step:
        """Start a daemon on the stores as they are, and ask it for everything."""
        handoffs, sessions, questions = self._amounts
        self._rounds += 1
        left = self._leave(handoffs)
        begin = time.monotonic()
        self.daemon.start()
        try:
            process_figures.until(lambda: self._pending() < handoffs, 60.0, "the backlog was not begun")
            first = time.monotonic()
            process_figures.until(lambda: not self._pending(), 120.0, "the backlog was not drained", pause=0.01)
            drained = time.monotonic() - first
            self.daemon.until_ready()
            ready = time.monotonic() - begin - drained
            self.daemon.until_quiet(120.0)
            status = _median_ms(self.daemon.status, questions)
            self._found = 0  # of a hundred memories a question may find none
            recall = _median_ms(self._ask, questions)
            if not self._found:
                raise SystemExit(f"{questions} questions found nothing among {self._memories:,} memories")
            flush = statistics.median(self._deliver(f"r{self._rounds}-{number}") for number in range(sessions))
            return Step(
                self._events,
                self._memories,
                left / drained,
                status,
                recall,
                flush * 1000,
                ready * 1000,
                self.daemon.figures().resident_mb,
            )
        finally:
            self.daemon.stop()

    def _leave(self, handoffs: int) -> int:
        for action, given in self._dropper.day(handoffs, 10):
            given["session_id"] = f"{given['session_id']}-{self._rounds}"
            self._dropper.drop(action, given, nudge=False)
        return handoffs

    def _pending(self) -> int:
        return sum(1 for name in os.listdir(self._spool / "pending") if name.endswith((".json", ".running")))

    def _ask(self) -> None:
        answer = self.daemon.client.post("/search", {"query": self._say(12), "cwd": str(self.daemon.project)})
        if not answer.get("succeeded"):
            raise SystemExit(f"no search: {json.dumps(answer)[:400]}")
        self._found += len(answer["memories"])

    def _deliver(self, session: str) -> float:
        """Return the seconds from a session's end to its delivery, its memories made."""
        self._dropper.prompt(session, 1)
        self._dropper.answer(session, 1)
        process_figures.until(lambda: not self._pending(), 30.0, "not recorded", pause=0.002)
        begin = time.monotonic()
        self._dropper.end(session)  # stays in the spool until it is delivered
        process_figures.until(lambda: not self._pending(), 30.0, "not delivered", pause=0.002)
        return time.monotonic() - begin

    def _grow_evidence(self, events: int) -> None:
        store = EvidenceStore.open(self._spool / "evidence.sqlite3", own=True, clock=Clock())
        with contextlib.closing(store):
            while self._events < events:
                session = f"old-{self._events}"
                store.append([self._event(session, number) for number in range(EVENTS_OF_A_SESSION)])
                packet = store.prepare(session, "session-end", list)
                assert packet is not None
                store.close_packet(packet.packet_id, PacketStatus.SUCCEEDED)
                self._events += EVENTS_OF_A_SESSION

    def _event(self, session: str, number: int) -> NewEvent:
        kind, payload = (
            ("user_prompt", {"prompt": self._say(40)}),
            ("tool_result", {"tool": "Bash", "command": self._say(6), "preview": {"stdout": self._say(60)}}),
            ("assistant_stop", {"text": self._say(80)}),
        )[number % 3]
        moment = rfc3339(time.time() - 3600.0)
        name = f"{session}-{number}"
        return NewEvent(session, kind, payload, moment, name, self._scope, HARNESS, name)

    def _grow_memories(self, wanted: int) -> None:
        connection = schema.open_store(self.daemon.places.memory_file)
        with contextlib.closing(connection):
            connection.execute("BEGIN IMMEDIATE")
            while self._memories < wanted:
                memories.insert(connection, self._memory(self._memories))
                self._memories += 1
            connection.execute("COMMIT")

    def _memory(self, number: int) -> NewMemory:
        return NewMemory(
            id=f"old-{number}",
            text=self._say(WORDS_OF_A_MEMORY),
            category="project_knowledge",
            lane="project",
            user_id="ada",
            app_id=self._scope.app_id,
            agent_id=self._scope.project_id,
            run_id=f"old-{number // 40}",
            packet_id="p",
            batch=0,
            metadata={},
            score=1.0,
            context=self._say(WORDS_AROUND),
            created_at="2026-01-01T00:00:00.000Z",
        )


def _median_ms(ask: Callable[[], object], times: int) -> float:
    ask()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * 1000


def steps(events: int, memories_: int, amounts: tuple[int, int, int]) -> Iterator[Step]:
    """Grow in STEPS steps and yield what each measured; the first is of nearly empty stores."""
    handoffs, sessions, questions = amounts
    daemon = DaemonAtWork(MEM0_CODE_EVENT_POLL_SECONDS="0.1")
    try:
        growth = Growth(daemon, handoffs=handoffs, sessions=sessions, questions=questions)
        growth.begin()
        for step in range(STEPS + 1):
            growth.grow(events * max(step, 0) // STEPS or EVENTS_OF_A_SESSION, memories_ * step // STEPS or 100)
            yield growth.measure()
    finally:
        daemon.close()


def show(measured: Sequence[Step]) -> None:
    """Print how the last step compares with the first of some size."""
    first, last = measured[1], measured[-1]
    table.line("ingest, first and last step", f"{first.ingest_per_second:,.0f}, {last.ingest_per_second:,.0f} /s")
    for name, before, after in (
        ("a handoff's ingest", 1 / first.ingest_per_second, 1 / last.ingest_per_second),
        ("a status", first.status_ms, last.status_ms),
        ("a session's delivery", first.flush_ms, last.flush_ms),
        ("resident memory", first.resident_mb, last.resident_mb),
    ):
        table.below(f"  {name}: last step over the first", after / before, MAX_GROWTH, "x", 2)
    grown = last.memories / first.memories
    table.below(f"  a recall, among {grown:.0f} x the memories", last.recall_ms / first.recall_ms, grown, "x", 2)


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="what the daemon costs as its stores grow")
    parser.add_argument("--quick", action="store_true", help="a hundredth of each")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the curves as an SVG")
    options = parser.parse_args()
    sizes = (QUICK_EVENTS, QUICK_MEMORIES) if options.quick else (EVENTS, MEMORIES)
    amounts = (QUICK_HANDOFFS, QUICK_SESSIONS, QUICK_QUESTIONS) if options.quick else (HANDOFFS, SESSIONS, QUESTIONS)
    measured = []
    for step in steps(*sizes, amounts):
        measured.append(step)
        table.line(
            f"{step.events:,} events, {step.memories:,} memories",
            f"{step.ingest_per_second:,.0f} /s",
            f"status {step.status_ms:.1f}, recall {step.recall_ms:.1f}, delivery {step.flush_ms:.0f}, "
            f"start {step.start_ms:.0f} ms, {step.resident_mb:.0f} MB",
        )
    show(measured)
    if options.plot:
        options.plot.write_text(_plot(measured), encoding="utf-8")
    return 0


def _plot(measured: Sequence[Step]) -> str:
    events = [step.events for step in measured]
    return curves.svg(
        "As the stores grow to a million events and 200,000 memories",
        "events",
        events,
        {
            "ingest, µs a handoff": [1e6 / step.ingest_per_second for step in measured],
            "status, ms": [step.status_ms for step in measured],
            "recall, ms": [step.recall_ms for step in measured],
            "delivery of a session, ms": [step.flush_ms for step in measured],
            "start to ready, ms": [step.start_ms for step in measured],
            "resident, MB": [step.resident_mb for step in measured],
        },
    )


if __name__ == "__main__":
    raise SystemExit(main())
