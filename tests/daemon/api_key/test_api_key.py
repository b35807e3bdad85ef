"""The API key, from wherever it comes."""

import hashlib
import os
from pathlib import Path

import pytest

from daemon.api_key.source import KeySource
from daemon.settings import Platform, Settings

FIRST = "m0-" + "a" * 20
SECOND = "m0-" + "b" * 20


def write(path: Path, key: str, mode: int = 0o600) -> Path:
    path.write_text(f"{key}\n")
    path.chmod(mode)
    return path


def test_the_order_is_environment_file_credential_command(tmp_path: Path) -> None:
    """The first that has a key counts, and says where it is from."""
    file = write(tmp_path / "file", "from-file")
    write(tmp_path / "mem0_api_key", "from-credential")
    settings = Settings(platform=Platform(api_key_file=str(file), api_key_command="echo from-command"))
    environ = {"MEM0_API_KEY": "from-environment", "CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": os.environ["PATH"]}
    source = KeySource.from_settings(settings, environ)
    assert (source.current(), source.origin()) == ("from-environment", "MEM0_API_KEY")
    del environ["MEM0_API_KEY"]
    source = KeySource.from_settings(settings, environ)
    assert (source.current(), source.origin()) == ("from-file", f"api_key_file {file}")
    file.unlink()
    assert source.current() == "from-credential"
    (tmp_path / "mem0_api_key").unlink()
    assert (source.current(), source.origin()) == ("from-command", "api_key_command")


def test_without_any_source_there_is_none() -> None:
    """And nothing to complain of."""
    source = KeySource.from_settings(Settings(), {})
    assert (source.current(), source.fingerprint(), source.origin(), source.problems()) == ("", "", "", [])


def test_a_plugins_option_is_a_key_too() -> None:
    """Facts 15.2."""
    assert KeySource.from_settings(Settings(), {"CLAUDE_PLUGIN_OPTION_API_KEY": FIRST}).current() == FIRST


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Written over, replaced, emptied, gone and back."""
    file = write(tmp_path / "key", FIRST)
    source = KeySource(file=file)
    assert source.current() == FIRST
    old = source.fingerprint()
    assert source.fingerprint() == old
    write(tmp_path / "new", SECOND).rename(file)
    assert source.fingerprint() not in ("", old)
    assert source.current() == SECOND
    write(file, "")
    assert source.current() == ""
    assert source.fingerprint() == ""
    file.unlink()
    assert "cannot be read" in source.problems()[0]
    write(file, FIRST)
    assert source.current() == FIRST
    assert source.problems() == []


def test_the_fingerprint_is_16_hex_of_sha256() -> None:
    """As the plugins' own (facts 12.23)."""
    assert KeySource(environment_key=FIRST).fingerprint() == hashlib.sha256(FIRST.encode()).hexdigest()[:16]


def test_the_key_is_in_no_repr_and_in_no_problem(tmp_path: Path) -> None:
    """It must not reach a log by accident."""
    for source in (KeySource(environment_key=FIRST), KeySource(file=write(tmp_path / "k", f"{FIRST} {SECOND}"))):
        source.current()
        told = f"{source!r} {source} {source.problems()} {source.origin()}"
        assert FIRST not in told
        assert SECOND not in told


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_others_can_read_is_used_and_told(tmp_path: Path, mode: int) -> None:
    """With the command that mends it; once mended it is told no more."""
    file = write(tmp_path / "key", FIRST, mode)
    source = KeySource(file=file)
    assert source.current() == FIRST
    assert "chmod 600" in source.problems()[0]
    file.chmod(0o600)
    assert source.problems() == []


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"a key", b"two\nlines", "schl\u00fcssel".encode(), b"a\0b", b"x" * 5000, b"\xff\xfe"]
)
def test_what_is_no_key_is_none_and_told(tmp_path: Path, content: bytes) -> None:
    """It would end up in a header."""
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "key").chmod(0o600)
    source = KeySource(file=tmp_path / "key")
    assert source.current() == ""
    assert len(source.problems()) == 1


def test_a_byte_order_mark_and_blanks_around_are_forgiven(tmp_path: Path) -> None:
    """Editors leave them."""
    (tmp_path / "key").write_bytes(b"\xef\xbb\xbf  " + FIRST.encode() + b" \r\n")
    assert KeySource(file=tmp_path / "key").current() == FIRST


def test_a_directory_or_fifo_is_no_key_file(tmp_path: Path) -> None:
    """Reading a FIFO would hang a worker."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        source = KeySource(file=path)
        assert source.current() == ""
        assert "no regular file" in source.problems()[0]
