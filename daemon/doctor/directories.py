"""Directories and files: whose they are, who may enter, whether they can be written, on what disk they are."""

import os
import pwd
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from daemon.disk_watch import FEW_INODES, FULL_BYTES
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.unmade_directory import REMEDY, hindrance

NETWORK_DISKS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "ncpfs", "vboxsf", "fuse.glusterfs", "webdav"}
)
"""File systems on which SQLite's write-ahead log, shared between processes, is not safe (never-again 46, 47)."""

_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Place:
    """A path as it was found; `mode` is None where it is not there, and then `hindrance` tells what keeps the daemon
    from making it. `error` is why it could not be looked at."""

    path: str
    is_directory: bool
    mode: int | None = None
    uid: int = 0
    writable: bool = True
    error: str = ""
    hindrance: str = ""

    @property
    def quoted(self) -> str:
        """The path as a word of a command to be typed: whoever could name a file could else put a command there."""
        return quote(self.path)


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    hung = "A disk hangs. `df` and `mount` show which; a network disk is no place for it."
    return [
        Probe("directories", lambda: directories(list(_directories(examined)), examined.uid), hung),
        Probe("modes", lambda: modes([*_directories(examined), *_files(examined)], examined.uid), hung),
        Probe("disk", lambda: _disk(examined), hung),
    ]


def directories(found: Sequence[Place], uid: int) -> Check:  # noqa: PLR0911  (one for each thing that can be found)
    """Judge whether every directory that is there is one, is the asker's, and can be written."""
    name = "directories"
    there = [place for place in found if place.mode is not None or place.error]
    for place in there:
        if place.error:
            return failed(name, f"{place.path} cannot be looked at: {place.error}", f"`ls -ld {place.quoted}`")
        if not stat.S_ISDIR(place.mode or 0):
            remedy = (
                f"`ls -ld {place.quoted}` shows what it is. Move it elsewhere, or where the path is wrong correct it: "
                "`memsyncd config show` tells where it is from."
            )
            return failed(name, f"{place.path} is no directory", remedy)
        if place.uid != uid:
            return _of_another(name, place, uid)
        if not place.writable:
            remedy = f"`chmod u+rwx {place.quoted}`, or mount its disk writable."
            return failed(name, f"{place.path} cannot be written by you", remedy)
    if unmade := next((place for place in found if place.hindrance), None):
        return failed(name, f"{unmade.path} cannot be made: {unmade.hindrance}", REMEDY)
    if not there:
        return unchecked(name, "there are none yet", "They are made by `memsyncd run` and by the first hook.")
    return passed(name, f"{len(there)} directories are yours and can be written")


def modes(found: Sequence[Place], uid: int) -> Check:
    """Judge whether anybody else can read, write or enter (DESIGN, promise 8). A link's mode lets nobody in, and
    `chmod` would change that of what it leads to."""
    there = [place for place in found if place.mode is not None and place.uid == uid and not stat.S_ISLNK(place.mode)]
    open_ = [place for place in there if stat.S_IMODE(place.mode or 0) & _OTHERS]
    if open_:
        told = ", ".join(f"{place.path} has mode {stat.S_IMODE(place.mode or 0):04o}" for place in open_[:3])
        more = f" and {len(open_) - 3} more" if len(open_) > 3 else ""  # noqa: PLR2004  (those told above)
        return failed(
            "modes",
            f"others can get at what is private: {told}{more}",
            "; ".join(f"`chmod {_right_mode(place)} {place.quoted}`" for place in open_[:3]),
        )
    if not there:
        return unchecked("modes", "there is nothing of yours yet")
    return passed("modes", f"{len(there)} directories and files are open to nobody else")


def _right_mode(place: Place) -> str:
    """Return the mode for what is there, whatever ought to be: without `x` nobody gets into a directory any more."""
    return "700" if stat.S_ISDIR(place.mode or 0) else "600"


def disk(path: str, *, kind: str, free: int, free_inodes: int | None) -> Check:
    """Judge where the data lies. `kind` is the file system's type, empty where the system does not tell."""
    told = f"{path}: {free >> 20:,} MB free" + (f" on {kind}" if kind else "")
    if kind in NETWORK_DISKS:
        remedy = (
            "Keep the data on a disk of this machine: set XDG_DATA_HOME or MEMSYNCD_HOME for daemon and hooks alike."
        )
        return failed("disk", f"{told}, a network disk, on which databases get damaged", remedy)
    if free < FULL_BYTES:
        return failed("disk", told, f"Free some space: `df -h {path}`.")
    if free_inodes is not None and free_inodes < FEW_INODES:
        return failed(
            "disk", f"{told}, but only {free_inodes} inodes", f"Delete files you do not need: `df -i {path}`."
        )
    return passed("disk", told)


def mounted(table: str, path: str) -> str:
    """Return the type of the file system that holds `path`, of a table as /proc/mounts has it; "" where none does."""
    best, kind = "", ""
    for line in table.splitlines():
        fields = line.split()
        if len(fields) < 3:  # noqa: PLR2004  (device, place, type)
            continue
        place = fields[1].replace("\\040", " ")
        if (path == place or path.startswith(place.rstrip("/") + "/")) and len(place) >= len(best):
            best, kind = place, fields[2]
    return kind


def _of_another(name: str, place: Place, uid: int) -> Check:
    owner, asker = account(place.uid), account(uid)
    return failed(
        name,
        f"{place.path} belongs to {owner}, and you are {asker}",
        f"Type it as {owner} (`sudo -iu {owner} memsyncd doctor`), or make it yours: `chown -R {uid} {place.quoted}`.",
    )


def account(uid: int) -> str:
    """Return a user's name, or the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _directories(examined: Examination) -> Iterator[Place]:
    places = examined.places
    kept = [path for spool in examined.spools if spool.own for path in (spool.path, spool.pending)]
    for path in (places.data, places.spools, places.runtime, *kept):
        yield replace(_look(path, is_directory=True), hindrance=hindrance(path, examined.uid))
    for spool in examined.spools:
        for path in (spool.dead, spool.corrupt):
            yield _look(path, is_directory=True)


def _files(examined: Examination) -> Iterator[Place]:
    places = examined.places
    databases = [places.queue_file, places.memory_file, *(spool.evidence for spool in examined.spools if spool.own)]
    files = [Path(f"{path}{suffix}") for path in databases for suffix in ("", "-wal", "-shm")]
    for path in (*files, places.lock_file, places.hook_error_log):
        yield _look(path, is_directory=False)
    for spool in examined.spools:
        yield from _handoffs(spool.pending) if spool.own else ()


def _handoffs(pending: Path) -> Iterator[Place]:
    try:
        names = os.listdir(pending)
    except OSError:
        return
    for name in names[:1000]:
        yield _look(pending / name, is_directory=False)


def _look(path: Path, *, is_directory: bool) -> Place:
    try:
        found = path.stat() if is_directory else path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Place(str(path), is_directory)
    except OSError as error:
        return Place(str(path), is_directory, error=error.strerror or str(error))
    writable = os.access(path, os.W_OK | (os.X_OK if is_directory else 0))
    return Place(str(path), is_directory, found.st_mode, found.st_uid, writable)


def _disk(examined: Examination) -> Check:
    path = examined.places.data
    while not os.path.exists(path):  # what is closed to us is not looked into
        path = path.parent
    try:
        table = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        table = ""
    room = os.statvfs(path)
    free_inodes = room.f_favail if room.f_files else None  # some file systems count none
    kind = mounted(table, os.path.realpath(path))
    return disk(str(examined.places.data), kind=kind, free=shutil.disk_usage(path).free, free_inodes=free_inodes)
