"""Text as systemd's unit files want it (systemd.syntax(7), systemd.service(5) "Command lines")."""

from collections.abc import Sequence


class Unquotable(ValueError):
    """No unit file can hold this text."""


_THROUGH_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')
_NOT_IN_PROGRAM = "\"'\\$"
"""What systemd refuses in the path of a program, and what it would take for a variable in its first word."""


def command(words: Sequence[str]) -> str:
    """Return an ExecStart= value that starts exactly `words`; the first is an absolute path.

    A path that systemd does not take is left to a shell that only executes its arguments, whatever is in them.
    """
    if any(letter in words[0] for letter in _NOT_IN_PROGRAM):
        words = (*_THROUGH_SHELL, *words)
    return " ".join(map(_word, words))


def assignment(name: str, value: str) -> str:
    """Return an Environment= value that sets one variable; `$` has no meaning there."""
    return _quoted(f"{name}={value}", always=True)


def literal(text: str) -> str:
    """Return a path for a setting that takes the rest of its line and knows specifiers only."""
    return _printable(text).replace("%", "%%")


def _word(text: str) -> str:
    return _quoted(text).replace("$", "$$")


def _quoted(text: str, *, always: bool = False) -> str:
    escaped = literal(text).replace("\\", "\\\\").replace('"', '\\"')
    is_plain = text and not any(letter in text for letter in " \t'\"\\;")
    return escaped if is_plain and not always else f'"{escaped}"'


def _printable(text: str) -> str:
    if any(ord(letter) < ord(" ") or letter == "\x7f" or "\ud800" <= letter <= "\udfff" for letter in text):
        raise Unquotable(f"a unit file cannot hold {text!r}: use a path without control characters")
    return text
