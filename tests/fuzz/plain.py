"""The plain engine: seeds changed by chance, without a look at what they reach. Needs nothing installed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.mutation import Mutator
from tests.fuzz.target import Target
from tests.fuzz.watching import Held, Watched, held

WARM_PART = 0.2
"""Of a run, after which nothing may grow any more: by then caches are full."""

KEPT_PARENTS = 200
"""Changed inputs that are changed further."""


class Broke(Exception):
    """An input broke the target; `content` is the input, the cause is what was raised."""

    def __init__(self, content: bytes) -> None:
        super().__init__(f"{len(content)} bytes: {content[:200]!r}")
        self.content = content


@dataclass(frozen=True, slots=True)
class Run:
    """How a run went. `before` was held once the caches were full, `after` at the end."""

    inputs: int
    seconds: float
    slowest: tuple[float, int]
    before: Held
    after: Held


def run(target: Target, place: Path, *, seeds: Sequence[bytes], inputs: int, seconds: float, seed: str) -> Run:
    """Try the seeds and then changed ones until `inputs` were tried or `seconds` are over. Raises Broke."""
    random = Random(seed)
    begun = time.monotonic()
    parents: list[bytes] = []
    mutate = Mutator(random, seeds, target.words, target.longest)
    place.mkdir(parents=True, exist_ok=True)
    with target.opened(place) as try_one:
        watched = Watched(try_one)
        before: Held | None = None
        while watched.inputs < inputs and (passed := time.monotonic() - begun) < seconds:
            if before is None and (watched.inputs >= WARM_PART * inputs or passed >= WARM_PART * seconds):
                before = held()
            content = seeds[watched.inputs] if watched.inputs < len(seeds) else _next(mutate, parents, seeds, random)
            try:
                watched(content)
            except Exception as error:
                raise Broke(content) from error
        after = held()
    return Run(watched.inputs, time.monotonic() - begun, watched.slowest, before or after, after)


def _next(mutate: Mutator, parents: list[bytes], seeds: Sequence[bytes], random: Random) -> bytes:
    pool = parents if parents and random.random() < 0.3 else seeds
    content = mutate(random.choice(pool))
    if random.random() < 0.2:
        if len(parents) >= KEPT_PARENTS:
            parents[random.randrange(KEPT_PARENTS)] = content
        else:
            parents.append(content)
    return content


def shrunk(target: Target, place: Path, content: bytes, *, tries: int = 3_000) -> bytes:
    """Return a shorter input that breaks the target in the same way (the same kind of exception)."""
    with target.opened(place) as try_one:
        watched = Watched(try_one)

        def breaks(candidate: bytes) -> str:
            try:
                watched(candidate)
            except Exception as error:  # noqa: BLE001  (its kind is what is asked for)
                return type(error).__name__
            return ""

        kind = breaks(content)
        size = len(content) // 2
        while kind and size >= 1 and tries > 0:
            at = 0
            while at < len(content) and tries > 0:
                tries -= 1
                candidate = content[:at] + content[at + size :]
                if breaks(candidate) == kind:
                    content = candidate
                else:
                    at += size
            size //= 2
    return content
