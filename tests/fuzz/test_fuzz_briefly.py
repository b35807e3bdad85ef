"""Every target with some hundred inputs: the long run (`make fuzz`) tries millions."""

from pathlib import Path

import pytest

from tests.fuzz import catalogue, plain

pytestmark = pytest.mark.no_cover  # what is measured is the targets' time; their own tests run every line

INPUTS, SECONDS = 600, 0.8


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_no_input_breaks_a_target(name: str, tmp_path: Path) -> None:
    """Seeds and what chance makes of them, the same ones each time: no unforeseen exception, no long wait, no secret."""
    target = catalogue.target(name)
    seeds = [*target.seeds()]
    plain.run(target, tmp_path, seeds=seeds, inputs=len(seeds) + INPUTS, seconds=SECONDS, seed="briefly")
