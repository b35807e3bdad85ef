"""Git's configuration syntax, and the remote that a repository's configuration names (git-config(1)).

Pure but for `include`, whose files come through the reader passed in.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memsyncd.scope import path_pattern

MAX_INCLUDE_DEPTH = 5
"""Includes within includes that are followed."""

MAX_INCLUDES, MAX_CONDITIONS = 64, 64
"""Files included, and conditions of an include looked at, on behalf of one file: each could name itself, or the next,
ten thousand times over."""

MAX_CHARACTERS = 2 << 20
"""Read on behalf of one file, the included ones with it."""

_BLANK = re.compile(r"\s*+")
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)[ \t]*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting. `section` and `key` are lower case, `subsection` is as written, empty where there is none."""

    section: str
    subsection: str
    key: str
    value: str


def parse(text: str) -> list[Entry]:
    """Return the settings in `text`, in order; a line git would refuse is passed over."""
    entries: list[Entry] = []
    section = subsection = ""
    position = 0
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    while (position := _end_of_blanks(text, position)) < len(text):
        header = _SECTION.match(text, position)
        if header is not None:
            section, subsection = header[1].lower(), re.sub(r"\\(.)", r"\1", header[2] or "")
            if header[2] is None and "." in section:
                section, _, subsection = section.partition(".")
            position = header.end()
            continue
        key = _KEY.match(text, position)
        if key is None:
            position = _next_line(text, position)
            continue
        value, position = _value(text, key.end()) if key[2] else ("true", _next_line(text, key.end()))
        entries.append(Entry(section, subsection, key[1].lower(), value))
    return entries


def _end_of_blanks(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _next_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _value(text: str, position: int) -> tuple[str, int]:
    """Return the value that begins at `position` and where the next line begins."""
    pieces: list[str] = []
    kept = 0  # pieces that trailing white space must not take away
    quoted = False
    while position < len(text):
        character = text[position]
        if character == "\n":
            position += 1
            break
        if character in "#;" and not quoted:
            position = _next_line(text, position)
            break
        if character == "\\":
            follows = text[position + 1 : position + 2]
            position += 2
            if follows != "\n":
                pieces.append(_ESCAPES.get(follows, follows))
                kept = len(pieces)
            continue
        if character == '"':
            quoted = not quoted
        else:
            pieces.append(character)
        if quoted or not character.isspace():
            kept = len(pieces)
        position += 1
    return "".join(pieces[:kept]), position


@dataclass(frozen=True, slots=True)
class Place:
    """What conditions of `includeIf` ask about: the git directory, as given and resolved, and the home."""

    git_dirs: tuple[str, ...]
    home: str


def load(path: str, read: Callable[[str], str], place: Place) -> list[Entry]:
    """Return the settings of the file at `path` with its includes in their places; `read` gives "" for no file."""
    return list(_Loading(read, place).entries(path, 0))


@dataclass(slots=True)
class _Loading:
    """One file with its includes, and what is left of what may be done for it."""

    read: Callable[[str], str]
    place: Place
    characters: int = MAX_CHARACTERS
    includes: int = MAX_INCLUDES
    conditions: int = MAX_CONDITIONS

    def entries(self, path: str, depth: int) -> Iterator[Entry]:
        text = self.read(path)[: self.characters]
        self.characters -= len(text)
        for entry in parse(text):
            yield entry
            if depth < MAX_INCLUDE_DEPTH and self._is_include(entry, path):
                self.includes -= 1
                target = os.path.join(os.path.dirname(path), _expanded(entry.value, self.place.home))
                yield from self.entries(target, depth + 1)

    def _is_include(self, entry: Entry, path: str) -> bool:
        if entry.key != "path" or not self.includes:
            return False
        if entry.section == "includeif" and self.conditions:
            self.conditions -= 1
            return _applies(entry.subsection, path, self.place)
        return entry.section == "include"


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path.startswith("~/") else path


def _applies(condition: str, path: str, place: Place) -> bool:
    kind, colon, pattern = condition.partition(":")
    if not colon or kind not in {"gitdir", "gitdir/i"}:
        return False
    pattern = _expanded(pattern, place.home)
    if pattern.startswith("./"):
        pattern = os.path.dirname(path) + pattern[1:]
    elif not pattern.startswith("/"):
        pattern = "**/" + pattern
    if pattern.endswith("/"):
        pattern += "**"
    fold = str.lower if kind == "gitdir/i" else str
    return any(path_pattern.matches(fold(pattern), fold(git_dir)) for git_dir in place.git_dirs)


def remote_url(entries: Sequence[Entry], branch: str) -> str:
    """Return the address of `origin`, else of the branch's remote, else of the only remote, else "".

    `url.<base>.insteadOf` is applied, the longest match first.
    """
    urls: dict[str, str] = {}
    upstream = ""
    for entry in entries:
        if entry.section == "remote" and entry.key == "url" and entry.subsection:
            urls.setdefault(entry.subsection, entry.value)
        elif entry.section == "branch" and entry.key == "remote" and entry.subsection == branch:
            upstream = entry.value
    if "origin" in urls:
        url = urls["origin"]
    elif upstream in urls:
        url = urls[upstream]
    elif len(urls) == 1:
        url = next(iter(urls.values()))
    else:
        url = upstream if ":" in upstream else ""
    return _instead(entries, url)


def _instead(entries: Sequence[Entry], url: str) -> str:
    best: Entry | None = None
    for entry in entries:
        if entry.section == "url" and entry.key == "insteadof" and entry.value and url.startswith(entry.value):
            best = entry if best is None or len(entry.value) >= len(best.value) else best
    return url if best is None else best.subsection + url[len(best.value) :]
