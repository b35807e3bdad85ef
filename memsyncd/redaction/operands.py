"""Whether a word that code may go on after, as in `token = word if …`, is a name of code or a secret after all."""

import re

from memsyncd.redaction.chance import is_random_password, looks_like_key
from memsyncd.redaction.names import Kind, announces, kind_of

_ARITHMETIC = re.compile(r"[ \t]{1,4}[+*%][ \t]")
_WORDS = re.compile(r"[ \t]{1,4}(?:-|if|or|and|in|is|else)[ \t]")
"""Operators of code that a sentence may go on with as well."""

_SHAPE = re.compile(
    r"(?:[A-Z][a-z]{2,}_?){1,4}[0-9]{1,8}|[a-z][A-Za-z]{3,}[0-9]{1,8}"
    r"|[A-Z]?[a-z]{2,}[01345][a-z]{2,}[0-9]{0,8}|(?:[A-Za-z][a-z]{0,8}[01345]){2}[a-z]+[0-9]{0,8}"
    r"|(?=(?:[A-Za-z]*[0-9]){3})[A-Za-z0-9]{6,}"
)
"""How people make passwords: words with a number behind, figures in letters' places, letters and figures by turns."""

_CAPITAL = re.compile(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*[0-9]{2,8}")

_LAST_WORD = re.compile(r"[A-Za-z][a-z]*(?=_?[0-9]+\Z)")
_NUMBERED = frozenset(
    {
        "arg", "array", "auth", "base", "block", "buf", "buffer", "byte", "bytes", "cert", "char", "chunk", "client",
        "column", "config", "data", "digest", "element", "entry", "expr", "field", "file", "first", "group", "half",
        "hash", "index", "input", "item", "last", "left", "length", "line", "list", "match", "name", "node", "number",
        "oauth", "obj", "object", "option", "output", "param", "part", "path", "piece", "prefix", "random", "result",
        "right", "row", "salt", "sample", "second", "seed", "size", "start", "step", "string", "suffix", "temp", "test",
        "text", "type", "user", "username", "value", "version", "width", "word",
    }
)  # fmt: skip
"""What programs count: `value2`, `salt1`."""

_ENCODING = re.compile(
    r"(?:\A|_|(?<=[a-z])(?=[A-Z]))(?:(?i:base|sha|md|utf|aes|hmac|pbkdf|oauth|auth|ascii|latin|bcrypt|scrypt|argon|blake"
    r"|ripemd|crc|rs|es|hs|ps|secp|ed|curve|iso|rfc|win|u?int|float|tls|http|status|hex|key)_?[0-9]"
    r"|(?i:x509|h26[45]|p256|p384|p521|v[0-9]))"
)
"""Names of algorithms, forms and types have figures in them."""

_MIN_FIGURED, _MANY_FIGURES = 8, 3
"""A name of code has so many figures in an algorithm's name at most."""

_MIN_ONE_CASE, _MIN_FIGURES = 16, 2
"""Of a word all in small letters or in capitals; a longer name of code has `_` or changes its case."""

_MIN_HEXADECIMAL = 12
_ONE_CASE = re.compile(r"[a-z0-9]+|[A-Z0-9]+")
_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")


def is_operand(text: str, end: int, word: str, name: str) -> bool:
    """Whether `word`, which ends at text[end] and was assigned to `name`, is part of an expression of code."""
    if is_drawn(word):
        return False
    if _ARITHMETIC.match(text, end):
        return True
    return _WORDS.match(text, end) is not None and not _is_password(word, name)


def is_drawn(word: str) -> bool:
    """Whether `word`, of letters, figures and `_`, is drawn by chance, as no name of code is."""
    if not any(map(str.isdigit, word)):
        return False
    return looks_like_key(word) or any(map(_is_part_drawn, word.split("_")))


def _is_part_drawn(part: str) -> bool:
    figures = sum(map(str.isdigit, part))
    if figures < _MIN_FIGURES or figures == len(part) or _ENCODING.match(part):
        return False
    if is_random_password(part):
        return True
    if _ENCODING.search(part):
        return False
    if figures >= _MANY_FIGURES and len(part) >= _MIN_FIGURED:
        return True
    if len(part) >= _MIN_ONE_CASE and _ONE_CASE.fullmatch(part):
        return True
    return len(part) >= _MIN_HEXADECIMAL and _HEXADECIMAL.fullmatch(part) is not None


def is_capitalised(word: str) -> bool:
    """Whether `word` is none that code gives a variable, though it may speak of a secret: `Password123`."""
    return _CAPITAL.fullmatch(word) is not None and _ENCODING.search(word) is None


def _is_password(word: str, name: str) -> bool:
    """Whether `word` has a password's shape, behind a name that announces one, and is none that programs count."""
    if kind_of(name) not in {Kind.PASSWORD, Kind.PWD} or name == "pw" or not _SHAPE.fullmatch(word):
        return False
    last = _LAST_WORD.search(word)
    counted = last is not None and last.group().lower() in _NUMBERED
    return not (counted or announces(word) or _ENCODING.search(word))
