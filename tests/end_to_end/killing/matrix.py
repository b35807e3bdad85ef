"""Every point of a scenario's command tried, and the table of what came of it."""

import threading
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Self

from tests.end_to_end.killing.forker import Forker
from tests.end_to_end.killing.scenario import Scenario, Stage
from tests.end_to_end.killing.step import AFTER, BEFORE, Point

LONGEST = 2_000
"""Characters kept of what went wrong with one kill."""

Choose = Callable[[Sequence[Point]], Iterable[Point]]


@dataclass(frozen=True)
class Result:
    """What came of one kill: `why` is empty where all was well; `came` tells whether the point came at all."""

    point: Point
    came: bool
    why: str = ""


class Matrix:
    """Tries so many kills `at_once`: most of a kill's time is spent waiting. Use it as a context."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._free: list[Forker] = []
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(ThreadPoolExecutor(self._at_once))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def points(self, scenario: Scenario) -> Sequence[Point]:
        """Return the points that the scenario's command has."""
        with Stage(scenario) as stage, self._forker() as forker:
            return stage.rehearse(forker)

    def kill(self, scenario: Scenario, choose: Choose) -> list[Result]:
        """Kill the scenario's command at the points that are chosen of all it has."""
        with Stage(scenario) as stage:
            with self._forker() as forker:
                points = list(choose(stage.rehearse(forker)))

            def one(point: Point) -> Result:
                with self._forker() as forker:
                    try:
                        return Result(point, came=stage.kill(forker, point))
                    except Exception as error:  # noqa: BLE001  (whatever it is, it is this kill's, and is shown)
                        return Result(point, came=True, why=_told(error))

            return list(self._pool.map(one, points))

    @contextmanager
    def _forker(self) -> Iterator[Forker]:
        with self._lock:
            forker = self._free.pop() if self._free else self._stack.enter_context(Forker())
        try:
            yield forker
        finally:
            with self._lock:
                self._free.append(forker)


def turns(most: int) -> Choose:
    """Choose of each step, before and after, so many of its turns, spread from the first to the last."""

    def choose(points: Sequence[Point]) -> Iterable[Point]:
        by_step: dict[tuple[str, str], list[Point]] = defaultdict(list)
        for point in points:
            by_step[point.name, point.phase].append(point)
        return [point for same in by_step.values() for point in spread(most)(same)]

    return choose


def spread(most: int) -> Choose:
    """Choose so many of all points, from the first to the last."""

    def choose(points: Sequence[Point]) -> Iterable[Point]:
        steps = max(1, min(most, len(points)) - 1)
        return dict.fromkeys(points[index * (len(points) - 1) // steps] for index in range(steps + 1))

    return choose


def table(title: str, results: Sequence[Result]) -> str:
    """Return a line for each step: how often it was killed before and after, and with what result."""
    by_step: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_step[result.point.name].append(result)
    came = sum(result.came for result in results)
    lines = [f"{title}: {came} kills at {sum(any(one.came for one in tried) for tried in by_step.values())} steps"]
    for name, tried in by_step.items():
        kills = Counter(one.point.phase for one in tried if one.came)
        verdict = "WRONG" if any(one.why for one in tried) else "right" if kills else "never"
        lines.append(f"{kills[BEFORE]:5} before {kills[AFTER]:3} after   {verdict}   {name}")
    return "\n".join(lines)


def _told(error: Exception) -> str:
    """Return what went wrong and where, in words: a bare assertion has none of its own."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {error} at {where.name}: {where.line}".replace("\n", " ")[:LONGEST]


def faults(results: Iterable[Result]) -> str:
    """Return a line for each kill that did harm; empty where none did."""
    return "\n".join(f"{result.point}: {result.why}" for result in results if result.why)
