"""What keeps a directory from being made is known without trying, and is what keeps a start from making it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.doctor import directories
from daemon.private_directory import make_private
from daemon.unmade_directory import hindrance
from tests.daemon.doctor.examined import examine_home, found
from tests.unprivileged import unprivileged


def closed(mode: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        path.chmod(mode)

    return make


IN_THE_WAY: dict[str, Callable[[Path], object]] = {
    "not writable": closed(0o555),
    "not to be entered": closed(0o600),
    "closed": closed(0o000),
    "file": Path.touch,
    "dangling link": lambda path: path.symlink_to("/nowhere/at-all"),
}


@pytest.mark.parametrize("put", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_what_a_start_cannot_make_fails_the_doctor(tmp_path: Path, put: Callable[[Path], object]) -> None:
    """Both name what lies above, and neither leaves anything."""
    above = tmp_path / "above"
    put(above)
    try:
        with unprivileged():
            assert hindrance(above / "a/m").startswith(f"{above} ")
            told = found(directories.probes(examine_home(above / "a")))["directories"]
            with pytest.raises(ConfigurationError):
                make_private(above / "a/m")
    finally:
        if above.is_dir():
            above.chmod(0o700)
    assert not told.ok
    assert str(above / "a/m") in told.message and told.remedy
    assert not above.is_dir() or not list(above.iterdir())


def test_what_is_there_or_can_be_made_is_not_hindered(tmp_path: Path) -> None:
    """Also below a link to a directory."""
    (tmp_path / "link").symlink_to(tmp_path)
    with unprivileged():
        assert [hindrance(path) for path in (tmp_path, tmp_path / "a/b", tmp_path / "link/a")] == [""] * 3
