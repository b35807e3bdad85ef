"""What a daemon holds in memory."""

import itertools
import platform
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home

ARENA_BYTES = 64 * 1024 * 1024
"""The address space that glibc takes for each arena but the first, aligned to its size, on 64-bit machines."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_a_daemon_at_work_has_one_arena_for_all_its_threads(hosted: Home) -> None:
    """The same peak is not kept once by each thread that a delivery may run on."""
    daemon = hosted.start()
    hosted.exchange("s", 1)
    hosted.end("s")
    hosted.until_quiet()
    assert _arenas_beside_the_first(daemon.pid) == 0


def _arenas_beside_the_first(pid: int) -> int:
    """Count the mappings that are an arena's: its used part, and right behind it what is kept for it (proc(5))."""
    lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return sum(
        (used[1], kept[1]) == ("rw-p", "---p") and len(used) == 5 and _is_an_arena(used[0], kept[0])
        for used, kept in itertools.pairwise(lines)
    )


def _is_an_arena(used: str, kept: str) -> bool:
    (begin, middle), (behind, end) = ([int(at, 16) for at in place.split("-")] for place in (used, kept))
    return middle == behind and begin % ARENA_BYTES == 0 and end - begin == ARENA_BYTES
