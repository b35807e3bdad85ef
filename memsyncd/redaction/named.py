"""Secrets told by the name before them, in any notation: `name=value`, JSON at any depth of escaping, YAML, code, flags.

A trigger finds the names, then one look at what follows each decides whether there is a value and where it ends. Every
look either takes what it has read or stops within a fixed distance, so the cost is linear in the text.
"""

import re
from dataclasses import dataclass

from memsyncd.redaction import quoting
from memsyncd.redaction.headers import authorization_end, cookie_end
from memsyncd.redaction.literals import is_code_or_prose, is_reference
from memsyncd.redaction.names import Kind, kind_of
from memsyncd.redaction.replacement import REPLACEMENT

_TRIGGER = re.compile("pass|pwd|secret|token|cred|auth|cookie|key")
"""Part of every telling name; plain, for it runs over all text."""

_NAME_REST = re.compile(r"[A-Za-z0-9_-]{0,48}")
_FOLLOWS = frozenset(" \t\r\n:=\"'`\\]?!>%,")
"""What can stand between a name and its value."""

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_MAX_NAME = 64

_ESCAPED = re.compile(r"[nrtbfv](?=.)")
_CODED = re.compile(r"u00[0-9a-fA-F]{2}")
_PERCENT = re.compile(r"[0-9A-Fa-f]{2}")
_COLOUR = re.compile(r"[0-9]{1,3}m")

_SIGN = re.compile(
    r"(?P<close>\\{0,64}[\"'`]|\\{1,64}u002[27]|%22)?(?P<bracket>\]?)[?!]?(?P<before>[ \t]{0,40})"
    r"(?P<sign>=>|:=|={1,3}|!==?|:(?!:)|%3[DdAa])(?P<after>[ \t]{0,40})"
)
_PAIR = re.compile(
    r"(?P<quote>\\{0,64}[\"'])?(?:,[ \t]{0,8}|\s{1,80})\\{0,64}[\"']?[vV]alue\\{0,64}[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
)
_ARGUMENT = re.compile(r"\\{0,64}[\"'],[ \t]{0,8}(?=\\{0,64}[\"'])")
_SPACES = re.compile(r"[ \t=]{1,8}(?![-\s])")
_IS = re.compile(r"[ \t]{1,4}is:?[ \t]{1,4}(?:now |set to )?")
_ELEMENT = re.compile(r"[^<>\n]{0,100}>(?P<value>[^<\n]{1,4096})</")
_NEXT_LINE = re.compile(r"\s{0,80}\n\s{0,80}")
_LONE = re.compile(r"[ \t]*([^\s\"'`:={(\[<>#-][^\s\"'`:={(\[]{0,200})[ \t]*(?=\n|\r|\Z)")

_UNQUOTED = re.compile(
    r"(?:\[REDACTED\]|[^\s\"'`&,;)\]}<\\]"
    r"|\\{1,64}[\"'`](?=\w)|[\"'`](?=\w)"
    r"|\\(?![nrt\"'`\\]|u00)|\\\\(?![\\nrt\"'`])"
    r"|&(?![&\s\"'`]|\Z|(?:amp;)?[\w.%\[\]-]{1,60}=)"
    r"|[,;](?![\s\"'`\\]|\Z|[\w.-]{1,40}[ ]?[=:])"
    r"|[)\]}](?![\s\"'`,;.:)\]}\\]|\Z)"
    r"|<(?!/|br))+"
)
"""An unquoted value. It goes on over a quote, comma, `&` or bracket that a letter follows (facts 6.33), but not into the
next parameter, the end of the string around it, or an escaped line end."""

_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*")
_ANNOTATED = re.compile(r"[\w.\[\], |&<>?]{1,80}?[ \t]{0,4}=[ \t]{0,4}(?=[rbfuRBFU]{0,2}[\"'`])")
_MAX_LINE = 400
_MIN_COMPARED = 6
_MIN_AUTH = 12


@dataclass(frozen=True, slots=True)
class _Name:
    """A telling name in the text: where it stands and what it announces."""

    start: int
    end: int
    text: str
    kind: Kind
    flag: bool


@dataclass(frozen=True, slots=True)
class _Secret:
    """A part of the text to replace."""

    start: int
    end: int
    replacement: str = REPLACEMENT


def redact_named(text: str, lowered: str) -> str:
    """Return `text` without the values that follow telling names; `lowered` is as long as `text`, in lower case."""
    pieces: list[str] = []
    done = read = 0
    for trigger in _TRIGGER.finditer(lowered):
        if trigger.start() < read:
            continue
        rest = _NAME_REST.match(text, trigger.end())
        read = rest.end() if rest else trigger.end()
        name = _name_at(text, trigger.start(), read) if text[read : read + 1] in _FOLLOWS else None
        if name is None or name.start < done:
            continue
        for secret in _secrets_after(text, name):
            if secret.start >= done:
                pieces += (text[done : secret.start], secret.replacement)
                done = read = secret.end
    if not pieces:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def _name_at(text: str, start: int, end: int) -> _Name | None:
    least = max(0, start - _MAX_NAME)
    while start > least and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    before = text[start - 1] if start else ""
    if before in {" ", "."} and text[start : start + 3].lower() == "key":  # "API key", two words
        start -= 1
        while start > least and text[start - 1].isalpha():
            start -= 1
        before = text[start - 1] if start else ""
    for mark, pattern in (("\\", _ESCAPED), ("\\", _CODED), ("%", _PERCENT), ("[;", _COLOUR)):
        if before and before in mark and (escape := pattern.match(text, start, end)):
            start = escape.end()
            break
    name = text[start:end].strip("-")
    kind = kind_of(name)
    return None if kind is None else _Name(start, end, name, kind, flag=text[start] == "-")


def _secrets_after(text: str, name: _Name) -> list[_Secret]:
    """Return what to replace after `name`, in order; nothing if no value follows."""
    sign = _SIGN.match(text, name.end)
    if sign is not None:
        if sign["sign"] == "=>" and not sign["close"] and text[name.start - 1 : name.start] != ":":
            return []
        return _after_sign(text, name, sign)
    if text[name.end : name.end + 1] not in {" ", "\t", '"', "'", "\\", ">", ",", "\n", "\r"}:
        return []
    pair = _PAIR.match(text, name.end)
    if pair is not None:
        return _value(text, name, pair.end(), quoted_name=pair["quote"] or "", spaced=False)
    if name.flag:
        follows = _ARGUMENT.match(text, name.end) or _SPACES.match(text, name.end)
        return _value(text, name, follows.end(), quoted_name="", spaced=False) if follows else []
    if text[name.start - 1 : name.start] in {"<", ":"} and (element := _ELEMENT.match(text, name.end)):
        return [_Secret(*element.span("value"))]
    return _after_words(text, name)


def _after_words(text: str, name: _Name) -> list[_Secret]:
    """`password is v1`, `PASSWORD 'v1'`: only what cannot be an everyday sentence."""
    if name.kind is not Kind.PASSWORD and name.kind is not Kind.SECRET:
        return []
    said = _IS.match(text, name.end)
    if said is None:
        spaces = _SPACES.match(text, name.end)
        if spaces is None or name.kind is not Kind.PASSWORD:
            return []
        span = quoting.quoted(text, spaces.end())
        return (
            [_Secret(span.start, span.end)] if span and span.closed and _one_word(text[span.start : span.end]) else []
        )
    span = quoting.quoted(text, said.end())
    if span is not None:
        return [_Secret(span.start, span.end)] if span.closed and _one_word(text[span.start : span.end]) else []
    value = _UNQUOTED.match(text, said.end())
    if value is None:
        return []
    word = value.group().rstrip(".!?")
    mixed = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    return [_Secret(value.start(), value.start() + len(word))] if mixed else []


def _one_word(value: str) -> bool:
    return bool(value) and not any(character.isspace() for character in value)


def _after_sign(text: str, name: _Name, sign: re.Match[str]) -> list[_Secret]:
    position = sign.end()
    quote = sign["close"] or ""
    line_end = _NEXT_LINE.match(text, position)
    if line_end is not None:
        if quote:
            return _value(text, name, line_end.end(), quoted_name=quote, spaced=False)
        lone = _LONE.match(text, line_end.end()) if name.kind is Kind.PASSWORD and sign["sign"] in {":", "="} else None
        if lone is None or is_code_or_prose(text, *lone.span(1), name=name.text, spaced=False):
            return []
        return [_Secret(*lone.span(1))]
    if sign["sign"] in {"==", "===", "!=", "!=="}:
        span = quoting.quoted(text, position)
        long = span is not None and span.closed and span.end - span.start >= _MIN_COMPARED
        return [_Secret(span.start, span.end)] if span and long and _one_word(text[span.start : span.end]) else []
    if (
        sign["sign"] == ":"
        and name.text == "token"
        and text[max(0, name.start - 11) : name.start].endswith("nexpected ")
    ):
        return []  # a parser's complaint
    spaced = bool(sign["before"]) and sign["sign"] != ":"
    return _value(text, name, position, quoted_name=quote, spaced=spaced)


def _value(text: str, name: _Name, position: int, *, quoted_name: str, spaced: bool) -> list[_Secret]:
    """Return the value that begins at `position`, quoted, listed or bare, as far as it is a secret."""
    if text.startswith("[", position) and not text.startswith(REPLACEMENT, position):
        return [_Secret(start, end) for start, end in quoting.listed(text, position)]
    span = quoting.quoted(text, position)
    if span is not None:
        if not quoted_name and _closes_around(text, name.start, span):
            return []
        return _quoted_value(text, name, span, quoted_name=quoted_name)
    if name.kind is Kind.AUTHORIZATION or name.kind is Kind.COOKIE:
        find = authorization_end if name.kind is Kind.AUTHORIZATION else cookie_end
        end = find(text, position)
        return [_Secret(position, end)] if end > position else []
    bare = _UNQUOTED.match(text, position)
    if bare is None:
        return []
    start, end = bare.span()
    if quoted_name and _NUMBER.fullmatch(bare.group()):
        quote = quoted_name if name.kind not in {Kind.AUTH, Kind.PASS, Kind.PWD} else ""
        return [_Secret(start, end, f"{quote}{REPLACEMENT}{quote}")] if quote else []
    if is_code_or_prose(text, start, end, name=name.text, spaced=spaced):
        return _annotated(text, start)
    return [_Secret(start, end)] if _weighs(name, bare.group(), text[position - 1], quoted=False) else []


def _closes_around(text: str, start: int, span: quoting.Span) -> bool:
    """Whether the quote before `span` ends a string that the name stands in, as in `input("Password: ")`."""
    if text[span.start : span.start + 1] not in {"", ")", ",", ";", "]", "}", "+", ":", " ", "\n", "\r"}:
        return False
    quote = text[span.start - 1]
    line = max(text.rfind("\n", max(0, start - _MAX_LINE), start), start - _MAX_LINE, 0)
    return text.count(quote, line, start) % 2 == 1


def _annotated(text: str, start: int) -> list[_Secret]:
    """`password: str = "v1"`: the value stands after the type."""
    found = _ANNOTATED.match(text, start)
    span = quoting.quoted(text, found.end()) if found else None
    return [_Secret(span.start, span.end)] if span and span.end > span.start else []


def _quoted_value(text: str, name: _Name, span: quoting.Span, *, quoted_name: str) -> list[_Secret]:
    content = text[span.start : span.end]
    if not content and not quoted_name:
        return []  # an empty literal in code hides nothing
    if not quoted_name and is_reference(content):
        return []
    if not _weighs(name, content, "", quoted=True):
        return []
    end = span.end
    tail = _UNQUOTED.match(text, span.after) if span.closed else None
    if tail is not None and tail.group()[0] not in ":.|+*?=/>%-!^~\\<([{" and not quoted_name:
        return [_Secret(span.start, end), _Secret(*tail.span(), "")]  # the shell joins what follows a quote
    return [_Secret(span.start, end)]


def _weighs(name: _Name, value: str, before: str, *, quoted: bool) -> bool:
    """Whether `value` is a secret though `name` alone does not say so for certain."""
    if name.kind is Kind.PWD:
        return value[:1] not in {"/", "~", "."} and value[1:3] not in {":\\", ":/"}
    if name.kind is Kind.PASS:
        return quoted or (before == "=" and not value[0].isdigit())
    if name.kind is Kind.AUTH:
        digits = any(character.isdigit() for character in value)
        return len(value) >= _MIN_AUTH and digits and re.fullmatch(r"[A-Za-z0-9+/=_-]+", value) is not None
    return True
