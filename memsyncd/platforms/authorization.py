"""The API key at the moment of a request; in no error's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from memsyncd.platforms.platform import KeyRefused


class KeySource(Protocol):
    """Where the API key comes from; it may change while we run."""

    def current(self) -> str:
        """Return the key as of now, empty if there is none."""


@dataclass(frozen=True, slots=True)
class KeyHeader:
    """How a platform takes its key: in the header `name`, after `prefix`. One that does not require a key is asked
    without the header where there is none."""

    name: str
    prefix: str = ""
    required: bool = True

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the header that carries `key`; none for an empty one."""
        return {self.name: f"{self.prefix}{key}"} if key else {}


def current_key(source: KeySource, *, required: bool = True) -> str:
    """Return the key to send, or empty where there is none and none is `required`.

    Raises KeyRefused for a missing one, for one that no header can carry, and if `source` raises.
    """
    try:
        key = source.current().strip()
    except Exception as failure:  # noqa: BLE001  (a command's or a file's own trouble, whatever it is, needs a person)
        raise KeyRefused(f"the API key could not be read ({type(failure).__name__})") from None
    if not key and required:
        raise KeyRefused("there is no API key")
    if not (key.isascii() and key.isprintable()):
        raise KeyRefused("the API key holds characters that no key has")
    return key
