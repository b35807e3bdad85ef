"""A dialogue of any length costs what its steps cost, whatever they take back."""

import gc
import time
from collections.abc import Callable, Iterable

import pytest

from memsyncd.transcripts.dialogue import Dialogue
from memsyncd.transcripts.turn import ASSISTANT, USER, Branched, Linked, Rewound, Said, Step, Turn, Undone

pytestmark = pytest.mark.no_cover  # tracing would be measured too; the formats' tests run every line

MANY = 1_000
TIMES = 8
AT_MOST = 24
"""Eight times the steps cost eight times the time, and sixty-four times where each step looks at all before it."""


def _named(number: int) -> Iterable[Step]:
    yield Said(Turn(USER, "q", f"u{number}"))
    yield Said(Turn(ASSISTANT, "a", f"a{number}"))


def _in_parts(number: int) -> Iterable[Step]:
    yield Said(Turn(ASSISTANT, "word " * 4, "one"), joint="", part=str(number))


def _linked(number: int) -> Iterable[Step]:
    yield Branched(f"l{number}", f"l{number - 1}")
    yield from _named(number)
    yield Linked(f"l{number}")


def _sent_again(number: int) -> Iterable[Step]:
    if number < MANY:
        yield from _linked(number)
    yield Branched(f"b{number}", f"l{MANY - 1}")
    yield Said(Turn(USER, "again", f"b{number}"))
    yield Linked(f"b{number}")


def _taken_back(number: int) -> Iterable[Step]:
    yield from _named(number)
    yield from _named(-1)
    yield Rewound("u-1", if_known=True)
    yield Said(Turn(USER, "undone"))
    yield Undone(1)


def _seconds(steps_of: Callable[[int], Iterable[Step]], count: int) -> float:
    steps = [step for number in range(count) for step in steps_of(number)]
    best = float("inf")
    gc.disable()  # what it looks through is mostly the test runner's
    try:
        for _ in range(3):
            dialogue = Dialogue()
            begun = time.process_time()
            for place, step in enumerate(steps):
                dialogue.take(step, place)
            assert dialogue.exchanges()
            best = min(best, time.process_time() - begun)
    finally:
        gc.enable()
    return best


@pytest.mark.parametrize("steps_of", [_named, _in_parts, _linked, _sent_again, _taken_back])
def test_a_long_dialogue_costs_what_its_steps_cost(steps_of: Callable[[int], Iterable[Step]]) -> None:
    """A session of a day is read by the one thread that takes in everybody's handoffs."""
    assert _seconds(steps_of, MANY * TIMES) < AT_MOST * _seconds(steps_of, MANY)
