"""Setting files aside: nothing kept is ever replaced, and every name fits."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.intake.set_aside import LETTER, MAX_NAME, REASON, fitting, set_aside
from daemon.intake.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "claude-code", "claude-code", own=True)
    spool.prepare()
    return spool


def claimed(spool: Spool, stem: str, content: str) -> None:
    (spool.pending / f"{stem}.running").write_text(content)


def test_a_second_file_of_a_name_does_not_replace_the_first(spool: Spool) -> None:
    """Bytes kept whole stay, each with its own reason, in `corrupt/` and in `dead/`."""
    for content in ("first", "second", "third"):
        claimed(spool, "note", content)
        spool.quarantine("note", f"why {content}")
        claimed(spool, "note", content)
        spool.bury("note", f"why {content}")
    for directory in (spool.corrupt, spool.dead):
        kept = {stem: (directory / f"{stem}.json").read_text() for stem in ("note", "note.1", "note.2")}
        assert kept == {"note": "first", "note.1": "second", "note.2": "third"}
    assert json.loads((spool.corrupt / "note.2.reason.json").read_text())["detail"] == "why third"
    assert spool.dead_letters() == {"note": "why first", "note.1": "why second", "note.2": "why third"}


def test_a_stem_that_is_free_again_is_kept(spool: Spool) -> None:
    """A job refers to its dead handoff by its stem: revived and buried once more, it has the same."""
    for _ in range(2):
        claimed(spool, "a", "x")
        assert spool.bury("a", "refused")
        assert spool.revive("a")
    assert [waiting.stem for waiting in spool.waiting()] == ["a"]
    assert list(spool.dead.iterdir()) == []


def test_a_handoff_taken_meanwhile_leaves_no_reason(spool: Spool) -> None:
    """A reason without its file would tell of a loss that never was."""
    assert not spool.bury("gone", "expired")
    assert not spool.quarantine("gone", "torn")
    assert [*spool.dead.iterdir(), *spool.corrupt.iterdir()] == []


def test_a_move_that_fails_leaves_no_reason(spool: Spool) -> None:
    """The file is where it was, and nothing says otherwise."""
    with pytest.raises(OSError):
        set_aside(str(spool.pending / ("x" * 300)), spool.dead, "a", "expired", "")
    assert list(spool.dead.iterdir()) == []


@pytest.mark.parametrize("length", [230, 236, 243, 247, 250])
def test_long_names_are_set_aside_and_come_back(spool: Spool, length: int) -> None:
    """A name as long as the file system allows leaves no room for its reason's, so both are shortened alike."""
    stems = ["b" * (length - 1) + end for end in "xy"]
    for stem in stems:
        (spool.pending / f"{stem}.json").write_text(stem)
        assert spool.bury(stem, "expired", suffix=".json")
    assert list(spool.dead_letters().values()) == ["expired", "expired"]
    assert spool.revive(stems[0]) and spool.discard(stems[1])
    assert [path.read_text() for path in spool.pending.iterdir()] == stems[:1]
    assert list(spool.dead.iterdir()) == []


def test_a_handoff_named_like_a_reason_is_a_letter(spool: Spool) -> None:
    """It neither hides among the reasons nor replaces one."""
    for stem in ("a", "a.reason"):
        claimed(spool, stem, stem)
        spool.bury(stem, "expired")
    assert list(spool.dead_letters().values()) == ["expired", "expired"]
    assert spool.revive("a.reason")


@given(st.binary(min_size=1, max_size=250))
def test_a_fitting_stem_leaves_room_and_stays(raw: bytes) -> None:
    """Its file's, its reason's and a numbered one's names fit, and shortening twice is shortening once."""
    stem = fitting(os.fsdecode(raw))
    assert len(os.fsencode(stem + ".1234" + REASON)) <= MAX_NAME
    assert fitting(stem) == stem
    assert not (stem + LETTER).endswith(REASON)
