"""The one gate for pause and exclusion."""

from pathlib import Path

import pytest

from daemon.gate import Gate
from memsyncd.evidence.event import Scope


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
