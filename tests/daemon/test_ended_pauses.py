"""The file of the pauses that are over."""

from pathlib import Path

import pytest

from daemon import ended_pauses
from daemon.ended_pauses import EndedPause


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """No file says that nothing was ever paused."""
    file = tmp_path / ended_pauses.NAME
    assert ended_pauses.read(file) == ()
    ended = (EndedPause("r", "/w", ((1.0, 2.5), (4.0, 5.0))), EndedPause("", "/x", ()))
    file.write_bytes(ended_pauses.encoded(ended))
    assert ended_pauses.read(file) == ended


@pytest.mark.parametrize(
    "torn",
    [b"", b"{", b'{"v": 2, "projects": []}', b'{"v": 1}', b"[]", b'{"v": 1, "projects": [{"repo_id": "r", "root": 1}]}',
     b'{"v": 1, "projects": [{"repo_id": "r", "root": "/w", "spans": [[1]]}]}'],
)  # fmt: skip
def test_what_is_torn_or_newer_is_told_from_nothing(tmp_path: Path, torn: bytes) -> None:
    """Nobody knows then what was to be held."""
    file = tmp_path / ended_pauses.NAME
    file.write_bytes(torn)
    assert ended_pauses.read(file) is None


def test_it_has_a_bound_and_the_oldest_go_first(tmp_path: Path) -> None:
    """In number, and in bytes: a file that could not be read again would hold everything."""
    many = [EndedPause(str(number), "/w", ()) for number in range(ended_pauses.KEPT + 5)]
    file = tmp_path / ended_pauses.NAME
    file.write_bytes(ended_pauses.encoded(many))
    assert ended_pauses.read(file) == tuple(many[5:])
    long = [EndedPause(str(number), "/w" * 4_000, ()) for number in range(1_000)]
    file.write_bytes(ended_pauses.encoded(long))
    kept = ended_pauses.read(file)
    assert kept and len(kept) < 1_000 and kept[-1] == long[-1]
