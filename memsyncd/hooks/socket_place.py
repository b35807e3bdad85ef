"""Where the daemon's status socket is, by the same rules as `daemon.places`, and whether what is there is ours.

It runs from Python 3.9 on and imports only built-in modules (`drop.py`).
"""

import posix

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Mapping

BUDGET = 100
"""Longest path in bytes; for a longer one there is the short fallback (`daemon.places.SOCKET_BUDGET`)."""

KIND, DIRECTORY, SOCKET = 0o170000, 0o040000, 0o140000
"""inode(7): the mask of a file's kind, and two kinds. (`stat` would be an import.)"""

OTHERS_MAY_WRITE = 0o022

ROOT = 0

NOTE_BYTES = 4096
"""More than the note in a daemon's lock ever has."""


def socket_path(data: bytes, environ: "Mapping[bytes, bytes]", platform: str, *, is_whole_home: bool) -> bytes:
    """Return the socket's path (CONTRACT: "Directories"). `is_whole_home` tells that `data` is a MEMSYNCD_HOME."""
    wanted = _plain(_directory(data, environ, platform, is_whole_home=is_whole_home)) + b"/status.sock"
    if len(wanted) <= BUDGET:
        return wanted
    import hashlib  # noqa: PLC0415  (only for a long path)

    digest = hashlib.sha256(wanted).hexdigest()[:8].encode("ascii")
    return b"/tmp/memsyncd-%d/%s.sock" % (posix.geteuid(), digest)


def told_path(data: bytes) -> bytes:
    """Return where the daemon of this data directory says that it answers, for a service manager may have given it
    another directory than the rules know; empty where it does not say. Raises OSError where none ever ran."""
    flags = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
    descriptor = posix.open(data + b"/daemon.lock", flags)
    try:
        note = posix.read(descriptor, NOTE_BYTES)
    finally:
        posix.close(descriptor)
    path = note.partition(b'"socket": "')[2].partition(b'"')[0]
    return b"" if b"\\" in path or path[:1] != b"/" else path  # what JSON had to write otherwise is none of a manager's


def is_ours(path: bytes) -> bool:
    """Whether a socket of our own user lies there, in a directory of ours, or of root's, whose service manager makes
    sockets for us, that nobody else can write. Raises OSError where nothing is."""
    found = posix.stat(path, follow_symlinks=False)
    place = posix.stat(path.rpartition(b"/")[0])
    if found.st_uid != posix.geteuid() or place.st_uid not in (posix.geteuid(), ROOT):
        return False
    return found.st_mode & KIND == SOCKET and not place.st_mode & OTHERS_MAY_WRITE


def _directory(data: bytes, environ: "Mapping[bytes, bytes]", platform: str, *, is_whole_home: bool) -> bytes:
    if not is_whole_home and platform != "darwin":
        session = environ.get(b"XDG_RUNTIME_DIR", b"")
        if session[:1] != b"/":
            session = b"/run/user/%d" % posix.geteuid()
        try:
            found = posix.stat(session)
        except OSError:
            return data + b"/run"
        if found.st_mode & KIND == DIRECTORY and found.st_uid == posix.geteuid():
            return session + b"/memsyncd"
    return data + b"/run"


def _plain(path: bytes) -> bytes:
    """Return an absolute path as `pathlib` writes it: it is from those bytes that the short name is made."""
    return b"/" + b"/".join([part for part in path.split(b"/") if part not in (b"", b".")])
