"""Whether a word looks drawn by chance: what tells a secret behind a name that is not certain, like `pass` or `key`."""

import re

_CHANGES = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_TURNS = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SIGN_INSIDE = re.compile(r"[A-Za-z0-9][!#$%^*][A-Za-z0-9]")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_DURATION = re.compile(r"(?:[0-9]{1,4}(?:ms|us|ns|[wdhms]))+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMED_HASH = re.compile(r"(?:[A-Za-z][A-Za-z0-9]{1,20}[-_.]){2,8}[0-9a-f]{32,64}")
"""As a build names what it caches: `linux-node-` and a hash."""

_KEY = re.compile(r"[A-Za-z0-9+/_=.~!#$%^*-]{20,}(?=[(\[<]|\Z)")
"""Also one that a remark in brackets follows."""

_PATH = re.compile(r"[/~.]|[A-Za-z]:[\\/]|.{0,20}://|.{0,200}\.[a-z]{1,4}\Z")

_HEAD = 200
"""Characters looked at, for texts where every value is told by several names."""

_MIN_PASSWORD = 8
_MIN_HEXADECIMAL = 32
_PASSWORD_SHARE, _KEY_SHARE = 0.42, 0.4
"""Of neighbours that are of different kinds (small letter, capital, digit): chance has some six of ten, a name of
words in capitals, like `myServiceName2024`, a quarter."""

_BASE64_SHARE = 0.25
"""Runs of one letter stand in many keys."""

_MIN_TURNS, _ONE_CASE_TURNS, _ONE_CASE_SHARE = 2, 5, 0.25
"""Between letters and digits. Where all letters are small or capitals, chance has four of ten."""


def is_random_password(word: str) -> bool:
    """Whether `word` is no name, count, duration, path or address, but what a generator makes."""
    if len(word) < _MIN_PASSWORD or _PATH.match(word) or is_duration(word):
        return False
    if not any(map(str.isdigit, word)) or not any(map(str.isalpha, word)):
        return False
    if _SIGN_INSIDE.search(word):
        return True
    turns, changes = len(_TURNS.findall(word)), len(_CHANGES.findall(word))
    if _is_of_one_case(word):
        return turns >= _ONE_CASE_TURNS and not _HEXADECIMAL.fullmatch(word)
    return turns >= _MIN_TURNS and changes >= _PASSWORD_SHARE * len(word)


def looks_like_key(value: str) -> bool:
    """Whether `value` is long, and no hash with a name, number of a thing, path or address: its beginning tells."""
    found = _KEY.match(value[:_HEAD].rstrip(".,;:!?"))
    word = found.group() if found else ""
    if not word or _UUID.fullmatch(word) or _NAMED_HASH.fullmatch(word) or _PATH.match(word):
        return False
    if not any(map(str.isdigit, word)) or not any(map(str.isalpha, word)):
        return False
    if _HEXADECIMAL.fullmatch(word):
        return len(word) >= _MIN_HEXADECIMAL
    turns, changes = len(_TURNS.findall(word)), len(_CHANGES.findall(word))
    if _is_of_one_case(word):
        return turns >= max(_ONE_CASE_TURNS, _ONE_CASE_SHARE * len(word))
    return turns >= _MIN_TURNS and changes >= _KEY_SHARE * len(word)


def is_base64(word: str) -> bool:
    """Whether `word`, where base64 may stand, has all of its kinds in a mixture that no word or name of code has."""
    kinds = (str.islower, str.isupper, str.isdigit)
    is_mixed = all(any(map(kind, word)) for kind in kinds)
    return is_mixed and len(_CHANGES.findall(word)) >= _BASE64_SHARE * len(word)


def is_duration(word: str) -> bool:
    """Whether `word` tells how long something took: `1h30m`, `200ms`."""
    return _DURATION.fullmatch(word) is not None


def _is_of_one_case(word: str) -> bool:
    return word == word.lower() or word == word.upper()
