"""The files of pauses: markers for hooks, and what outlives what."""

import os
from pathlib import Path

import pytest

from daemon import pause_commands
from daemon.intake.spool import Spool
from daemon.pause_state import Moment
from daemon.pausing import MARKER, Pauses
from memsyncd.scope.resolve import ScopeResolver
from tests.daemon.full_disk import no_file_grows


class At:
    """A data directory with two spools, and a time moved by hand."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.moment = Moment(1_000.0, "boot", 10.0)
        self.spools = [Spool(data / "spools" / name, name, own=True) for name in ("claude-code", "codex")]
        for spool in self.spools:
            spool.prepare()
        self.pauses = Pauses(data, lambda: self.moment)

    def pass_by(self, seconds: float) -> None:
        self.moment = Moment(self.moment.wall + seconds, "boot", self.moment.up + seconds)

    def marked(self) -> list[str]:
        places = [self.data, *(spool.path for spool in self.spools)]
        return [place.name for place in places if (place / MARKER).exists()]


@pytest.fixture
def at(tmp_path: Path) -> At:
    """Fresh."""
    return At(tmp_path / "data")


def test_a_pause_of_everything_marks_every_spool_and_a_resume_none(at: At) -> None:
    """And of a spool that is made meanwhile, the next look."""
    assert at.pauses.pause(None) and not at.pauses.pause(None)
    assert at.marked() == ["data", "claude-code", "codex"]
    late = Spool(at.data / "spools" / "late", "late", own=True)
    late.prepare()
    at.pauses.settle(at.spools)
    assert late.paused.exists()
    assert at.pauses.resume(at.spools) and not at.pauses.resume(at.spools)
    assert at.marked() == [] and not late.paused.exists() and not at.pauses.is_paused


def test_an_end_is_in_the_markers_mtime_for_hooks_that_only_look(at: At) -> None:
    """An empty marker has none."""
    at.pauses.pause(60.0)
    assert [(place / MARKER).stat().st_mtime for place in (at.data, at.spools[0].path)] == [1_060.0, 1_060.0]
    at.pauses.pause(None)
    assert (at.data / MARKER).stat().st_size == 0


def test_a_pause_is_over_at_its_end_and_is_tidied_by_a_look(at: At) -> None:
    """A second pause with another end replaces the first."""
    at.pauses.pause(60.0)
    at.pauses.pause(120.0)
    at.pass_by(61.0)
    assert at.pauses.is_paused and not at.pauses.settle(at.spools)
    at.pass_by(60.0)
    assert not at.pauses.is_paused
    assert at.pauses.settle(at.spools) and at.marked() == [] and not at.pauses.settle(at.spools)


def test_a_marker_made_by_hand_pauses_and_its_removal_resumes(at: At) -> None:
    """The marker is the truth of a pause of everything."""
    (at.data / MARKER).touch()
    assert at.pauses.is_paused
    (at.data / MARKER).unlink()
    assert not at.pauses.is_paused


@pytest.mark.parametrize("content", ["", "until later"])
def test_what_a_look_made_of_a_marker_made_by_hand_goes_with_it(at: At, content: str) -> None:
    """Another process may look at its removal; one that a person gave an end is as long in the spools, and hooks go by
    that as well."""
    (at.data / MARKER).write_text(content)
    os.utime(at.data / MARKER, (1_060.0, 1_060.0))
    assert not at.pauses.settle(at.spools) and at.marked() == ["data", "claude-code", "codex"]
    state = at.pauses.state()
    assert state.everything is not None and state.everything.until == (1_060.0 if content else None)
    assert (at.spools[0].path / MARKER).stat().st_size == (0 if not content else 31)
    if content:
        at.pass_by(61.0)
    else:
        (at.data / MARKER).unlink()
    assert Pauses(at.data, lambda: at.moment).settle(at.spools)
    assert at.marked() == [] and not (at.data / "pauses.json").exists()


def test_a_spool_that_is_paused_alone_is_named_and_resumed(at: At) -> None:
    """It stays so until then: nobody knows who made the marker."""
    at.spools[1].paused.touch()
    at.pauses.settle(at.spools)
    assert at.marked() == ["codex"] and not at.pauses.is_paused
    answer = pause_commands.resume(at.pauses, ScopeResolver(at.data, {}).resolve, at.spools)
    assert (answer["outcome"], answer["resumed_spools"]) == ("done", ["codex"]) and at.marked() == []
    answer = pause_commands.resume(at.pauses, ScopeResolver(at.data, {}).resolve, at.spools)
    assert (answer["outcome"], answer["resumed_spools"]) == ("already so", [])


def test_a_crash_between_two_steps_leaves_all_paused_or_nothing(at: At) -> None:
    """A resume that died before the last marker went is a pause still; one that died after it is none."""
    at.pauses.pause(None)
    (at.spools[0].path / MARKER).unlink()
    assert at.pauses.is_paused
    at.pauses.settle(at.spools)
    assert at.marked() == ["data", "claude-code", "codex"]
    (at.data / MARKER).unlink()
    assert not at.pauses.is_paused and at.pauses.settle(at.spools) and at.marked() == []


def test_the_end_of_a_pause_makes_what_waits_young(at: At) -> None:
    """Nothing grows old in it."""
    file = at.spools[0].pending / "x.json"
    file.touch()
    os.utime(file, (1.0, 1.0))
    at.pauses.pause(5.0)
    at.pass_by(6.0)
    at.pauses.settle(at.spools)
    assert file.stat().st_mtime > 1.0


def test_a_projects_pause_is_its_own(at: At) -> None:
    """It outlives a pause of everything, ends by itself, and holds below its working tree and by its identity."""
    assert at.pauses.pause_project("git.example.org/a", "/w/a", 60.0)
    at.pauses.pause(None)
    at.pauses.resume(at.spools)
    assert at.pauses.project("", "/w/a/src") and at.pauses.project("git.example.org/a", "/elsewhere")
    assert at.pauses.project("", "/w/ab") is None and not at.pauses.is_paused
    at.pass_by(61.0)
    assert at.pauses.project("git.example.org/a") is None
    assert at.pauses.settle(at.spools) and not at.pauses.resume_project("git.example.org/a")


def test_two_processes_see_each_others_pauses(at: At) -> None:
    """What another one wrote is read at its next question."""
    other = Pauses(at.data, lambda: at.moment)
    assert not other.is_paused
    at.pauses.pause_project("r", "/w", None)
    assert other.project("r") is not None
    (at.data / "pauses.json").write_text("{")
    assert other.is_paused  # nobody knows what was to be held
    assert other.resume(at.spools) and not at.pauses.is_paused


def test_an_ended_pause_is_known_to_other_processes_and_outlives_an_older_versions_write(at: At) -> None:
    """Which knows nothing of its file."""
    at.pauses.pause_project("r", "/w", None)
    at.pass_by(60.0)
    assert at.pauses.resume_project("r")
    (at.data / "pauses.json").write_text('{"v": 1, "all": null, "projects": []}')
    other = Pauses(at.data, lambda: at.moment)
    (span,) = other.spans(lambda: ("", ["/w/src"]))
    assert span == pytest.approx((1_000.0, 1_060.0), abs=0.01)
    assert not other.spans(lambda: ("another", ["/wide"]))


def test_ended_pauses_that_cannot_be_read_hold_everything_until_somebody_resumes(at: At) -> None:
    """Nobody knows what was dropped in one and waits."""
    at.pauses.pause_project("r", "/w", None)
    at.pauses.resume_project("r")
    (at.data / "pauses-ended.json").write_text("{")
    assert at.pauses.is_paused
    at.pauses.settle(at.spools)
    assert at.pauses.is_paused and at.pauses.resume(at.spools) and not at.pauses.is_paused


def test_a_full_disk_lets_no_projects_pause_end_unwritten(at: At) -> None:
    """It goes on, and so does what it holds back."""
    at.pauses.pause_project("r", "/w", None)
    with no_file_grows(), pytest.raises(OSError, match="too large"):
        at.pauses.resume_project("r")
    assert at.pauses.project("r") is not None


def test_a_full_disk_refuses_a_pause_and_leaves_nothing_of_it(at: At) -> None:
    """Nobody is told that all is paused while it is not."""
    with no_file_grows(), pytest.raises(OSError, match="too large"):
        at.pauses.pause(None)
    assert not at.pauses.is_paused and at.marked() == []
    assert [path.name for path in at.data.iterdir()] == ["spools"]
