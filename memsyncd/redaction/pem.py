"""Private key blocks: PEM, OpenSSH and PGP, with real or escaped line ends, finished or cut off (facts 6.7, 6.17)."""

import re

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


def redact_blocks(text: str) -> str:
    """Return `text` with each private key block replaced, an unfinished one to the end of its base64 lines."""
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
    if rest is None or not rest.group().strip(" \t\r\n\\rn"):
        return start
    stop = rest.end()
    while stop > start and text[stop - 1] in "\r\n":  # what follows keeps its own line
        stop -= 1
    return stop
