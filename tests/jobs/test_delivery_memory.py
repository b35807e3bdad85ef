"""What a delivery holds in memory at once, however much waits."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.job import JobState
from memsyncd.evidence.event import NewEvent
from memsyncd.packets import checkpoint
from tests.jobs.delivering import SCOPE, Delivering

RESULT = "x" * 4_000
"""Of each tool's run: what is stored is parsed whole."""

FEW, MANY = 300, 3_000
GROWTH_BYTES = 400_000
"""Less than a tenth of what is stored between FEW and MANY events."""


@pytest.fixture
def delivering(tmp_path: Path) -> Iterator[Delivering]:
    made = Delivering(tmp_path)
    yield made
    made.close()


def _work(delivering: Delivering, session: str, events: int, *, answer_every: int) -> None:
    """Record a prompt, so many runs of tools with answers between, and an answer; a hundred to a commit."""
    kinds = ["assistant_stop" if number % answer_every == 0 else "tool_result" for number in range(1, events)]
    new = [
        NewEvent(session, kind, _payload(kind, number), "2026-11-30T10:00:00.000Z", f"{session}-{number}", SCOPE)
        for number, kind in enumerate(["user_prompt", *kinds, "assistant_stop"])
    ]
    for first in range(0, len(new), 100):
        delivering.evidence.append(new[first : first + 100])


def _payload(kind: str, number: int) -> dict[str, object]:
    if kind == "tool_result":
        return {"tool": "Bash", "command": f"make part-{number}", "result": RESULT, "failed": False}
    return {"text": f"words {number}"}


def _peak_of_delivery(delivering: Delivering, session: str) -> int:
    """Deliver all of a session and return the most memory, in bytes, that Python held meanwhile."""
    job_id = delivering.ask(session)
    tracemalloc.start()
    try:
        delivering.run(600.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert delivering.job(job_id).state is JobState.DONE
    return peak


@pytest.mark.parametrize("answer_every", [MANY, 20], ids=["one packet", "many packets"])
def test_a_delivery_holds_no_more_where_more_waits(delivering: Delivering, answer_every: int) -> None:
    """Ten times as many events in one packet, or in ten times as many packets, cost no more memory at once."""
    _work(delivering, "few", FEW, answer_every=answer_every)
    _work(delivering, "many", MANY, answer_every=answer_every)
    first = _peak_of_delivery(delivering, "few")
    assert _peak_of_delivery(delivering, "many") < first + GROWTH_BYTES
    assert delivering.evidence.counts()["unflushed"] == 0


def test_a_look_at_what_is_due_holds_no_more_where_more_waits(delivering: Delivering) -> None:
    """The look after each answer reads a page at a time and keeps none."""
    _work(delivering, "many", MANY, answer_every=MANY)
    tracemalloc.start()
    try:
        assert not checkpoint.select(delivering.evidence.iterate_unflushed("many"), forced=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * GROWTH_BYTES
