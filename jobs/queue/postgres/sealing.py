"""What stands between a job's words and the database: the seam for payloads that only a fleet's machines can read."""

from typing import Protocol


class OtherKey(ValueError):
    """It is in order, and sealed with a key that this machine does not hold: others can open it."""


class Sealing(Protocol):
    """Seals a job's id, lane and payload on their way in. Safe from any thread."""

    @property
    def digest_key(self) -> bytes:
        """At most 64 bytes that all machines of one queue share, for the digests of ids and lanes; empty: none."""

    def seal(self, clear: bytes) -> bytes:
        """Return what is stored."""

    def open(self, sealed: bytes) -> bytes:
        """Return what was sealed. Raises OtherKey where others can open it, ValueError where nobody can; with a
        sentence each."""


class Unsealed:
    """Stores JSON as it is."""

    digest_key = b""

    def seal(self, clear: bytes) -> bytes:
        """Return `clear`."""
        return clear

    def open(self, sealed: bytes) -> bytes:
        """Return `sealed`."""
        return sealed
