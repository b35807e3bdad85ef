"""Whether a word that code may go on after, as in `token = word if …`, is a name of code or a secret after all."""

import re

from memsyncd.redaction.chance import is_random_password, looks_like_key
from memsyncd.redaction.names import Kind, announces, kind_of

_ARITHMETIC = re.compile(r"[ \t]{1,4}[+*%][ \t]")
_WORDS = re.compile(r"[ \t]{1,4}(?:-|if|or|and|in|is|else)[ \t]")
"""Operators of code that a sentence may go on with as well."""

_SHAPE = re.compile(
    r"(?:[A-Z][a-z]{2,}_?){1,4}[0-9]{1,8}|[a-z][A-Za-z]{3,}[0-9]{1,8}|[A-Z]?[a-z]{2,}[01345][a-z]{2,}[0-9]{0,8}"
)
"""How people make passwords: words with a number behind, a figure in a letter's place."""

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

_ENCODING = re.compile(r"(?i)(?:base|sha|md|utf|aes|hmac|pbkdf|oauth|ascii|latin|bcrypt|argon|blake|ripemd|crc)_?[0-9]")

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
    if len(part) >= _MIN_ONE_CASE and _ONE_CASE.fullmatch(part):
        return True
    return len(part) >= _MIN_HEXADECIMAL and _HEXADECIMAL.fullmatch(part) is not None


def _is_password(word: str, name: str) -> bool:
    """Whether `word` has a password's shape, behind a name that announces one, and is none that programs count."""
    if kind_of(name) not in {Kind.PASSWORD, Kind.PWD} or name == "pw" or not _SHAPE.fullmatch(word):
        return False
    last = _LAST_WORD.search(word)
    counted = last is not None and last.group().lower() in _NUMBERED
    return not (counted or announces(word) or _ENCODING.match(word))
