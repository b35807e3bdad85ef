"""What lies in the shared queue is sealed for the fleet's machines alone."""

import base64
import os
import stat
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.fleet import payload_key

CLEAR = b'{"id": "deliver:1", "payload": {"batch": "the launch is on the ninth"}}'


def written(path: Path, *keys: bytes) -> Path:
    path.write_text("# the fleet's keys\n" + "\n".join(base64.b64encode(key).decode() for key in keys) + "\n")
    path.chmod(0o600)
    return path


def test_what_is_sealed_opens_and_shows_nothing(tmp_path: Path) -> None:
    keys = payload_key.read(written(tmp_path / "keys", os.urandom(32)))
    sealed = keys.seal(CLEAR)
    assert b"launch" not in sealed
    assert keys.open(sealed) == CLEAR
    assert keys.seal(CLEAR) != sealed


def test_a_new_key_above_the_old_one_seals_and_both_open(tmp_path: Path) -> None:
    """The digests stay, so that what is under way is known by its name still."""
    old, new = os.urandom(32), os.urandom(32)
    before = payload_key.read(written(tmp_path / "before", old))
    after = payload_key.read(written(tmp_path / "after", new, old))
    assert after.open(before.seal(CLEAR)) == CLEAR
    assert before.digest_key == after.digest_key != b""
    with pytest.raises(ValueError, match="not in this machine's key file"):
        before.open(after.seal(CLEAR))


def test_what_was_changed_or_never_sealed_does_not_open(tmp_path: Path) -> None:
    keys = payload_key.read(written(tmp_path / "keys", os.urandom(32)))
    sealed = keys.seal(CLEAR)
    for position in range(len(sealed)):
        changed = sealed[:position] + bytes([sealed[position] ^ 1]) + sealed[position + 1 :]
        with pytest.raises(ValueError, match=r"sealed|changed"):
            keys.open(changed)
    for odd in (b"", CLEAR, sealed[:10], sealed[:20]):
        with pytest.raises(ValueError, match=r"sealed|changed"):
            keys.open(odd)


@pytest.mark.parametrize("content", ["", "# nothing\n", "not base64!\n", base64.b64encode(b"short").decode()])
def test_a_file_without_keys_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match="base64"):
        payload_key.read(path)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "keys", os.urandom(32))
    path.chmod(0o600 | stat.S_IRGRP)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        payload_key.read(path)
    with pytest.raises(ConfigurationError, match="No such file"):
        payload_key.read(tmp_path / "none")
