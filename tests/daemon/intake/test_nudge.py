"""The daemon's end of the hooks' nudge."""

import os
from pathlib import Path

import pytest

from daemon.intake.nudge import Nudge
from tests.unprivileged import unprivileged


def test_who_moves_is_asked_again(tmp_path: Path) -> None:
    """What a hook noted of a daemon that let it wait goes at the next start, and with the next nudge that is read."""
    note = tmp_path / "unanswered"
    note.touch()
    nudge = Nudge(tmp_path / "nudge")
    try:
        assert not note.exists()
        note.touch()
        os.write(nudge.descriptor, b"x")
        nudge.drain()
        assert not note.exists()
    finally:
        nudge.close()


@pytest.mark.parametrize("kind", ["directory", "dangling link"])
def test_what_lies_in_the_note_s_place_stops_nobody(tmp_path: Path, kind: str) -> None:
    """A directory stays where it is; a link goes, and what it points to does not."""
    note = tmp_path / "unanswered"
    if kind == "directory":
        note.mkdir()
    else:
        note.symlink_to(tmp_path / "nowhere")
    Nudge(tmp_path / "nudge").close()
    assert os.path.lexists(note) == (kind == "directory")


@pytest.mark.parametrize("mode", [0o400, 0o000, 0o666])
def test_a_fifo_whose_mode_a_restore_has_left_is_opened_to_its_owner_alone(tmp_path: Path, mode: int) -> None:
    """And does not keep the daemon from its start."""
    path = tmp_path / "nudge"
    os.mkfifo(path, mode)
    path.chmod(mode)
    with unprivileged():
        Nudge(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
