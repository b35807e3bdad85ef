"""From a message's text to its sentences, with what is no prose left out.

Left out: fenced code, tables, diffs, stack traces, log lines, quotations and blocks in tags (which a harness or a
memory tool has put there: never-again 121). Kept beside each sentence: the heading it stands under, the line that
leads its list, and its place in the message.
"""

# ruff: noqa: E501  (a pattern is read best on one line)

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

MAX_MESSAGE_CHARS = 120_000
"""Read from one message; twice what one request can carry (facts 4.1)."""

MAX_LINE_CHARS = 4_000
"""A longer line is data, not prose."""

_FENCE = re.compile(r"^\s*(```|~~~)")
_TAG = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)\b[^<>]{0,200}>", re.IGNORECASE)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.{1,160}?)\s*#*$|^\s{0,3}\*\*([^*]{1,80}?):?\*\*:?\s*$")
_ITEM = re.compile(r"^(\s*)(?:[-*•+]|\d{1,2}[.)]|[a-z]\))\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_NOT_PROSE = re.compile(
    r"^\s*(?:\||>|\+\+\+|---|@@|diff --git|\$ |% |>>> |\[\d{2}:|\d{4}-\d\d-\d\d[T ]\d\d:|at \S+\(|File \"|Traceback"
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b[ :\]]|\[(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]"
    r"|[+-]\s?(?:import|def|class|return|const|let|var|func|fn|public|private)\b|</?[a-zA-Z][^>]*>\s*$)"
)
_RECALLED = re.compile(r"relevant memories from earlier", re.IGNORECASE)
_MARKUP = re.compile(r"(\*\*|__)(?=\S)(.{1,400}?)(?<=\S)\1")
_LINK = re.compile(r"\[([^\]\[]{1,200})\]\([^)\s]{1,500}\)")
_END = re.compile(
    r"(?<=[.!?…])[\"')\]»”]*\s+(?=[\"'(\[«“`*]*[^\W_a-zà-öø-ÿ]|`)|(?<=[。\uff01\uff1f])|(?<=[.!?])\s+(?=[a-z`]+\S*\s)",
)
_CLAUSES = re.compile(r";\s+(?=[A-Z])")
MAX_CLAUSES_CHARS = 300
"""Clauses between semicolons stay one sentence up to here: "Ada writes the guide; Bo reviews it" belongs together."""

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|z\.B|bzw|ca|d\.h|p\.ej|Mr|Dr|St|fig|resp|incl|usw)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:so|ok|okay|right|actually|also|and|but|btw|by the way|well|yes|yeah|yep|no|sure|great|good|perfect|awesome|cool|nice|"
    r"sweet|hmm|oh|ah|alright|anyway|now|then|next|first|done|set|changed|thanks(?: a lot)?|thank you|fyi|fixed|note|noted|understood|"
    r"please|one more (?:thing|rule)|(?:ok(?:ay)? )?last thing|sorry|agreed)\b\s*[,.:;!\N{EN DASH}\N{EM DASH}-]+\s*|(?:and|but|so|also|oh|ok|okay)\s+)+(?=\S{2,})",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or list item. `before` is the sentence before it in the same block, `lead` the line ending in a
    colon above its list. `from_end` counts sentences after it in the message."""

    text: str
    heading: str = ""
    lead: str = ""
    before: str = ""
    in_list: bool = False
    position: int = 0
    from_end: int = 0


def sentences_of(text: str) -> Sequence[Sentence]:
    """Return the sentences of a message, in order."""
    text = (
        text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\0", " ")
    )  # half characters cannot be stored
    lines = _prose_lines(_without_blocks(text[:MAX_MESSAGE_CHARS]))
    found = list(_sentences(_blocks(lines)))
    return [replace(sentence, position=index, from_end=len(found) - 1 - index) for index, sentence in enumerate(found)]


def _without_blocks(text: str) -> str:
    """Return `text` with a line break for each block in tags. An end that is missing is looked for once a name."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters have a longer lower case
        lowered = text
    pieces: list[str] = []
    endless: set[str] = set()
    done = 0
    for tag in _TAG.finditer(text):
        closing = f"</{tag[1].lower()}>"
        if tag.start() < done or closing in endless:
            continue
        end = lowered.find(closing, tag.end())
        if end < 0:
            endless.add(closing)
            continue
        pieces += (text[done : tag.start()], "\n")
        done = end + len(closing)
    return "".join([*pieces, text[done:]])


def clean(text: str) -> str:
    """Return `text` on one line, without emphasis and link targets."""
    return _SPACE.sub(" ", _MARKUP.sub(r"\2", _LINK.sub(r"\1", text))).strip()


def without_filler(text: str) -> str:
    """Return a sentence without the words it only warms up with: "ok agreed, no Redis" says "no Redis"."""
    return _FILLER.sub("", text).strip()


def split_sentences(paragraph: str) -> Sequence[str]:
    """Return the sentences of one paragraph; code spans, abbreviations and version numbers do not end one."""
    pieces: list[str] = []
    whole = _END.split(paragraph)
    for piece in (
        part for each in whole for part in (_CLAUSES.split(each) if len(each) > MAX_CLAUSES_CHARS else [each])
    ):
        joins = pieces and (
            pieces[-1].count("`") % 2
            or _ABBREVIATION.search(pieces[-1])
            or (piece[:1].islower() and len(pieces[-1]) < 12)  # noqa: PLR2004  (a number, "v1.", a name)
        )
        if joins:
            pieces[-1] = f"{pieces[-1]} {piece}"
        elif piece.strip():
            pieces.append(piece)
    return [piece.strip() for piece in pieces if piece.strip()]


def _prose_lines(text: str) -> Iterator[str]:
    fenced = recalled = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or len(line) > MAX_LINE_CHARS:
            continue
        if _RECALLED.search(line):
            recalled = True
            continue
        if recalled and _ITEM.match(line):
            continue
        recalled = recalled and not line.strip()
        yield "" if _NOT_PROSE.match(line) or line.startswith(("\t\t", " " * 12)) else line


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or a list item."""

    text: str
    heading: str
    in_list: bool


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    heading = ""
    paragraph: list[str] = []
    in_list = False
    for line in lines:
        title = _HEADING.match(line)
        item = _ITEM.match(line)
        if paragraph and (title or item or not line.strip()):
            yield _Block(clean(" ".join(paragraph)), heading, in_list)
            paragraph = []
        if title:
            heading, in_list = clean(title.group(1) or title.group(2)).rstrip(":"), False
        elif item:
            in_list = True
            paragraph = [item.group(2)]
        elif line.strip():
            in_list = in_list and (bool(paragraph) or line.startswith((" ", "\t")))
            paragraph.append(line.strip())
    if paragraph:
        yield _Block(clean(" ".join(paragraph)), heading, in_list)


def _sentences(blocks: Iterable[_Block]) -> Iterator[Sentence]:
    lead = heading = ""
    for block in blocks:
        if block.heading != heading:
            lead, heading = "", block.heading
        pieces = split_sentences(block.text)
        leads = bool(pieces) and pieces[-1].endswith(":")
        before = ""
        for piece in pieces[:-1] if leads else pieces:
            yield Sentence(piece, heading, lead if block.in_list else "", before, block.in_list)
            before = piece
        if leads:
            lead = pieces[-1]
        elif pieces and not block.in_list:
            lead = ""
