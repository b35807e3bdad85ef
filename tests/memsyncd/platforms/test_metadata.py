"""What is kept of a memory's metadata."""

from typing import Any

import pytest

from memsyncd.platforms.metadata import MAX_CHARS, bounded


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"source": "memsyncd", "x": [1, {"y": None}]}, {"source": "memsyncd", "x": [1, {"y": None}]}),
        ({"x": "a" * MAX_CHARS, "branch": "main", "dirs": ["src"]}, {"branch": "main", "dirs": ["src"]}),
        ({"x": "a" * MAX_CHARS, "branch": "b" * 5_000, "dirs": ["src"]}, {"dirs": ["src"]}),
        ({"x": nested(5_000), "branch": "main"}, {}),
    ],
)
def test_of_too_much_only_what_is_needed_is_kept(given: dict[str, Any], kept: dict[str, Any]) -> None:
    """Nothing is cut in two, and nothing raises."""
    assert bounded(given) == kept
