"""What keeps a directory from being made is known without trying, and is what keeps a start from making it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.doctor import directories
from daemon.doctor.doctor import checks
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
            with pytest.raises(ConfigurationError, match=f"cannot be made: {above} "):
                make_private(above / "a/m")
    finally:
        if above.is_dir():
            above.chmod(0o700)
    assert not told.ok
    assert str(above / "a/m") in told.message and told.remedy
    assert not above.is_dir() or not list(above.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another user's home")
def test_root_in_another_user_s_home_fails_the_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is root by `sudo`. In one line, by what a start would say; the harnesses that are not there are nobody's fault."""
    os.chown(tmp_path, 4321, 4321)
    monkeypatch.setenv("SUDO_UID", "4321")
    examined = examine_home(tmp_path)
    told = [check for check in checks(examined) if not check.ok]
    assert [check.name for check in told] == ["directories"]
    assert "belongs to user 4321" in told[0].message


@pytest.mark.parametrize("name", ["m", "m/spools", "m/run", "m/spools/codex/pending"])
def test_a_link_into_nothing_in_a_directory_s_place_fails_the_doctor(tmp_path: Path, name: str) -> None:
    """Nothing is there, and nothing can be made there."""
    path = tmp_path / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.symlink_to("/nowhere/at-all")
    told = found(directories.probes(examine_home(tmp_path)))["directories"]
    assert not told.ok and f"{path} is a link into nothing" in told.message


def test_what_is_there_or_can_be_made_is_not_hindered(tmp_path: Path) -> None:
    """Also below a link to a directory."""
    (tmp_path / "link").symlink_to(tmp_path)
    with unprivileged():
        assert [hindrance(path) for path in (tmp_path, tmp_path / "a/b", tmp_path / "link/a")] == [""] * 3
