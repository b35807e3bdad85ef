"""The C library's heap: one for all threads, and what was freed given back. Only glibc has these calls."""

import ctypes

_M_ARENA_MAX = -8
"""mallopt(3)."""


def share_one_arena() -> bool:
    """Have all threads allocate from one heap; False where the C library has no such call.

    glibc gives each thread one of its own, and each keeps the largest of what ever passed through it. The workers take
    turns at the same work, under the interpreter's lock, so that would be the same peak once for each of them
    (docs/performance.md). To be called before there are threads.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
    except (AttributeError, OSError):
        return False


def trim() -> bool:
    """Give freed memory back to the system; False where the C library has no such call, or nothing to give."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError):
        return False
