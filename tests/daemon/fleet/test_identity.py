"""A data directory's own name in a fleet."""

from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.fleet import identity


def test_it_is_made_once_and_stays(tmp_path: Path) -> None:
    name = identity.own_name(tmp_path)
    assert len(name) == 16
    assert identity.own_name(tmp_path) == name
    assert (tmp_path / identity.NAME).stat().st_mode & 0o777 == 0o600


def test_two_directories_have_two(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert identity.own_name(tmp_path / "a") != identity.own_name(tmp_path / "b")


@pytest.mark.parametrize("damaged", ["", "x" * 16, "0123", "0123456789abcdef0"])
def test_a_damaged_one_is_refused(tmp_path: Path, damaged: str) -> None:
    (tmp_path / identity.NAME).write_text(damaged)
    with pytest.raises(ConfigurationError, match="damaged"):
        identity.own_name(tmp_path)
