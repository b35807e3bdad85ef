"""Inputs that broke something once are tried again, for ever."""

from pathlib import Path

import pytest

from tests.fuzz import catalogue
from tests.fuzz.watching import Watched

FOUND = Path(__file__).parent / "found"


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_what_broke_a_target_once_breaks_it_no_more(name: str, tmp_path: Path) -> None:
    """Each file of `found/TARGET` is an input."""
    with catalogue.target(name).opened(tmp_path) as try_one:
        watched = Watched(try_one)
        for path in sorted((FOUND / name).glob("*")):
            try:
                watched(path.read_bytes())
            except Exception as error:
                raise AssertionError(f"{path.name}: {error!r}") from error


def test_every_input_that_was_found_has_its_target() -> None:
    """No directory is passed over because of its name."""
    assert {path.name for path in FOUND.iterdir()} <= set(catalogue.NAMES)
