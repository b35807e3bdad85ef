"""Private key blocks: PEM, OpenSSH and PGP, with real or escaped line ends, finished or cut off (facts 6.7, 6.17)."""

import re

from memsyncd.redaction.chance import is_base64
from memsyncd.redaction.replacement import REPLACEMENT

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")

_MAX_BLOCK = 32_768
"""Characters a finished block may span; markers further apart are two mentions, not one block."""

_LINE_END = r"(?:\r?\n|(?:\\{1,16}[rn])+|\Z|(?=\\{0,16}[\"'`]))"
_REST = re.compile(
    r"(?:[ \t]{0,40}" + _LINE_END + r")?"  # what is left of the marker's own line
    r"(?:"
    r"[ \t>|+]{0,40}(?:[0-9]{1,6}[ \t]{0,8}[|:\u2192\t ][ \t]{0,8})?"  # quoted, diffed or numbered, as tools print
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\r\n\\\"]*|[A-Za-z0-9+/=]+)"
    + _LINE_END
    + r"|[ \t]{0,40}"
    r"(?:\r?\n|(?:\\{1,16}[rn])+)"
    r")*"
)
"""The run of lines that can belong to a block whose end marker is missing."""


_BREAK = re.compile(r"\r?\n|(?:\\{1,16}[rn])+|\\{0,16}[\"'`]")
_BODY = re.compile(
    r"[ \t>|+]{0,40}(?:[0-9]{1,6}[ \t]{0,8}[|:\u2192\t ][ \t]{0,8})?(?P<base64>[A-Za-z0-9+/=]+)[ \t]{0,40}"
)
_MIN_BODY = 16
"""A shorter line before an end marker may be a word; a block's last line, and one cut by the text's start, may not."""

_PIECE = re.compile(r"(?:(?<=\\)[rn])?(?P<base64>[A-Za-z0-9+/]{4,}={0,2})")
_GAP = re.compile(
    r"(?:[\s>|+,;:.<*#\\-]|(?<=\\)[rn](?![A-Za-z0-9+/])|[0-9]{1,6}(?=[ \t]{0,8}[|:\u2192\t])|\u2192){0,60}"
)
"""Between pieces of a block that is on one line, or has remarks beside its lines: anything but words and quotes."""

_CASES = re.compile(r"[a-z][A-Z]")


def redact_blocks(text: str) -> str:
    """Return `text` with each private key block replaced: a cut one to the end, or from the start, of its lines."""
    return _without_headless(_without_begun(text))


def _without_headless(text: str) -> str:
    """Replace the end markers that base64 lines stand before: their block's head was cut off."""
    pieces: list[str] = []
    done = read = 0
    for end in _END.finditer(text):
        least = max(read, end.start() - _MAX_BLOCK)
        start = min(_headless(text, least, end.start()), _pieces_before(text, least, end.start()))
        read = end.end()
        if start < end.start():
            pieces += (text[done:start], REPLACEMENT)
            done = read
    return "".join((*pieces, text[done:])) if pieces else text


def _headless(text: str, least: int, stop: int) -> int:
    """Return where the base64 lines begin that lead to an end marker at `stop`, no earlier than `least`."""
    breaks = [found.span() for found in _BREAK.finditer(text, least, stop)]
    if not breaks or text[breaks[-1][1] : stop].strip(" \t0123456789>|+:\u2192"):
        return stop  # the marker's line begins with something else
    starts = [least, *(after for _, after in breaks[:-1])]
    first, tail = stop, stop
    for number in range(len(breaks) - 1, -1, -1):
        body = _BODY.fullmatch(text, starts[number], breaks[number][0])
        if body is None:
            break
        tail = body.start("base64")
        if len(body["base64"]) >= _MIN_BODY or (starts[number] == 0 and first < stop):
            first = tail
        elif number < len(breaks) - 1:
            break
    return first


def _without_begun(text: str) -> str:
    begins = list(_BEGIN.finditer(text))
    if not begins:
        return text
    pieces: list[str] = []
    done = 0
    for index, begin in enumerate(begins):
        limit = begins[index + 1].start() if index + 1 < len(begins) else len(text)
        end = _END.search(text, begin.end(), min(limit, begin.end() + _MAX_BLOCK))
        stop = end.end() if end else _unfinished(text, begin.end(), limit)
        if stop > begin.end():
            pieces += (text[done : begin.start()], REPLACEMENT)
            done = stop
    pieces.append(text[done:])
    return "".join(pieces)


def _unfinished(text: str, start: int, limit: int) -> int:
    """Where the lines of an endless block end; `start` itself if only the marker is there, as in code about keys."""
    rest = _REST.match(text, start, limit)
    stop = rest.end() if rest and rest.group().strip(" \t\r\n\\rn") else start
    stop = _pieces_after(text, stop, limit, begun=stop > start)
    while stop > start and text[stop - 1] in "\r\n":  # what follows keeps its own line
        stop -= 1
    return stop


def _pieces_after(text: str, stop: int, limit: int, *, begun: bool) -> int:
    """Return where the pieces of a block end that goes on at `stop` between remarks or blanks."""
    while gap := _GAP.match(text, stop, limit):
        piece = _PIECE.match(text, gap.end(), limit)
        if piece is None or not _is_body(piece["base64"], is_end=begun):
            break
        stop, begun = piece.end(), True
    return stop


def _pieces_before(text: str, least: int, stop: int) -> int:
    """Return where the pieces begin that lead to an end marker at `stop`, no earlier than `least`."""
    first, begun = stop, False
    for piece in reversed(list(_PIECE.finditer(text, least, stop))):
        start, end = piece.span("base64")
        if _GAP.fullmatch(text, end, first) is None or not _is_body(piece["base64"], is_end=first == stop):
            break
        first, begun = start, begun or end - start >= _MIN_BODY
    return first if begun else stop


def _is_body(word: str, *, is_end: bool) -> bool:
    """Whether `word` is a piece of a key: a block's end may be short, and then is no plain word at least."""
    if len(word) >= _MIN_BODY:
        return is_base64(word)
    return is_end and (
        word.endswith("=") or _CASES.search(word) is not None or not (word.isalpha() or word.strip("+/=").isdigit())
    )
