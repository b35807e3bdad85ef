"""Being held back by modes, root or not."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = 0x20080522
"""Of the system call, capget(2)."""

DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
"""The capabilities by which root reads and writes whatever modes say, capabilities(7)."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def unprivileged() -> Iterator[None]:
    """Let modes hold back this thread, and those that it starts, as they do any user's."""
    if os.geteuid() != 0:
        yield
        return
    libc, header, data = ctypes.CDLL(None, use_errno=True), _Header(VERSION, 0), (_Data * 2)()
    assert libc.capget(ctypes.byref(header), data) == 0
    before = data[0].effective
    data[0].effective &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    assert libc.capset(ctypes.byref(header), data) == 0
    try:
        yield
    finally:
        data[0].effective = before
        assert libc.capset(ctypes.byref(header), data) == 0
