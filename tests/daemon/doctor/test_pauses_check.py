"""A pause that nobody asked for is found, and what the remedy says ends it."""

from pathlib import Path

import pytest

from daemon.doctor import pauses
from daemon.doctor.check import Check
from daemon.pausing import STATE, Pauses
from tests.daemon.doctor.examined import examine_home, found


def check(root: Path) -> Check:
    return found(pauses.probes(examine_home(root)))["pauses"]


@pytest.mark.parametrize("content", [b"{torn", b"", b"[]"])
def test_pauses_that_cannot_be_read_fail(tmp_path: Path, content: bytes) -> None:
    """Everything stands still, and `status` says that somebody paused it."""
    data = tmp_path / "m"
    data.mkdir(mode=0o700)
    assert check(tmp_path).ok
    (data / STATE).write_bytes(content)
    told = check(tmp_path)
    assert not told.ok
    assert str(data / STATE) in told.message and "`memsyncd resume`" in told.remedy
    Pauses(data).resume(())
    assert check(tmp_path).ok


def test_a_pause_that_was_asked_for_is_well(tmp_path: Path) -> None:
    """It is told, and no fault."""
    data = tmp_path / "m"
    data.mkdir(mode=0o700)
    Pauses(data).pause(None)
    told = check(tmp_path)
    assert (told.ok, told.message) == (True, "everything is paused")
