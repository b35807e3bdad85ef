"""How much of the disk is in use, by what it is for."""

from pathlib import Path

import pytest

from daemon.cli.status_view import status_lines
from daemon.cli.wording import size
from daemon.intake.spool import Spool
from daemon.places import resolve
from daemon.status.metrics import metrics_text
from daemon.status.sizes import sizes


def test_each_file_counts_for_what_it_is(tmp_path: Path) -> None:
    """Databases with their logs, telemetry with its claims, what was set aside with its reasons and damaged copies."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, tmp_path, 0, "linux")
    spool = Spool(places.spools / "codex", "codex", own=True)
    spool.prepare()
    for name, count in (
        ("queue.sqlite3", 1),
        ("queue.sqlite3-wal", 2),
        ("queue.sqlite3.corrupt-7", 2048),
        ("memory.sqlite3", 4),
        ("spools/codex/evidence.sqlite3", 8),
        ("spools/codex/evidence.sqlite3-shm", 16),
        ("spools/codex/evidence.sqlite3.corrupt-7", 32),
        ("spools/codex/dead/x.json", 64),
        ("spools/codex/dead/x.reason.json", 128),
        ("spools/codex/corrupt/y.json", 256),
        ("spools/codex/telemetry.jsonl", 512),
        ("spools/codex/telemetry-1-00000000-a0.sending", 1024),
    ):
        (tmp_path / name).write_bytes(b"x" * count)
    (spool.dead / "link.json").symlink_to("/dev/zero")
    assert sizes(places, [spool]) == {"evidence": 24, "queue": 3, "memory": 4, "telemetry": 1536, "dead": 2528}


def test_what_is_missing_counts_nothing(tmp_path: Path) -> None:
    """Before the first start everything is 0."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path / "none")}, tmp_path, 0, "linux")
    assert set(sizes(places, [Spool(tmp_path / "gone", "x", own=True)]).values()) == {0}


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 bytes"), (9, "9 bytes"), (1023, "1,023 bytes"), (1024, "1.0 KB"), (10_240, "10 KB"), (5 << 30, "5.0 GB"), (3 << 40, "3,072 GB")],
)  # fmt: skip
def test_bytes_are_told_in_their_largest_unit(number: int, words: str) -> None:
    """For people, not for programs."""
    assert size(number) == words


def test_people_and_monitors_are_told() -> None:
    """A line of the status without what is empty, and a gauge for each."""
    document = {"state": "ok", "summary": "s", "sizes": {"evidence": 2048, "queue": 0}}
    told = [line.text for line in status_lines(document, width=80, now=0.0)]
    assert any(text.split() == ["disk", "evidence", "2.0", "KB"] for text in told)
    assert 'memsyncd_disk_bytes{what="evidence"} 2048.0' in metrics_text(document)
