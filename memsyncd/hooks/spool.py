"""The hook's side of a spool: where it is, and one file put into it, private and durable."""

import posix

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KIND, FIFO, LINK = 0o170000, 0o010000, 0o120000
"""inode(7): the mask of a file's kind, and two kinds. (`stat` would be an import.)"""

MAX_DATA = 420
"""Longest data directory in bytes: SQLite opens no path over 504, and the longest in it is a damaged evidence file's in
the spool of a harness with the longest name."""


class NoPlaceError(ValueError):
    """There is no directory for handoffs, for no daemon could serve the one that is named."""


def data_directory(environ: "Mapping[bytes, bytes]", platform: str) -> bytes:
    """Return the data directory (CONTRACT: "Directories"). `STATE_DIRECTORY` is the daemon's, not a hook's.

    Empty where the user database is needed and does not know the user.
    """
    home = environ.get(b"MEMSYNCD_HOME")
    if home:
        return home
    shared = environ.get(b"XDG_DATA_HOME", b"")
    if platform != "darwin" and shared[:1] == b"/":
        return shared + b"/memsyncd"
    home = environ.get(b"HOME")
    if not home:
        import pwd  # noqa: PLC0415  (only where HOME is missing)

        try:
            home = pwd.getpwuid(posix.geteuid()).pw_dir.encode("utf-8", "surrogateescape")
        except KeyError:
            return b""
    place = b"/Library/Application Support/memsyncd" if platform == "darwin" else b"/.local/share/memsyncd"
    return home + place


def can_be_served(data: bytes) -> bool:
    """Tell whether a daemon can have its files there. A relative one would be another in each project, SQLite opens
    nothing below one that is too long or not UTF-8, and `daemon.places` refuses all three."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return data[:1] == b"/" and len(data) <= MAX_DATA


def open_pending(data: bytes, harness: str) -> int:
    """Return a descriptor of the spool's `pending`, made where it is missing; -1 while capture is paused.

    The marker `paused` counts in the spool, and in the data directory for a spool that does not exist yet. Raises
    NoPlaceError where no daemon could serve it, and OSError, of which PermissionError also where another user has put
    something in the way.
    """
    if not can_be_served(data):
        raise NoPlaceError
    if _is_paused(data + b"/paused", None):
        return -1
    spools = data + b"/spools"
    name = harness.encode("ascii")
    parent = open_or_make(b"spools", open_or_make(data, None, data), spools)
    spool = open_or_make(name, parent, spools + b"/" + name)
    if _is_paused(b"paused", spool):
        return -1
    return open_or_make(b"pending", spool, spools + b"/" + name + b"/pending")


def write(pending: int, name: str, parts: "Sequence[bytes]", oddities: list[BaseException]) -> None:
    """Write `parts` as `name`.json: written whole, synced, renamed, the directory synced.

    The rename also shows that the file is there: in some sandboxes a write only seems to succeed (never-again 92).

    A sync that fails costs the promise of durability, not the handoff: it is an oddity. Raises OSError.
    """
    temporary, final = name + ".tmp", name + ".json"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC
    file = posix.open(temporary, flags, 0o600, dir_fd=pending)
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[posix.write(file, rest) :]
        _sync(file, oddities)
        posix.rename(temporary, final, src_dir_fd=pending, dst_dir_fd=pending)
    except BaseException:
        posix.close(file)  # frees the room for a line about it
        try:  # noqa: SIM105  (contextlib would be an import)
            posix.unlink(temporary, dir_fd=pending)
        except OSError:
            pass  # the daemon sweeps it after a day
        raise
    posix.close(file)
    _sync(pending, oddities)


def nudge(data: bytes) -> None:
    """Wake the daemon by a byte into its FIFO, if it reads there; a hint, so a failure does not matter."""
    try:
        flags = posix.O_WRONLY | posix.O_NONBLOCK | posix.O_NOFOLLOW | posix.O_CLOEXEC
        fifo = posix.open(data + b"/nudge", flags)
        if posix.fstat(fifo).st_mode & KIND == FIFO:
            posix.write(fifo, b"\n")
        posix.close(fifo)
    except OSError:
        pass


def _is_paused(marker: bytes, directory: "int | None") -> bool:
    """Tell whether the marker is there. One with content holds until its mtime, also while no daemon removes it."""
    try:
        found = posix.stat(marker, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    if not found.st_size:
        return True
    import time  # noqa: PLC0415  (only where a pause has an end)

    return found.st_mtime > time.time()


def open_or_make(path: bytes, parent: "int | None", whole: bytes) -> int:
    """Open a directory as `open_own` does, made as by `make` where it is missing; `whole` is its absolute path."""
    try:
        return open_own(path, parent)
    except FileNotFoundError:
        make(whole)
        return open_own(path, parent)


def open_own(path: bytes, parent: "int | None" = None) -> int:
    """Open a directory; one that another user owns, or a link that another user made, is a PermissionError."""
    found = posix.stat(path, dir_fd=parent, follow_symlinks=False)
    follow = 0 if found.st_mode & KIND == LINK else posix.O_NOFOLLOW
    directory = posix.open(path, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC | follow, dir_fd=parent)
    if {found.st_uid, posix.fstat(directory).st_uid} - {0, posix.geteuid()}:
        posix.close(directory)
        raise PermissionError(1, "another user's")
    return directory


def make(path: bytes) -> None:
    """Make a directory and its parents, private from the start (with the caller's umask) and durable.

    Root by `sudo` makes none in that of who called it, to whom it would be closed: that is a PermissionError.
    """
    parent = path.rpartition(b"/")[0] or b"/"
    try:
        found = posix.stat(parent)
    except FileNotFoundError:
        make(parent)
        found = posix.stat(parent)
    if b"%d" % found.st_uid == posix.environ.get(b"SUDO_UID") and found.st_uid != posix.geteuid():
        raise PermissionError(1, "another user's")
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return  # another hook was faster
    directory = posix.open(parent, posix.O_RDONLY | posix.O_CLOEXEC)
    posix.fsync(directory)
    posix.close(directory)


def _sync(file: int, oddities: list[BaseException]) -> None:
    try:
        posix.fsync(file)
    except OSError as error:
        oddities.append(error)
