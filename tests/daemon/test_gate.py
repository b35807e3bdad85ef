"""The one gate for pause and exclusion."""

import time
from pathlib import Path

import pytest

from daemon.gate import IGNORE_MARKER, SAME_LOOK_SECONDS, Gate
from daemon.pause_spans import covers
from memsyncd.evidence.event import Scope
from tests.clocks import HandClock


@pytest.mark.parametrize(
    ("pattern", "directory", "excluded"),
    [
        ("/w/clients", "/w/clients", True),
        ("/w/clients", "/w/clients/acme/src", True),
        ("/w/clients", "/w/clients-old", False),
        ("/w/clients/", "/w/clients/acme", True),
        ("/w/clients/**", "/w/clients/acme", True),
        ("/w/clients/**", "/w/clients/acme/deep/down", True),
        ("/w/*/secret", "/w/a/secret", True),
        ("/w/*/secret", "/w/a/secret/below", True),
        ("/w/*/secret", "/w/a/other", False),
        ("/w/proj-[ab]", "/w/proj-a/x", True),
        ("/w/proj-[ab]", "/w/proj-c", False),
        ("/w/clients", "", False),
    ],
)
def test_patterns_hold_by_whole_path_parts(pattern: str, directory: str, excluded: bool, tmp_path: Path) -> None:
    """A path and everything below it is meant, never a neighbour whose name begins alike (never-again 75)."""
    assert Gate([pattern], tmp_path / "paused").is_excluded(directory) is excluded


def test_an_excluded_project_is_so_under_both_its_names(tmp_path: Path) -> None:
    """A link into an excluded project is excluded, and a pattern given through a link covers the real place."""
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    assert Gate([str(real)], tmp_path / "paused").is_excluded(str(tmp_path / "link" / "sub"))
    assert Gate([str(tmp_path / "link")], tmp_path / "paused").is_excluded(str(real / "sub"))
    assert Gate([str(tmp_path / "link" / "**")], tmp_path / "paused").is_excluded(str(real / "sub"))


def test_a_pause_holds_everything_with_its_reason(tmp_path: Path) -> None:
    """While the marker exists nothing is delivered, and the reason says so."""
    gate = Gate([], tmp_path / "paused")
    scope = Scope("https://git.example.org/a/b", "a-b", root="/w/a")
    assert gate.hold(scope) is None
    (tmp_path / "paused").touch()
    assert gate.hold(scope) == "paused"


def test_an_excluded_scope_is_held(tmp_path: Path) -> None:
    """Exclusion also holds what was captured before it (never-again 74)."""
    assert Gate(["/w/a"], tmp_path / "paused").hold(Scope("r", "a", root="/w/a", directory="x")) is not None


def test_a_marker_file_excludes_up_to_the_repositorys_root(tmp_path: Path) -> None:
    """From any directory below it, through a link too; one above the repository is another matter's."""
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    (repository / "src" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repository / "src")
    (tmp_path / "plain" / "below").mkdir(parents=True)

    def excluded(*parts: str) -> bool:
        return Gate([], tmp_path / "paused").is_excluded(str(tmp_path.joinpath(*parts)))

    (tmp_path / IGNORE_MARKER).touch()
    assert excluded("plain", "below") and not excluded("repo", "src") and not excluded("repo")
    (repository / "src" / IGNORE_MARKER).touch()
    assert excluded("repo", "src", "deep") and excluded("link", "deep") and not excluded("repo")
    (repository / IGNORE_MARKER).touch()
    assert excluded("repo") and excluded("repo", "src", "not-there-yet")
    assert not Gate([], tmp_path / "paused").is_excluded("relative/\0")


def test_a_look_holds_for_an_instant_only(tmp_path: Path) -> None:
    """What a person excludes is excluded with the next event."""
    hands = HandClock()
    gate = Gate([], tmp_path / "paused", monotonic=hands.clock().monotonic)
    assert not gate.is_excluded(str(tmp_path))
    (tmp_path / IGNORE_MARKER).touch()
    assert not gate.is_excluded(str(tmp_path))
    hands.move(SAME_LOOK_SECONDS)
    assert gate.is_excluded(str(tmp_path))


def test_a_paused_project_is_not_captured_and_is_held_with_its_reason(tmp_path: Path) -> None:
    """By its identity, in another working tree too; a pause of everything discards nothing, and one that is over
    what it held."""
    scope = Scope("git.example.org/a", "a", root=str(tmp_path / "other-tree"))
    gate = Gate([], tmp_path / "paused", lambda _: scope)
    gate.pauses.pause_project("git.example.org/a", str(tmp_path / "tree"), None)
    assert gate.hold(scope) == gate.hold_directory("/elsewhere") == "its project is paused"
    during = time.time()
    assert covers(gate.pauses_of("/elsewhere"), during)
    assert not covers(gate.pauses_of("/elsewhere"), during - 60.0)
    gate.pauses.resume_project("git.example.org/a")
    over = time.time()
    gate.pauses.pause(None)
    assert gate.hold(scope) == gate.hold_directory("/elsewhere") == "paused"
    assert covers(gate.pauses_of("/elsewhere"), during) and not covers(gate.pauses_of("/elsewhere"), over)
