"""The benchmarks run seldom, and what they import moves: each is loaded every day."""

import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCH.glob("*.py")))
def test_every_benchmark_loads(name: str) -> None:
    """An import of what is elsewhere by now fails here."""
    importlib.import_module(f"bench.{name}")
