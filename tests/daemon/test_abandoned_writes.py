"""Temporary files of writers that died."""

import os
from pathlib import Path

from daemon.abandoned_writes import ABANDONED_WRITE_SECONDS, sweep, sweep_beside

NOW = 1_800_000_000.0


def put(path: Path, age: float) -> Path:
    path.touch()
    os.utime(path, (NOW - age, NOW - age))
    return path


def test_what_nobody_writes_any_more_goes(tmp_path: Path) -> None:
    """After a day, and nothing else: no younger one, no other file, no directory or link of such a name."""
    old = put(tmp_path / ".state.json.77.tmp", ABANDONED_WRITE_SECONDS + 1)
    kept = [
        put(tmp_path / "young.tmp", ABANDONED_WRITE_SECONDS - 1),
        put(tmp_path / "old.json", 10 * ABANDONED_WRITE_SECONDS),
    ]
    (tmp_path / "directory.tmp").mkdir()
    (tmp_path / "link.tmp").symlink_to(old)
    assert sweep(tmp_path, lambda moment: NOW - moment) == 1
    assert not old.exists()
    assert all(path.exists() for path in kept)
    assert sweep(tmp_path / "none", lambda moment: NOW - moment) == 0


def test_in_a_directory_of_the_users_only_that_files_go(tmp_path: Path) -> None:
    """Another file's temporary file, or another program's, is not ours to remove."""
    old = put(tmp_path / ".settings.json.0123abcd.tmp", ABANDONED_WRITE_SECONDS + 1)
    kept = [
        put(tmp_path / name, ABANDONED_WRITE_SECONDS + 1)
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
