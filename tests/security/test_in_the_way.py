"""What lies in the place of a file of ours and is none is waited for by nobody: a sentence, an exit code, and an end."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.security import page

CODES = {0, 1, 3, 78}
SECONDS = 60

KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device without an end": lambda path: path.symlink_to("/dev/zero"),
}

ALONE = (
    "config.toml",
    "daemon.lock",
    "queue.sqlite3",
    "memory.sqlite3",
    "forgotten.json",
    "spools/claude-code/evidence.sqlite3",
)
"""Without these nothing goes on, so each is in the way by itself."""

TOGETHER = sorted(
    {
        row.pattern.replace("spools/*", "spools/claude-code").replace("*", "x1")
        for row in page.made()
        if row.kind == "file" and not row.pattern.endswith(("-wal", "-shm", "paused"))
    }
    - set(ALONE)
)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("names", [*((name,) for name in ALONE), TOGETHER], ids=[*ALONE, "all the others"])
def test_a_start_and_a_status_end(home: Home, names: Sequence[str], kind: Callable[[Path], object]) -> None:
    """With something in the way of each file that the page names."""
    for name in names:
        path = home.places.data / name
        for directory in reversed([parent for parent in path.parents if parent.is_relative_to(home.places.data)]):
            directory.mkdir(mode=0o700, exist_ok=True)
        kind(path)
    for arguments in (("run", "--once"), ("status",)):
        try:
            done = home.run(*arguments, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{arguments} waits")
        assert done.returncode in CODES, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
