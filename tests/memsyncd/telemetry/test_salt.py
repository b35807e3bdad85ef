"""The salt (facts 12.6, 12.7, 20.13)."""

import hashlib
import os
from pathlib import Path

import pytest

from memsyncd.telemetry.salt import Salt
from tests.memsyncd.telemetry.children import race


def fixed(size: int) -> bytes:
    return bytes(range(size))


def test_a_hash_is_16_digits_over_salt_and_value(tmp_path: Path) -> None:
    """16 hex digits of SHA-256 over the salt in the file, then the value (12.6)."""
    path = tmp_path / "telemetry-salt"
    told = Salt(path).hash("https://git.example.org/team/tool")
    salt = path.read_bytes().strip()
    assert told == hashlib.sha256(salt + b"https://git.example.org/team/tool").hexdigest()[:16]


def test_the_salt_is_random_private_and_made_once(tmp_path: Path) -> None:
    """Made when first needed, 0600 whatever the umask, no other file left, the same for every later reader."""
    before = os.umask(0o777)
    try:
        first = Salt(tmp_path / "telemetry-salt").hash("x")
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir()] == ["telemetry-salt"]
    assert (tmp_path / "telemetry-salt").stat().st_mode & 0o777 == 0o600
    assert Salt(tmp_path / "telemetry-salt", fixed).hash("x") == first
    assert Salt(tmp_path / "another").hash("x") != first


def test_nothing_is_written_before_it_is_needed(tmp_path: Path) -> None:
    """A salt nobody asks for is no file."""
    Salt(tmp_path / "telemetry-salt")
    assert not list(tmp_path.iterdir())


def test_the_salt_is_read_once(tmp_path: Path) -> None:
    """It is remembered: hashes go on when the file is gone, and agree with the earlier ones."""
    salt = Salt(tmp_path / "telemetry-salt")
    first = salt.hash("x")
    (tmp_path / "telemetry-salt").unlink()
    assert salt.hash("x") == first
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("obstacle", ["directory", "fifo", "link", "no place"])
def test_without_a_salt_there_is_no_hash(tmp_path: Path, obstacle: str) -> None:
    """Where none can be had there is no hash, unsalted or otherwise, and no waiting; later it is tried again."""
    path = tmp_path / "data" / "telemetry-salt"
    if obstacle != "no place":
        path.parent.mkdir()
    if obstacle == "directory":
        path.mkdir()
    elif obstacle == "fifo":
        os.mkfifo(path)
    elif obstacle == "link":
        (tmp_path / "planted").write_bytes(b"0" * 64 + b"\n")
        path.symlink_to(tmp_path / "planted")
    salt = Salt(path)
    assert salt.hash("x") is None
    if obstacle == "no place":
        path.parent.mkdir()
    elif obstacle == "directory":
        path.rmdir()
    else:
        path.unlink()
    assert salt.hash("x") is not None


def test_an_empty_value_has_no_hash(tmp_path: Path) -> None:
    """Nothing is omitted, not told as the hash of nothing (12.6)."""
    assert Salt(tmp_path / "telemetry-salt").hash("") is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"0" * 63, b"salt\n", b"\x00" * 65, b"0" * 64, b"A" * 64 + b"\n"])
def test_what_is_no_salt_is_mended(tmp_path: Path, content: bytes) -> None:
    """A file torn by a crash, or holding what somebody could guess, is replaced by a random salt."""
    path = tmp_path / "telemetry-salt"
    path.write_bytes(content)
    told = Salt(path).hash("x")
    assert told is not None
    assert len(path.read_bytes()) == 65
    assert Salt(path).hash("x") == told
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["telemetry-salt"]


def test_a_salt_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    """The mode is put right, the salt stays."""
    path = tmp_path / "telemetry-salt"
    first = Salt(path).hash("x")
    path.chmod(0o644)
    assert Salt(path).hash("x") == first
    assert path.stat().st_mode & 0o777 == 0o600


SETTING = """
from pathlib import Path
from memsyncd.telemetry.salt import Salt
"""

HASH = """
for number in range(40):
    told = None
    while told is None:
        told = Salt(Path(sys.argv[1]) / f"salt-{number}").hash("the same")
    print(told)
"""


def test_concurrent_processes_agree(tmp_path: Path) -> None:
    """Processes that need a salt at the same moment have the same one, each time, also where a torn one is mended."""
    for number in range(0, 40, 2):
        (tmp_path / f"salt-{number}").touch()
    told = race(SETTING, HASH, [[tmp_path]] * 5)
    assert len(set(told[0])) == 40
    assert all(lines == told[0] for lines in told)
    assert len(list(tmp_path.iterdir())) == 40
