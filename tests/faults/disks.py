"""Disks that get full, read-only or broken, and well again, under a running daemon."""

import os
import subprocess
from pathlib import Path

from tests.end_to_end.conftest import Home

ROOMY = "size=512M,nr_inodes=20000"
"""Of a tmpfs, which takes memory only for what is on it."""


class SmallDisk:
    """A tmpfs, mounted where a test wants it."""

    def __init__(self) -> None:
        self._place: Path | None = None

    def mount(self, place: Path) -> None:
        """Put it in the place of an empty directory."""
        place.mkdir(parents=True, mode=0o700, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"{ROOMY},mode=700", "memsyncd-fault", place], check=True)
        self._place = place

    def fill(self, left: int = 0) -> None:
        """Leave that many bytes free, by making the disk as large as what is on it."""
        room = self._room()
        self._remount(f"size={(room.f_blocks - room.f_bfree) * room.f_frsize + left}")

    def use_up_inodes(self) -> None:
        """Leave none free."""
        room = self._room()
        self._remount(f"nr_inodes={room.f_files - room.f_ffree}")

    def make_room(self) -> None:
        """Give it space and inodes."""
        self._remount(ROOMY)

    def close(self) -> None:
        if self._place is not None:
            subprocess.run(["umount", "--lazy", self._place], check=True)
            self._place = None

    def _room(self) -> os.statvfs_result:
        assert self._place is not None
        return os.statvfs(self._place)

    def _remount(self, options: str) -> None:
        assert self._place is not None
        subprocess.run(["mount", "-o", f"remount,{options}", self._place], check=True)


class FailingDisk:
    """What a home's processes meet below a path, once it is told to fail (`failing_disk.c`)."""

    def __init__(self, library: Path, control: Path) -> None:
        self._library = library
        self._control = control

    def holds(self, home: Home) -> None:
        """Let it stand between all that is started from now on and its files."""
        home.environ |= {"LD_PRELOAD": str(self._library), "FAILING_DISK": str(self._control)}

    def fail(self, number: int, path: Path, *, reads: bool) -> None:
        """Answer with that errno to whoever changes something below `path`, or with `reads` reads it."""
        part = self._control.with_suffix(".part")
        part.write_text(f"{number} {'all' if reads else 'write'} {path}\n")
        part.replace(self._control)

    def mend(self) -> None:
        self._control.unlink()
