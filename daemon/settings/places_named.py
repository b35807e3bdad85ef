"""Paths and patterns that settings name: made absolute, or refused with what puts them right, where they would name
nothing, or everything."""

import pwd
import re
from pathlib import Path

from daemon.settings.keys import ValueFault

_VARIABLE = re.compile(r"\$\{\w+\}|(?:^|/)\$\w+(?=/|$)")
_CHOICE = re.compile(r"\{[^/}]*,[^/}]*\}")
_WILD = re.compile(r"[*?\[]")
_ODD_PARTS = frozenset({"", ".", ".."})


def path(given: str, home: Path) -> str:
    """Return an absolute path, with a home in the place of `~` and `~user`. Raises ValueFault."""
    whole = _expanded(given, home)
    if not whole.startswith("/"):
        raise ValueFault("an absolute path, or one that begins with ~/")
    return whole


def pattern(given: str, home: Path) -> str:
    """Return a path or pattern that can match a directory, but not every one. Raises ValueFault."""
    whole = _expanded(given, home)
    if not whole.startswith(("/", "*")):
        raise ValueFault("an absolute path or pattern, one that begins with ~/, or with **/ for any place")
    if not whole.strip("/*?."):
        raise ValueFault("what names some directories: this names all; `memsyncd pause` holds everything")
    if _CHOICE.search(whole):
        raise ValueFault("a pattern of its own for each, without {}")
    wild = _WILD.search(whole)
    if wild and not _ODD_PARTS.isdisjoint(whole[wild.start() :].rstrip("/").split("/")):
        raise ValueFault("a pattern without //, /./ and /../ behind a wildcard, where no directory's name has them")
    return whole


def _expanded(given: str, home: Path) -> str:
    if not given.strip():
        raise ValueFault("a path: give it one, or take it out")
    if given != given.strip():
        raise ValueFault("a path without white space at its ends")
    if _VARIABLE.search(given):
        raise ValueFault("a path without variables, which are not looked up here: ~/ is your home")
    user, slash, rest = given.partition("/")
    return _home(user[1:], home).rstrip("/") + slash + rest if user.startswith("~") else given


def _home(user: str, own: Path) -> str:
    if not user:
        return str(own)
    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        raise ValueFault(f"the home of a user there is: ~/ is yours, and nobody is called {user!r} here") from None
