"""Several processes at one evidence file, and a process killed at any instant (facts 2.6, 3.10, 20.19, 20.24)."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore

Start = Callable[..., subprocess.Popen[str]]
REPOSITORY = Path(__file__).parents[3]

COMMON = """
import sys
from pathlib import Path
from memsyncd.clock import Clock
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore

def event(kind, text, handoff_id, session="s-1"):
    return NewEvent(session, kind, {"text": text}, "2026-11-30T10:00:00Z", handoff_id, Scope("repo", "app"))

store = EvidenceStore.open(Path(sys.argv[1]), own=sys.argv[2] == "own", clock=Clock())
name = sys.argv[3]
print("ready", flush=True)
sys.stdin.readline()
"""

RESERVE = """
for number in range(40):
    packet = store.prepare(f"s-{number}", "idle", list)
    print(packet.packet_id, len(store.packet_events(packet.packet_id)), flush=True)
"""

ANSWER = """
for number in range(40):
    print(store.append([event("assistant_stop", "the same", f"{name}-{number}", f"s-{number}")]).inserted, flush=True)
"""

RECORD = """
number = 0
while True:
    store.append([event("tool_result", f"{number} {place} " + "x" * 3000, f"h-{number}-{place}") for place in range(10)])
    print(number, flush=True)
    number += 1
"""


@pytest.fixture(name="start")
def start_fixture() -> Iterator[Start]:
    """Return what starts a child that waits for a line; children still alive at the end are ended."""
    with ExitStack() as children:

        def start(body: str, path: Path, name: str, kind: str = "own") -> subprocess.Popen[str]:
            child = children.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", COMMON + body, str(path), kind, name],
                    cwd=REPOSITORY,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            children.callback(child.kill)
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            return child

        yield start


def _race(children: list[subprocess.Popen[str]]) -> list[list[str]]:
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [child.communicate(timeout=60)[0].splitlines() for child in children]


def _filled(path: Path) -> None:
    store = EvidenceStore.open(path, own=True, clock=Clock())
    store.append(
        [
            NewEvent(
                f"s-{number}", "user_prompt", {"text": str(part)}, "2026-11-30T10:00:00Z", "", Scope("repo", "app")
            )
            for number in range(40)
            for part in range(5)
        ]
    )
    store.close()


def test_two_processes_reserve_the_same_events(own_path: Path, start: Start) -> None:
    """Whoever comes second gets the first one's packet: no event is in two, no packet is made twice (2.6, 20.24)."""
    _filled(own_path)
    first, second = _race([start(RESERVE, own_path, name) for name in ("a", "b")])
    assert len(first) == 40
    assert first == second
    assert {line.split()[1] for line in first} == {"5"}
    store = EvidenceStore.open(own_path, own=True, clock=Clock())
    assert (store.counts()["packets"], store.counts()["unflushed"]) == (40, 0)
    store.close()


def test_two_processes_record_the_same_answer(own_path: Path, start: Start) -> None:
    """The same answer told by two processes at once is one record (facts 3.10, 20.19)."""
    EvidenceStore.open(own_path, own=True, clock=Clock()).close()
    first, second = _race([start(ANSWER, own_path, name) for name in ("a", "b")])
    assert [int(one) + int(two) for one, two in zip(first, second, strict=True)] == [1] * 40


@pytest.mark.parametrize("batches", [1, 7, 20])
def test_a_kill_loses_nothing_that_was_committed(own_path: Path, start: Start, batches: int) -> None:
    """After kill -9 while recording, what was told to be stored is there, whole batches only; the same handoffs again
    make each of them once (DESIGN, promise 1)."""
    child = start(RECORD, own_path, "a")
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    told = [child.stdout.readline() for _ in range(batches)]
    child.kill()
    told += child.stdout.readlines()
    child.wait(timeout=60)
    store = EvidenceStore.open(own_path, own=True, clock=Clock())
    stored = [event.payload["text"].split()[:2] for event in store.unflushed("s-1")]
    assert len(stored) % 10 == 0
    assert len(stored) >= 10 * len(told) >= 10 * batches
    assert stored == [[str(number), str(place)] for number in range(len(stored) // 10) for place in range(10)]
    assert store.integrity() is None
    again = [
        NewEvent(
            "s-1", "tool_result", {"text": "x"}, "2026-11-30T10:00:00Z", f"h-{number}-{place}", Scope("repo", "app")
        )
        for number in range(len(stored) // 10 + 1)
        for place in range(10)
    ]
    assert store.append(again).inserted == 10
    store.close()
