"""What a live screen is shown."""

import os
import time
from pathlib import Path

from daemon.cli.surroundings import Surroundings
from daemon.cli.watch_feed import Looker


def test_what_a_key_has_changed_in_the_files_is_seen_at_once(tmp_path: Path) -> None:
    """Without a daemon the files are looked at every few seconds, and after a key at once: the next press would else do
    the same again."""
    environ = {"HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m")}
    (tmp_path / "m").mkdir(mode=0o700)
    looker = Looker(Surroundings(environ, tmp_path, os.getuid(), "linux", time.time))
    assert looker.document()["paused"] is False
    (tmp_path / "m" / "paused").touch()
    assert looker.document()["paused"] is False
    looker.forget()
    assert looker.document()["paused"] is True
