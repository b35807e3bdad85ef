"""What stands between a telling name and its value: a sign, a flag's space, the next line, a tag, a few words."""

import re

from memsyncd.redaction import quoting
from memsyncd.redaction.blocks import ESCAPED_LINE_END, block_lines, is_deeper, line_alone
from memsyncd.redaction.chance import looks_like_key
from memsyncd.redaction.literals import is_code_or_prose, is_made_up, is_prose
from memsyncd.redaction.logins import is_password, login_after
from memsyncd.redaction.names import Kind
from memsyncd.redaction.telling import Name, Secret
from memsyncd.redaction.values import UNQUOTED, value_at

_SIGN = re.compile(
    r"(?P<close>\\{0,64}[\"'`]|\\{1,64}u002[27]|%22)?(?P<bracket>\]?)[?!]?(?P<before>[ \t\u00a0\u202f]{0,40})"
    r"(?P<sign>=>|:=|={1,3}|!==?|:(?!:)|%3[DdAa])(?P<after>[ \t]{0,40})"
)
_PAIR = re.compile(
    r"(?P<quote>\\{0,64}[\"'])?(?:,[ \t]{0,8}|\s{1,80})\\{0,64}[\"']?[vV]alue\\{0,64}[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
)
_ARGUMENT = re.compile(r"\\{0,64}[\"'],[ \t]{0,8}(?=\\{0,64}[\"'])")
_SPACES = re.compile(r"[ \t=]{1,8}(?![-\s])")
_IS = re.compile(
    r"[ \t]{1,4}(?:is|ist|est|es|(?P<reads>lautet)):?[ \t]{1,4}(?:now |set to |jetzt |nun |maintenant |ahora )?"
)
_OWNED = re.compile(
    r"[ \t](?:for|of|to|on|at|in|f\u00fcr|von|vom|zu[mr]?|auf|de|du|des|del|para|pour|dans)"
    r"(?:[ \t][\w./@'-]{1,40}){1,4}?"
    r"(?:[ \t](?:is|ist|est|es|(?P<reads>lautet)):?|[ \t\u00a0]?:)[ \t]{1,4}(?=[^\s])"
)
"""`password for the database is …`: whose it is, then the verb or sign."""
_APPOSED = re.compile(r",[ \t]{1,4}|[ \t]{1,4}\(|[ \t]{1,4}[\u2013\u2014-][ \t]{1,4}")
"""`our token, …, expires`: the value stands beside the name."""

_ELEMENT = re.compile(r"[^<>\n]{0,100}>(?P<value>[^<\n]{1,4096})</")
_NEXT_LINE = re.compile(r"\s{0,80}\n\s{0,80}")
_NEXT_INNER_LINE = re.compile(r"[ \t]{0,40}" + ESCAPED_LINE_END + r"[ \t]{1,80}")
_INNER_LONE = re.compile(r"([^\s\"'`:={(\[<>#\\-][^\s\"'`:={(\[\\]{0,200})[ \t]{0,40}(?=\\{1,8}[rn]|\\{0,8}\"|\Z)")
"""The same inside a JSON string, where line ends are escaped; a quote with no escape would end that string."""

_LONE = re.compile(r"[ \t]*([^\s\"'`:={(\[<>#-][^\s\"'`:={(\[]{0,200})[ \t]*(?=\n|\r|\Z)")
_SPOKEN_OF = re.compile(r"(?:nexpected|[:@]param|[:@]type)[ \t]{1,2}\Z")
"""A parser's complaint about a token; a parameter's documentation."""

_OPEN_CALL = re.compile(r"\([ ]?(?=\\{0,64}[\"'`])")
_BLOCK = re.compile(r"(?:![\w/!-]{0,40}[ \t]{1,4})?(?:[|>][0-9+-]{0,2}[ \t]{0,8}(?=\r?\n|" + ESCAPED_LINE_END + r"))?")
"""YAML's tag, and its sign for a text that begins on the next line."""

_BLOCK_ENDS = frozenset("|>+-0123456789")
_CERTAIN = frozenset({Kind.PASSWORD, Kind.SECRET})
_LOOKED_AT = frozenset({Kind.KEY, Kind.PASS, Kind.PWD})

_MIN_CALLED = 6
_MIN_BARE = 8
"""A shorter word after a name without a sign may be anything."""

_MIN_READ = 4
"""Of a word after "lautet", which announces what a password is letter by letter."""

_MIN_COMPARED = 6
"""A shorter text that a value is compared with is a word of a language, not a secret."""


def secrets_after(text: str, name: Name) -> list[Secret]:
    """Return what to replace after `name`, in order; nothing if no value follows."""
    if name.kind is Kind.LOGIN:
        return login_after(text, name)
    found = _values_after(text, name)
    if name.kind is Kind.KEY:
        return [each for each in found if looks_like_key(text[each.start : each.end])]
    return found


def _values_after(text: str, name: Name) -> list[Secret]:  # noqa: PLR0911  (one for each notation)
    sign = _SIGN.match(text, name.end)
    if sign is not None:
        if sign["sign"] == "=>" and not sign["close"] and text[name.start - 1 : name.start] != ":":
            return []
        if sign["bracket"] and sign["before"] and not sign["close"] and text[name.start - 1 : name.start] == "[":
            return []  # an index by a variable
        return _after_sign(text, name, sign)
    if text[name.end : name.end + 1] not in {"(", " ", "\t", '"', "'", "\\", ">", ",", "\n", "\r"}:
        return []
    pair = _PAIR.match(text, name.end)
    if pair is not None:
        return value_at(text, name, pair.end(), quoted_name=pair["quote"] or "", spaced=False)
    if name.flag:
        follows = _ARGUMENT.match(text, name.end) or _SPACES.match(text, name.end)
        return value_at(text, name, follows.end(), quoted_name="", spaced=False) if follows else []
    if text[name.start - 1 : name.start] in {"<", ":"} and (element := _ELEMENT.match(text, name.end)):
        return [Secret(*element.span("value"))]
    return _after_words(text, name)


def _after_words(text: str, name: Name) -> list[Secret]:  # noqa: PLR0911  (one for each notation)
    """`password is v1`, `PASSWORD 'v1'`, `setPassword("v1")`: only what cannot be an everyday sentence."""
    if name.kind in _LOOKED_AT:
        return _after_uncertain_words(text, name)
    if name.kind not in _CERTAIN:
        return []
    if apposed := _APPOSED.match(text, name.end):
        return _drawn_word(text, name, apposed.end())
    owned = _OWNED.match(text, name.end)
    said = owned or _IS.match(text, name.end)
    call = _OPEN_CALL.match(text, name.end)
    follows = said or call or _SPACES.match(text, name.end)
    if follows is None:
        return []
    if not (said or call or name.kind is Kind.PASSWORD or name.text.isupper()):
        return _after_uncertain_words(text, name)
    span = quoting.quoted(text, follows.end())
    if span is not None:
        value = text[span.start : span.end]
        fits = span.closed and _one_word(value) and (call is None or _is_mixed(value, _MIN_CALLED))
        return [Secret(span.start, span.end)] if fits else []
    bare = UNQUOTED.match(text, follows.end())
    if bare is None or call is not None:
        return []
    word = bare.group().rstrip(".!?")
    if said is None:
        tells = _is_mixed(word, _MIN_BARE)
    else:
        tells = is_made_up(word) or (
            said["reads"] is not None and not owned and len(word) >= _MIN_READ and not is_prose(word)
        )
    return [Secret(bare.start(), bare.start() + len(word))] if tells else []


def _after_uncertain_words(text: str, name: Name) -> list[Secret]:
    """Return the value of `the key is …`, `pass …`, `the token …`: only a word that looks like a secret itself."""
    follows = _OWNED.match(text, name.end) or _IS.match(text, name.end) or _SPACES.match(text, name.end)
    return _drawn_word(text, name, follows.end()) if follows else []


def _drawn_word(text: str, name: Name, position: int) -> list[Secret]:
    """Return the word at `position`, quoted or not, if it looks like a secret itself."""
    span = quoting.quoted(text, position)
    if span is not None:
        start, end = span.start, span.end if span.closed else span.start
    else:
        bare = UNQUOTED.match(text, position)
        start, end = bare.span() if bare else (0, 0)
    word = text[start:end].rstrip(".,;:!?)")
    if not word or not _one_word(word):
        return []
    is_long = name.kind is Kind.KEY or name.kind is Kind.SECRET
    tells = looks_like_key(word) if is_long else is_password(text, name, word)
    return [Secret(start, start + len(word))] if tells else []


def _is_mixed(word: str, least: int) -> bool:
    """Whether `word` has digits and letters, and is no shorter than `least`: no word of a sentence."""
    return len(word) >= least and any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _one_word(value: str) -> bool:
    return bool(value) and not any(character.isspace() for character in value)


def _after_sign(text: str, name: Name, sign: re.Match[str]) -> list[Secret]:  # noqa: PLR0911  (one for each notation)
    position = sign.end()
    if sign["sign"] == ":" and (block := _BLOCK.match(text, position)):
        position = block.end()
        if block.group().rstrip(" \t")[-1:] in _BLOCK_ENDS and name.kind in _CERTAIN:
            lines = block_lines(text, name.start, position)
            if lines:
                return [Secret(*line) for line in lines]
    quote = sign["close"] or ""
    line_end = _NEXT_LINE.match(text, position)
    if line_end is not None:
        if quote:
            return value_at(text, name, line_end.end(), quoted_name=quote, spaced=False)
        return _on_next_line(text, name, line_end.end()) if sign["sign"] in {":", "="} else []
    inner = _NEXT_INNER_LINE.match(text, position) if text[position : position + 1] in {"\\", " ", "\t"} else None
    if inner is not None:
        return _on_next_line(text, name, inner.end(), inner=True) if sign["sign"] == ":" and not quote else []
    if sign["sign"] in {"==", "===", "!=", "!=="}:
        span = quoting.quoted(text, position)
        least = _MIN_COMPARED if name.text != "token" else 2 * _MIN_COMPARED  # parsers compare tokens with words
        long = span is not None and span.closed and span.end - span.start >= least
        return [Secret(span.start, span.end)] if span and long and _one_word(text[span.start : span.end]) else []
    if sign["sign"] == ":" and _SPOKEN_OF.search(text, max(0, name.start - 11), name.start):
        return []
    spaced = bool(sign["before"]) and sign["sign"] != ":"
    return value_at(text, name, position, quoted_name=quote, spaced=spaced)


def _on_next_line(text: str, name: Name, position: int, *, inner: bool = False) -> list[Secret]:
    """Return a value that stands alone on the line after its name, as YAML allows: quoted, or one word.

    `inner` tells that this is inside a JSON string.
    """
    if name.kind not in _CERTAIN or (inner and text[position : position + 1] == '"'):
        return []
    deeper = is_deeper(text, name.start, position)
    span = quoting.quoted(text, position) if deeper else None
    if span is not None:
        value = text[span.start : span.end]
        tells = _one_word(value) and (line_alone(text, span.after) or is_made_up(value))
        return [Secret(span.start, span.end)] if span.closed and tells else []
    lone = (_INNER_LONE if inner else _LONE).match(text, position)
    if inner and not deeper:
        return []
    if lone is None or is_code_or_prose(text, *lone.span(1), name=name.text, spaced=False):
        return []
    if name.kind is Kind.SECRET and not (deeper and is_made_up(lone[1])):
        return []
    return [Secret(*lone.span(1))]
