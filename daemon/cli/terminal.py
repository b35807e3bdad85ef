"""The terminal while a live screen has it: keys without Enter, signals as wishes, and all as it was afterwards."""

import contextlib
import os
import re
import select
import signal
import termios
import tty
from collections.abc import Callable
from types import FrameType
from typing import Self

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SEEN = (signal.SIGWINCH, signal.SIGCONT)
"""Signals that only wake: the screen is drawn anew after them."""

SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)", re.DOTALL)
"""What an arrow or a function key sends, and any key with Alt (ECMA-48, 5.4)."""

CHUNK = 1024


class Terminal:
    """A context. `keys` is a descriptor to read keys from; where it is no terminal none come.

    `ended` tells that a signal asked for the end, or that the terminal is gone; `stopped` that it was told to give the
    terminal back for a while. A second ending signal raises KeyboardInterrupt: what hangs in a write gets out with it.
    """

    def __init__(self, keys: int) -> None:
        self._keys = keys
        self._can_read = os.isatty(keys)
        self._before = termios.tcgetattr(keys) if self._can_read else None
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._handlers: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._descriptor_before = -1
        self.ended = False
        self.stopped = False

    @property
    def has_keys(self) -> bool:
        """Whether keys can come."""
        return self._can_read

    def __enter__(self) -> Self:
        self._descriptor_before = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in ENDING:
            self._handlers[number] = signal.signal(number, self._end)
        for number in SEEN:
            self._handlers[number] = signal.signal(number, lambda *_: None)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._descriptor_before)
        os.close(self._woken)
        os.close(self._wake)

    def take(self) -> None:
        """Have keys come one by one and unseen. Ctrl-C and Ctrl-Z stay signals."""
        if self._before is not None:
            with contextlib.suppress(termios.error):  # it is gone
                tty.setcbreak(self._keys, termios.TCSANOW)

    def give_back(self) -> None:
        """Have the terminal as it was."""
        if self._before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._keys, termios.TCSANOW, self._before)

    def wake(self) -> None:
        """End a wait, from any thread."""
        with contextlib.suppress(OSError):  # full: it wakes anyway; closed: nobody waits
            os.write(self._wake, b"\0")

    def wait(self, seconds: float) -> str:
        """Wait for a key, a wake or a signal, at most so long; return the keys that were pressed, none otherwise."""
        watched = [self._woken, *([self._keys] if self._can_read else [])]
        ready = select.select(watched, [], [], max(seconds, 0.0))[0]
        if self._woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, CHUNK)
        return self._pressed() if self._keys in ready else ""

    def _pressed(self) -> str:
        """Return the keys; an arrow or another key that sends a sequence is none of ours."""
        try:
            found = os.read(self._keys, CHUNK).decode("utf-8", "ignore")
        except OSError:
            found = ""
        if not found:  # nobody is at the other end any more
            self._can_read, self.ended = False, True
        return SEQUENCE.sub("", found)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        if self.ended:
            raise KeyboardInterrupt
        self.ended = True

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopped = True
