"""What a hook notes of the place where it runs."""

import os
from pathlib import Path

import pytest

from memsyncd.hooks import envelope


def excluded(directory: Path) -> str:
    return os.fsdecode(envelope.excluded_below(os.fsencode(directory)))


def test_the_marker_is_found_up_to_the_repositorys_root(tmp_path: Path) -> None:
    """One above the repository is another matter's; a link is a marker too, wherever it leads."""
    repository = tmp_path / "repo"
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    (repository / ".git").touch()
    plain = tmp_path / "plain" / "below"
    plain.mkdir(parents=True)
    (tmp_path / ".memsyncd-ignore").touch()
    assert excluded(deep) == "" and excluded(repository) == ""
    assert excluded(plain) == excluded(tmp_path) == str(tmp_path)
    (repository / ".memsyncd-ignore").symlink_to("nowhere")
    assert excluded(deep) == excluded(repository) == str(repository)
    (repository / "src" / ".memsyncd-ignore").mkdir()
    assert excluded(deep) == str(repository / "src")


def test_the_look_ends_where_nothing_is_above(tmp_path: Path) -> None:
    """At a mount, at the root, and where a path does not begin there."""
    assert excluded(Path("/dev")) == excluded(Path("/")) == ""
    with pytest.raises(FileNotFoundError):
        excluded(tmp_path / "gone")
    assert envelope.excluded_below(b".") == b""
