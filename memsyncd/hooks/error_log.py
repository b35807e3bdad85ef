"""The log of what hooks swallowed, one line each, which `doctor` reads (never-again 29).

A line holds the time, the action, the harness, the kind of failure and its errno's name, and never a payload; where it
is not in the data directory itself it names that at its end, for other homes write there too. This is loaded only when
something is odd, and runs from Python 3.9 on (`drop.py`).
"""

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping

from memsyncd.hooks import envelope, spool

NAME = b"hook-errors.log"
MAX_BYTES = 256 * 1024
"""Above this the log becomes `hook-errors.log.1` in the older one's place: twice this is the most it takes."""


WORDS = 5
"""Of a line; the data directory comes after them."""

MAX_HOME = 400
"""Bytes of a data directory's name in a line."""


def append(data: bytes, environ: Mapping[bytes, bytes], event: envelope.Event, error: BaseException) -> None:
    """Add a line about `error` in the first place that takes it. Never raises OSError.

    About a data directory that no daemon can serve the line names none, for no `doctor` asks there.
    """
    data = data if spool.can_be_served(data) else b""
    text = line(event, error)
    named = text[:-1] + b" " + home_word(data) + b"\n" if data else text
    umask = os.umask(0o077)
    try:
        for directory in places(data, environ):
            try:
                _append(directory, text if directory == data else named)
            except OSError:
                continue
            return
    finally:
        os.umask(umask)


def line(event: envelope.Event, error: BaseException) -> bytes:
    """Return the line; each part is one word, whatever the command line held."""
    seconds, rest = divmod(event.now, 1_000_000_000)
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1_000_000:03d}Z"
    number = getattr(error, "errno", None)
    code = errno.errorcode.get(number, str(number)) if isinstance(number, int) else "-"
    words = (at, _word(event.action), event.harness, type(error).__name__, code)
    return (" ".join(words) + "\n").encode("ascii", "replace")


def home_word(data: bytes) -> bytes:
    """Return a data directory as one word of a line, without what `pathlib` leaves out."""
    parts = [part for part in data.decode("ascii", "replace").split("/") if part not in ("", ".")]
    return _word("/" + "/".join(parts))[:MAX_HOME].encode("ascii")


def places(data: bytes, environ: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """Yield the directories to try: the data directory, the session's run-time directory, a private one in /tmp."""
    if data:
        yield data
    runtime = environ.get(b"XDG_RUNTIME_DIR", b"")
    if runtime.startswith(b"/"):
        yield runtime + b"/memsyncd"
    yield b"/tmp/memsyncd-%d" % os.geteuid()


def _append(directory: bytes, text: bytes) -> None:
    place = spool.open_or_make(directory, None, directory)
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        file = os.open(NAME, flags, 0o600, dir_fd=place)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid not in (os.geteuid(), 0):
                raise PermissionError(errno.EPERM, "no log of ours")
            os.write(file, text)
            if found.st_size + len(text) > MAX_BYTES:
                _rotate(place, found.st_ino)
        finally:
            os.close(file)
    finally:
        os.close(place)


def _rotate(place: int, inode: int) -> None:
    try:
        if os.stat(NAME, dir_fd=place).st_ino == inode:
            os.rename(NAME, NAME + b".1", src_dir_fd=place, dst_dir_fd=place)
    except FileNotFoundError:
        pass  # another hook has just done it


def _word(text: str) -> str:
    """Return `text` with everything but plain visible ASCII replaced, so that it is one word of one line."""
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in text) or "-"
