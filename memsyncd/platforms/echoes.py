"""What a platform's words repeat of the text that was sent to it: no prompt belongs in an error (CONTRACT). Pure."""

import html
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

SENT = "[what was sent]"
"""Stands for each run of words that an error repeats."""

MOST_READ = 2_000
"""Characters of a platform's words; several times what is shown of them."""

RUN_WORDS, RUN_CHARACTERS = 4, 20
"""So many words in a row, or fewer that are together so long, are a repetition; so is a whole text, however short."""

_LEAST_WORD = 4
"""Characters of a prompt of one word that is known for one."""

_OPEN = frozenset(
    {
        "role", "model", "user_id", "agent_id", "app_id", "run_id", "filters", "custom_instructions",
        "agent_custom_instructions", "custom_categories", "response_format", "api_key",
    }
)  # fmt: skip
"""Keys of a request whose values are nobody's words: an error may well have to name the model."""

_SPOKEN = frozenset({"content", "query"})
"""Keys of a request whose values are somebody's words from end to end."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
"""In scripts that have no spaces each character counts as a word."""

_CODED = re.compile(r"(?:\\{1,64}u[0-9a-fA-F]{4})+")
_DIGITS = re.compile(r"u([0-9a-fA-F]{4})")
_ESCAPED = re.compile(r"\\{1,64}[nrtbf]?")


def without_echo(said: str, sent: Any) -> str:
    """Return what a platform `said`, MOST_READ characters of it, without what it repeats of `sent`, a request's JSON
    value: as it is, cut, escaped, in other capitals or with other signs between the words."""
    said = said[:MOST_READ]
    plain = _plain(said)
    found = list(_WORD.finditer(plain))
    words = [match.group().casefold() for match in found]
    repeated = _repeated(words, sent) if words else set()
    if not repeated:
        return said
    pieces: list[str] = []
    done = 0
    for number, match in enumerate(found):
        if number in repeated:
            if number - 1 not in repeated:
                pieces += (plain[done : match.start()], SENT)
            done = match.end()
    return "".join((*pieces, plain[done:]))


def _repeated(words: list[str], sent: Any) -> set[int]:
    """Return the numbers of the words that are part of a repetition."""
    runs: list[str] = []
    wholes: set[str] = set()
    for text, spoken in _texts(sent, spoken=False):
        told = [word.casefold() for word in _WORD.findall(_plain(text))]
        run = " ".join(told)
        runs.append(run)
        if len(told) < RUN_WORDS and (len(told) > 1 or (spoken and len(run) >= _LEAST_WORD)):
            wholes.add(run)
    everything = "\n".join(runs)
    repeated: set[int] = set()
    for start in range(len(words)):
        run = ""
        for count in range(1, RUN_WORDS + 1):
            run = " ".join(words[start : start + count])
            is_long = count == RUN_WORDS or len(run) >= RUN_CHARACTERS
            if run in wholes or (is_long and start + count <= len(words) and run in everything):
                repeated.update(range(start, min(start + count, len(words))))
            if is_long:
                break
    return repeated


def _texts(value: Any, *, spoken: bool) -> Iterator[tuple[str, bool]]:
    """Yield every text in a request, and whether it is somebody's words from end to end."""
    if isinstance(value, str):
        yield value, spoken
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _OPEN:
                yield from _texts(item, spoken=key in _SPOKEN)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, spoken=spoken)


def _plain(text: str) -> str:
    """Return `text` without escapes: of JSON at any depth, of HTML, of an address."""
    if "\\" in text:
        text = _ESCAPED.sub(" ", _CODED.sub(_decoded, text))
    if "&" in text:
        text = html.unescape(text)
    return urllib.parse.unquote(text, errors="replace") if "%" in text else text


def _decoded(match: re.Match[str]) -> str:
    return bytes.fromhex("".join(_DIGITS.findall(match.group()))).decode("utf-16-be", "replace")
