"""Sealing what lies in the shared queue, so that its database and whoever reads its backups learn nothing said.

AES-256 in GCM, as the `cryptography` package has it. The keys are the lines of a file that the fleet's machines hold:
the first seals, all of them open. Ids and lanes are kept as digests under a key made of the last, which therefore stays
when a new one is put above it.
"""

import base64
import binascii
import hashlib
import os
import stat
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from jobs.queue.postgres.sealing import OtherKey
from memsyncd import regular_file

KEY_BYTES = 32
NONCE_BYTES = 12
NAME_BYTES = 4
MAX_FILE_BYTES = 16_384

_MARK = b"\x01"
"""The first byte of what is sealed in this way; JSON never begins with it."""


class PayloadKeys:
    """Keeps `jobs.queue.postgres.sealing.Sealing`. Safe from any thread."""

    def __init__(self, keys: list[bytes]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  (only where it is wanted)

        self._ciphers = {_name(key): AESGCM(key) for key in keys}
        self._first = _name(keys[0])
        self._digest_key = hashlib.blake2b(keys[-1], digest_size=KEY_BYTES, person=b"memsyncd-digest").digest()

    @property
    def digest_key(self) -> bytes:
        """The key of the digests, the same on every machine of the fleet."""
        return self._digest_key

    def seal(self, clear: bytes) -> bytes:
        """Return what is stored."""
        nonce = os.urandom(NONCE_BYTES)
        head = _MARK + self._first + nonce
        return head + self._ciphers[self._first].encrypt(nonce, clear, head)

    def open(self, sealed: bytes) -> bytes:
        """Return what was sealed. Raises OtherKey where no key of ours opens it, ValueError where it was changed."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415

        start = len(_MARK) + NAME_BYTES
        head, nonce, body = (
            sealed[: start + NONCE_BYTES],
            sealed[start : start + NONCE_BYTES],
            sealed[start + NONCE_BYTES :],
        )
        if not sealed.startswith(_MARK) or len(nonce) < NONCE_BYTES:
            raise OtherKey("it was put in unsealed, by a machine without the key file")
        cipher = self._ciphers.get(sealed[len(_MARK) : start])
        if cipher is None:
            raise OtherKey("it was sealed with a key that is not in this machine's key file")
        try:
            return cipher.decrypt(nonce, body, head)
        except InvalidTag:
            raise ValueError("it was changed in the database, or sealed with another key") from None


def read(path: Path) -> PayloadKeys:
    """Return the keys in a file, a line of base64 each. Raises ConfigurationError."""
    try:
        status = path.stat()
        text = regular_file.content(path, MAX_FILE_BYTES).decode("ascii", "replace")
    except OSError as error:
        raise ConfigurationError(f"queue.payload_key_file: {path}: {error.strerror}.") from error
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(f"queue.payload_key_file: others can read {path}: `chmod 600` it.")
    keys = [_key(line, path) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not keys:
        raise ConfigurationError(f"queue.payload_key_file: {path} holds no key: {_HOW}")
    try:
        return PayloadKeys(keys)
    except ImportError as error:
        raise ConfigurationError(
            "queue.payload_key_file needs the package cryptography: pip install 'memsyncd[postgres]'"
        ) from error


_HOW = "`head -c 32 /dev/urandom | base64` makes one."


def _key(line: str, path: Path) -> bytes:
    try:
        key = base64.b64decode(line.strip(), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(f"queue.payload_key_file: a line of {path} is not {KEY_BYTES} bytes in base64: {_HOW}")
    return key


def _name(key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=NAME_BYTES, person=b"memsyncd-name").digest()
