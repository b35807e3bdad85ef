"""The engines themselves: what they watch for is seen, and what they make of an input is bounded."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import plain, planted
from tests.fuzz.mutation import Mutator
from tests.fuzz.target import Target, TryOne
from tests.fuzz.watching import TooSlow, Watched

SEEDS = [b'{"a": [1, {"b": "c"}], "d": "e"}', b"no json", b""]


def target_of(try_one: TryOne) -> Target:
    @contextmanager
    def opened(_: Path) -> Iterator[TryOne]:
        yield try_one

    return Target("made-up", opened, lambda: SEEDS)


def test_a_secret_is_seen_wherever_it_is() -> None:
    """In a text or within a value, whole or in part; a mark alone is none."""
    for output in (planted.SECRET, {"a": [planted.SECRET]}, f"x{planted.TELLTALE}y"):
        with pytest.raises(AssertionError):
            planted.assert_absent("fine", output)
    planted.assert_absent(planted.MARK, planted.into(b"nothing"), {"a": 1})
    assert planted.SECRET.encode() in planted.into(b"a" + planted.MARK)


def test_what_takes_too_long_for_its_length_is_seen() -> None:
    """Squares show before an input is as long as it may be."""

    def busy(content: bytes) -> None:
        until = time.process_time() + len(content) / 25_000
        while time.process_time() < until:
            pass

    Watched(busy, 1.0)(b"x" * 1_000)
    with pytest.raises(TooSlow):
        Watched(busy, 1.0)(b"x" * 5_000)


def test_an_input_that_breaks_a_target_is_found_and_made_shorter(tmp_path: Path) -> None:
    """By chance, from seeds that do not; what is left of it is what matters."""

    def try_one(content: bytes) -> None:
        if b"\0" in content:
            raise KeyError("nobody foresaw it")

    with pytest.raises(plain.Broke) as broke:
        plain.run(target_of(try_one), tmp_path, seeds=SEEDS, inputs=10_000, seconds=60, seed="1")
    assert plain.shrunk(target_of(try_one), tmp_path, broke.value.content) == b"\0"


def test_what_is_made_of_inputs_stays_within_bounds_and_is_often_json_still() -> None:
    """Half of the changes are made within JSON, and leave it JSON."""
    mutate = Mutator(Random(1), SEEDS, [b"word"], 4_096)
    made = [mutate(SEEDS[0]) for _ in range(500)]
    assert max(map(len, made)) <= 4_096
    assert len(set(made)) > 400
    assert sum(map(_is_json, made)) > 100


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True
