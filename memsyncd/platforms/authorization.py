"""The API key at the moment of a request; in no error's words."""

from typing import Protocol

from memsyncd.platforms.platform import KeyRefused


class KeySource(Protocol):
    """Where the API key comes from; it may change while we run."""

    def current(self) -> str:
        """Return the key as of now, empty if there is none."""


def current_key(source: KeySource) -> str:
    """Return the key to send. Raises KeyRefused for none, for one that no header can carry, and if `source` raises."""
    try:
        key = source.current().strip()
    except Exception as failure:  # noqa: BLE001  (a command's or a file's own trouble, whatever it is, needs a person)
        raise KeyRefused(f"the API key could not be read ({type(failure).__name__})") from None
    if not key:
        raise KeyRefused("there is no API key")
    if not (key.isascii() and key.isprintable()):
        raise KeyRefused("the API key holds characters that no key has")
    return key
