"""Temporary files of writers that died."""

import os
from pathlib import Path

import pytest

from daemon.abandoned_writes import ABANDONED_WRITE_SECONDS, sweep, sweep_beside

NOW = 1_800_000_000.0


def age(moment: float) -> float:
    return NOW - moment


def put(path: Path, seconds: float) -> Path:
    path.touch()
    os.utime(path, (NOW - seconds, NOW - seconds))
    return path


OLD = ABANDONED_WRITE_SECONDS + 1


@pytest.mark.parametrize(
    "name",
    [".forgotten.json.77.tmp", ".pauses.json.77.140123.tmp", "telemetry-identity.json.77-0ab1.tmp", "0a1b2c3d.77.tmp"],
)
def test_what_nobody_writes_any_more_goes(tmp_path: Path, name: str) -> None:
    """After a day, whatever file it was to become."""
    put(tmp_path / name, OLD)
    assert sweep(tmp_path, age) == 1
    assert not list(tmp_path.iterdir())


def test_nothing_else_goes(tmp_path: Path) -> None:
    """No younger one, no other file, no directory or link of such a name, nor what a person calls so."""
    kept = [put(tmp_path / "young.77.tmp", ABANDONED_WRITE_SECONDS - 1)]
    kept += [put(tmp_path / name, OLD) for name in ("old.json", "config.toml.tmp", "notes 2025.tmp")]
    (tmp_path / "directory.77.tmp").mkdir()
    (tmp_path / "link.77.tmp").symlink_to(kept[1])
    assert sweep(tmp_path, age) == 0
    assert len(list(tmp_path.iterdir())) == len(kept) + 2
    assert sweep(tmp_path / "none", age) == 0


def test_where_only_hooks_write_every_one_goes(tmp_path: Path) -> None:
    """Plugins' hooks name theirs as they please (CONTRACT "A spool")."""
    put(tmp_path / "18ed-77-0a1b.tmp", OLD)
    assert sweep(tmp_path, age, is_shared=False) == 1


def test_in_a_directory_of_the_users_only_that_files_go(tmp_path: Path) -> None:
    """Another file's temporary file, or another program's, is not ours to remove."""
    old = put(tmp_path / ".settings.json.0123abcd.tmp", OLD)
    kept = [
        put(tmp_path / name, OLD)
        for name in (
            ".settings.json.backup.tmp",
            ".settings.json.0123abcde.tmp",
            ".other.json.0123abcd.tmp",
            "settings.json",
        )
    ]
    kept.append(put(tmp_path / ".settings.json.0123abce.tmp", 60.0))
    sweep_beside(tmp_path / "settings.json", NOW)
    assert not old.exists()
    assert all(path.exists() for path in kept)
    sweep_beside(tmp_path / "none" / "settings.json", NOW)
