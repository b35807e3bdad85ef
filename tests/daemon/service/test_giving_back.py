"""What uninstall leaves in the spools."""

import os
from pathlib import Path

from daemon.lock import DaemonLock
from daemon.places import resolve
from daemon.service.giving_back import give_back


def test_claims_wait_again_and_nothing_else_changes(tmp_path: Path) -> None:
    """Ours at once, a plugin's only when its own worker is long gone; never beside a running daemon."""
    places = resolve({}, tmp_path, os.getuid(), "linux")
    assert give_back(places, pid=1) == 0
    ours, plugins = places.spools / "codex/pending", tmp_path / ".mem0/codex-plugin/pending"
    for pending in (ours, plugins):
        pending.mkdir(parents=True)
        for name in ("a.json", "b.running", "c.tmp"):
            (pending / name).write_text(name)
    os.utime(plugins / "b.running", (1.0, 1.0))
    (plugins / "fresh.running").touch()
    held = DaemonLock.acquire(places.lock_file, pid=1, run_id="r")
    assert give_back(places, pid=1) == 0
    held.release()
    assert give_back(places, pid=1) == 2
    assert sorted(os.listdir(ours)) == ["a.json", "b.json", "c.tmp"]
    assert sorted(os.listdir(plugins)) == ["a.json", "b.json", "c.tmp", "fresh.running"]
    assert (ours / "b.json").read_text() == "b.running"
