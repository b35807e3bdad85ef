"""What stands where a telling name's value should be, and how much of it is a secret."""

import re

from memsyncd.redaction import quoting
from memsyncd.redaction.chance import looks_like_key
from memsyncd.redaction.headers import authorization_end, cookie_end
from memsyncd.redaction.literals import is_code_or_prose, is_made_up, is_reference
from memsyncd.redaction.logins import is_password
from memsyncd.redaction.names import Kind
from memsyncd.redaction.replacement import REPLACEMENT
from memsyncd.redaction.telling import Name, Secret

_PIECE = (
    r"(?:\[REDACTED\]|[^\s\"'`&,;)\]}<\\]"
    r"|\\{1,64}[\"'`](?=\w)|[\"'`](?=\w)"
    r"|\\(?![nrt\"'`\\]|u00)|\\\\(?![\\nrt\"'`])"
    r"|&(?![&\s\"'`]|\Z|(?:amp;)?[\w.%\[\]-]{1,60}=)"
    r"|[,;](?![\s\"'`\\]|\Z|[\w.-]{1,40}[ ]?[=:])"
    r"|[)\]}](?![\s\"'`,;.:)\]}\\]|\Z)"
    r"|<(?!/|br))"
)
UNQUOTED = re.compile(f"{_PIECE}+")
"""An unquoted value. It goes on over a quote, comma, `&` or bracket that a letter follows (facts 6.33), but not
into the next parameter, the end of the string around it, or an escaped line end."""

_HEAD = re.compile(f"{_PIECE}{{1,200}}")
"""By so much of a value it is told whether it is a secret. A text of names without a blank between them is a value
after each of them: were all of it read before it is turned down, its length would count by its square."""

_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*")
_ANNOTATED = re.compile(r"[\w. |&<>?]{1,60}?(?:\[[^\]\n]{0,60}\])?[ \t]{0,4}=[ \t]{0,4}(?=[rbfuRBFU]{0,2}[\"'`])")
_SCHEME_ONLY = re.compile(r"(?i)(?:basic|bearer|digest|token|apikey)?[ ]?")
_MAX_LINE = 400
"""How far back an open quote is looked for."""

_UNCERTAIN = frozenset({Kind.AUTH, Kind.PASS, Kind.PWD, Kind.KEY})
_MIN_AUTH = 12
"""A shorter value of a bare `auth` is a word, not base64."""


def value_at(text: str, name: Name, position: int, *, quoted_name: str, spaced: bool) -> list[Secret]:  # noqa: PLR0911  (one for each kind of value)
    """Return the value that begins at `position`, quoted, listed or bare, as far as it is a secret."""
    if text.startswith("[", position) and not text.startswith(REPLACEMENT, position):
        return [Secret(start, end) for start, end in quoting.listed(text, position)]
    span = quoting.quoted(text, position)
    if span is not None:
        if not quoted_name and _closes_around(text, name.start, span):
            return []
        return _quoted_value(text, name, span, quoted_name=quoted_name)
    if name.kind is Kind.COOKIE or (name.kind is Kind.AUTHORIZATION and not quoted_name):
        find = authorization_end if name.kind is Kind.AUTHORIZATION else cookie_end
        end = find(text, position)
        return [Secret(position, end)] if end > position else []
    bare = _HEAD.match(text, position)
    if bare is None:
        return []
    start, end = bare.span()
    if quoted_name and _NUMBER.fullmatch(bare.group()):
        quote = quoted_name if name.kind not in _UNCERTAIN else ""
        return [Secret(start, _whole_end(text, end), f"{quote}{REPLACEMENT}{quote}")] if quote else []
    if is_code_or_prose(text, start, end, name=name.text, spaced=spaced, target=name.is_target):
        return _annotated(text, start) if text[name.end : start].strip() == ":" else []
    is_secret = _weighs(name, bare.group(), text[position - 1], quoted=False)
    is_secret = is_secret or (name.kind is Kind.PASS and is_password(text, name, bare.group()))
    return [Secret(start, _whole_end(text, end))] if is_secret else []


def _whole_end(text: str, end: int) -> int:
    """Return where a value ends whose head ends at `end`."""
    rest = UNQUOTED.match(text, end)
    return rest.end() if rest else end


def _closes_around(text: str, start: int, span: quoting.Span) -> bool:
    """Whether the quote before `span` ends a string that the name stands in, as in `input("Password: ")`."""
    if text[span.start : span.start + 1] not in {"", ")", ",", ";", "]", "}", "+", ":", " ", "\n", "\r"}:
        return False
    quote = text[span.start - 1]
    line = max(text.rfind("\n", max(0, start - _MAX_LINE), start), start - _MAX_LINE, 0)
    return text.count(quote, line, start) % 2 == 1


def _annotated(text: str, start: int) -> list[Secret]:
    """`password: str = "v1"`: the value stands after the type."""
    found = _ANNOTATED.match(text, start)
    span = quoting.quoted(text, found.end()) if found else None
    return [Secret(span.start, span.end)] if span and span.end > span.start else []


def _quoted_value(text: str, name: Name, span: quoting.Span, *, quoted_name: str) -> list[Secret]:
    content = text[span.start : span.end]
    if not quoted_name and len(content) < (2 if name.kind is Kind.SECRET else 1):
        return []  # an empty literal in code hides nothing, nor does HTML's `accesskey="p"`
    if not quoted_name and is_reference(content):
        return []
    if name.kind is Kind.AUTHORIZATION:
        scheme = _SCHEME_ONLY.match(content)
        if scheme and content and (scheme.end() == len(content) or is_reference(content, scheme.end())):
            return []
    if not _weighs(name, content, "", quoted=True):
        return []
    end = span.end
    tail = UNQUOTED.match(text, span.after) if span.closed else None
    if tail is not None and tail.group()[0] not in ":.|+*?=/>%-!^~\\<([{" and not quoted_name:
        return [Secret(span.start, end), Secret(*tail.span(), "")]  # the shell joins what follows a quote
    return [Secret(span.start, end)]


def _weighs(name: Name, value: str, before: str, *, quoted: bool) -> bool:
    """Whether `value` is a secret though `name` alone does not say so for certain."""
    if name.kind is Kind.PWD:
        path = value[:1] in {"/", "~", "."} or value[1:3] in {":\\", ":/"}
        return not path and (name.text != "pw" or quoted or is_made_up(value) or value == REPLACEMENT)
    if name.kind is Kind.PASS:
        return quoted or (before == "=" and not value[0].isdigit())
    if name.kind is Kind.KEY:
        return looks_like_key(value)
    if name.kind is Kind.AUTH:
        digits = any(character.isdigit() for character in value)
        return len(value) >= _MIN_AUTH and digits and re.fullmatch(r"[A-Za-z0-9+/=_-]+", value) is not None
    return True
