"""The salt: with it, repositories and sessions are told apart in telemetry, and only on this machine told which."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from memsyncd.telemetry import private_file

NAME = "telemetry-salt"
HASH_LENGTH = 16
"""Hexadecimal digits of a hash (facts 12.6)."""

_BYTES = 32
_SALT = re.compile(rb"([0-9a-f]{64})\n")


class Salt:
    """The random salt in the file `path`, made when it is first needed. Safe from any thread and after a fork.

    Concurrent processes agree on one (facts 12.7). Where there is none to be had, there is no hash: never one
    without salt or with one that could be computed (facts 12.6, 20.13).
    """

    def __init__(self, path: Path, random: Callable[[int], bytes] = os.urandom) -> None:
        self._path = path
        self._random = random
        self._salt: bytes | None = None

    def hash(self, value: str) -> str | None:
        """Return 16 hex digits of SHA-256 over salt and value; None for an empty value or without a salt.

        Never raises; a failure is tried again at the next call.
        """
        salt = (self._salt or self._found()) if value else None
        if salt is None:
            return None
        return hashlib.sha256(salt + value.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]

    def _found(self) -> bytes | None:
        try:
            content = private_file.read(self._path)
            if content is None:
                private_file.publish(self._path, self._fresh())
                content = private_file.read(self._path)  # another process may have been faster
            if content is not None and not _SALT.fullmatch(content):  # a crash's, or no salt at all
                private_file.swap(self._path, content, self._fresh())
                content = private_file.read(self._path)
        except OSError:
            return None
        match = _SALT.fullmatch(content or b"")
        self._salt = match[1] if match else None
        return self._salt

    def _fresh(self) -> bytes:
        return self._random(_BYTES).hex().encode("ascii") + b"\n"
