"""The C library's heap."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_THREADS = """
import ctypes, threading
from daemon import heap
{call}
barrier = threading.Barrier(4)
def allocate():
    kept = bytes(10_000)
    barrier.wait(60)
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_all_threads_share_one_arena() -> None:
    """What four threads allocate lies in one arena; without the call it lies in several."""
    assert _arenas("assert heap.share_one_arena()") == 1
    assert _arenas("") > 1


def _arenas(call: str) -> int:
    code = _THREADS.format(call=call)
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=root, stderr=subprocess.PIPE, timeout=60)
    return done.stderr.count(b"Arena ")
