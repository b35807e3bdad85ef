"""The hook's side of a spool: places, owners, durability, the nudge."""

import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks import spool

NOBODY = 65534


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({b"MEMSYNCD_HOME": b"/m", b"XDG_DATA_HOME": b"/x", b"HOME": b"/h"}, "linux", b"/m"),
        ({b"MEMSYNCD_HOME": b"", b"XDG_DATA_HOME": b"/x", b"HOME": b"/h"}, "linux", b"/x/memsyncd"),
        ({b"XDG_DATA_HOME": b"relative", b"HOME": b"/h"}, "linux", b"/h/.local/share/memsyncd"),
        ({b"STATE_DIRECTORY": b"/var/lib/m", b"HOME": b"/h"}, "linux", b"/h/.local/share/memsyncd"),
        ({b"XDG_DATA_HOME": b"/x", b"HOME": b"/h"}, "darwin", b"/h/Library/Application Support/memsyncd"),
        ({b"MEMSYNCD_HOME": b"/m", b"HOME": b"/h"}, "darwin", b"/m"),
    ],
)
def test_the_data_directory_is_the_contract_s(environ: dict[bytes, bytes], platform: str, expected: bytes) -> None:
    """The data directory follows MEMSYNCD_HOME, then XDG (absolute only, not on macOS), then the home."""
    assert spool.data_directory(environ, platform) == expected


def test_without_home_the_user_database_tells_it() -> None:
    """Where HOME is missing, the home is the user database's."""
    import pwd

    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    assert spool.data_directory({}, "linux") == os.fsencode(home / ".local/share/memsyncd")


@pytest.mark.parametrize("place", ["", "spools", "spools/claude-code", "spools/claude-code/pending"])
def test_a_file_in_the_way_costs_the_handoff_only(every: Any, place: str) -> None:
    """Where the spool cannot be made, the hook exits 0 in silence and one line in a log says so."""
    path = every.home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    every({"a": 1})
    log = every.home if place else Path(every.environment["XDG_RUNTIME_DIR"]) / "memsyncd"
    [line] = (log / "hook-errors.log").read_text().splitlines()
    named = [] if place else [str(every.home)]
    assert line.split()[1:] == ["stop", "claude-code", "NotADirectoryError", "ENOTDIR", *named]
    assert path.read_bytes() == b""


def test_a_full_disk_leaves_no_torn_file(drop: Any) -> None:
    """When the disk is full, neither a handoff nor its temporary file is left, and the log says ENOSPC."""
    drop.home.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", drop.home], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a tiny file system cannot be mounted here")
    try:
        drop(b'{"text": "' + b"x" * 200_000 + b'"}')
        assert list((drop.home / "spools/claude-code/pending").iterdir()) == []
        assert [words[3:] for words in drop.log()] == [["OSError", "ENOSPC"]]
    finally:
        subprocess.run(["umount", drop.home], check=True)


def test_a_file_too_large_for_the_limit_is_an_error_like_any(drop: Any) -> None:
    """A process limit on file size ends neither the hook nor its silence."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    drop(b'{"text": "' + b"x" * 200_000 + b'"}', preexec_fn=limit)
    assert list((drop.home / "spools/claude-code/pending").iterdir()) == []
    assert [words[3:] for words in drop.log()] == [["OSError", "EFBIG"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("place", ["spools", "spools/claude-code", "spools/claude-code/pending"])
def test_another_user_s_link_is_not_followed(drop: Any, tmp_path: Path, place: str) -> None:
    """A link that another user planted in the spool's place, or a directory of his, gets no handoff."""
    target = tmp_path / "target"
    (target / "claude-code" / "pending").mkdir(parents=True)
    path = drop.home / place
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    os.lchown(path, NOBODY, NOBODY)
    drop({"a": 1})
    assert not [found for found in target.rglob("*") if found.is_file()]
    assert [words[3:] for words in drop.log()] == [["PermissionError", "EPERM"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_user_s_directory_gets_nothing(drop: Any) -> None:
    """A spool that belongs to another user is not written to."""
    path = drop.home / "spools" / "claude-code"
    path.mkdir(parents=True)
    os.chown(path, NOBODY, NOBODY)
    drop({"a": 1})
    assert list(path.iterdir()) == []
    assert [words[3:] for words in drop.log()] == [["PermissionError", "EPERM"]]


@pytest.mark.parametrize("place", ["", "spools/claude-code"])
def test_the_user_s_own_link_is_fine(drop: Any, tmp_path: Path, place: str) -> None:
    """A user may put the data directory or a spool elsewhere by a link of his own."""
    target = tmp_path / "target"
    target.mkdir()
    path = drop.home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    drop({"a": 1})
    assert drop.only()["hook_input"] == {"a": 1}


def test_the_nudge_tells_a_reader(drop: Any) -> None:
    """A reader of the FIFO gets one byte, after the handoff is in place."""
    drop.home.mkdir()
    os.mkfifo(drop.home / "nudge")
    reader = os.open(drop.home / "nudge", os.O_RDONLY | os.O_NONBLOCK)
    try:
        process = drop.start()
        process.stdin.write(b"{}")
        process.stdin.close()
        assert select.select([reader], [], [], 60)[0]
        assert len(drop.files()) == 1
        assert process.wait(timeout=60) == 0
        assert len(os.read(reader, 10)) == 1
    finally:
        os.close(reader)


def test_a_nudge_without_a_reader_or_into_a_full_fifo_does_not_block(drop: Any) -> None:
    """A FIFO that nobody reads, and one whose reader sleeps, cost nothing."""
    drop.home.mkdir()
    os.mkfifo(drop.home / "nudge")
    drop({})
    reader = os.open(drop.home / "nudge", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(drop.home / "nudge", os.O_WRONLY | os.O_NONBLOCK)
    try:
        while select.select([], [writer], [], 0)[1]:
            os.write(writer, b"x" * 4096)
        drop({})
    finally:
        os.close(reader)
        os.close(writer)
    assert len(drop.files()) == 2
    assert drop.log() == []


def test_a_nudge_goes_only_into_a_fifo(drop: Any, tmp_path: Path) -> None:
    """A regular file in the FIFO's place, or a link to something, gets not a byte."""
    drop.home.mkdir()
    (drop.home / "nudge").touch()
    drop({})
    assert (drop.home / "nudge").read_bytes() == b""
    (drop.home / "nudge").unlink()
    other = tmp_path / "other"
    os.mkfifo(other)
    reader = os.open(other, os.O_RDONLY | os.O_NONBLOCK)
    try:
        (drop.home / "nudge").symlink_to(other)
        drop({})
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_the_handoff_is_synced_before_its_name_and_the_name_after(drop: Any, tmp_path: Path) -> None:
    """File synced, renamed, directory synced: in this order, and nothing after it that a quick daemon could disturb."""
    code = (
        "import posix, sys\n"
        "calls = []\n"
        "def told(name):\n"
        "    real = getattr(posix, name)\n"
        "    def call(*args, **named):\n"
        "        kind = posix.fstat(args[0]).st_mode >> 12 if name == 'fsync' else ''\n"
        "        calls.append(f'{name}{kind}')\n"
        "        return real(*args, **named)\n"
        "    setattr(posix, name, call)\n"
        "from memsyncd.hooks import spool\n"
        "pending = spool.open_pending(sys.argv[1].encode(), 'kimi')\n"
        "for name in ('fsync', 'rename', 'stat', 'write'): told(name)\n"
        "spool.write(pending, 'x', (b'a', b'b'), [])\n"
        "print(*calls)\n"
    )
    environment = {"PYTHONPATH": str(Path(spool.__file__).parents[2])}
    process = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data")], capture_output=True, check=True, env=environment
    )
    assert process.stdout.split() == [b"write", b"write", b"fsync8", b"rename", b"fsync4"]
