"""`config.toml`: its values by dotted key, each with the line it stands on."""

import os
import re
import shlex
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daemon.configuration_error import ConfigurationError
from daemon.settings.keys import KEYS, SECTIONS, SPOOL_KEYS, ValueFault, nearest
from memsyncd import regular_file

MAX_BYTES = 1_000_000
"""More is no settings file."""

_AT = re.compile(r"^(?P<what>.*?) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL)
_HEADER = re.compile(r"""^\s*(?P<open>\[\[?)\s*(?P<name>[\w."' -]+?)\s*\]\]?\s*(#.*)?$""")
_ASSIGNMENT = re.compile(r"""^\s*(?P<name>[\w."'-]+(?:\s*\.\s*[\w."'-]+)*)\s*=""")


@dataclass(frozen=True, slots=True)
class FileValues:
    """What the file sets. `places` says `path:line` for each key; `faults` is every fault found, in order."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def read(path: Path) -> FileValues:
    """Read the settings file; one that does not exist sets nothing.

    Raises ConfigurationError where it cannot be read, is another user's, or is no TOML; what it sets wrongly is in
    `faults`, so that all of it is told at once.
    """
    try:
        _check_whose(path)
        content = regular_file.content(path, MAX_BYTES + 1)
    except FileNotFoundError:
        return FileValues()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > MAX_BYTES:
        raise ConfigurationError(f"{path} is over {MAX_BYTES} bytes: that is no settings file.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigurationError(f"{path}:{line}: not UTF-8; save the file as UTF-8.") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(_syntax_sentence(path, text, str(error))) from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: nested too deeply.") from error
    return _values(path, document, _lines(text))


def _check_whose(path: Path) -> None:
    """Raise ConfigurationError where another user wrote the file, or could: it names a command that is run."""
    found = path.stat()
    if found.st_uid not in (os.geteuid(), 0):
        raise ConfigurationError(f"{path} belongs to user {found.st_uid}, and what it says is not yours.")
    if found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(f"{path} can be written by other users: `chmod go-w {shlex.quote(str(path))}`.")


def _values(path: Path, document: Mapping[str, Any], lines: Mapping[str, int]) -> FileValues:
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    faults: list[str] = []
    for name, value in _flatten(document):
        line = lines.get(name) or lines.get(name.split(".")[0])
        place = f"{path}:{line}" if line else str(path)
        if name in SECTIONS:
            faults.append(f"{place}: {name} is a section; write [{name}] and its settings below it.")
        elif name not in KEYS:
            faults.append(f"{place}: unknown setting {name}; the nearest known one is {nearest(name)}.")
        else:
            fault = _spools_fault(value) if name == "spools" else ""
            try:
                values[name] = KEYS[name].parse(value)
            except ValueFault as error:
                fault = fault or f"{name} is {shown(name, value)}, but takes {error}."
            if fault:
                faults.append(f"{place}: {fault}")
            places[name] = place
    return FileValues(values, places, tuple(faults))


def shown(name: str, value: object) -> str:
    """Return a rejected value for an error message, short, and masked where it may be a secret."""
    if "key" in name or "url" in name or "proxy" in name or "endpoint" in name:
        return f"a {type(value).__name__}" if not isinstance(value, str) else "another text"
    return repr(value)[:60]


def _flatten(document: Mapping[str, Any], section: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in document.items():
        if isinstance(value, Mapping) and not section and (name in SECTIONS or name not in KEYS) and value:
            found += _flatten(value, name)
        elif isinstance(value, Mapping) and not section and name in SECTIONS:
            continue  # an empty section
        else:
            found.append((f"{section}.{name}" if section else name, value))
    return found


def _spools_fault(value: object) -> str:
    for spool in value if isinstance(value, list) else ():
        for name in spool if isinstance(spool, Mapping) else ():
            if name not in SPOOL_KEYS:
                return f"unknown setting {name} in [[spools]]; the nearest known one is {nearest(name, SPOOL_KEYS)}."
    return ""


def _syntax_sentence(path: Path, text: str, message: str) -> str:
    found = _AT.match(message)
    if not found:
        return f"{path}: {message}."
    line = found["line"] or str(text.rstrip().count("\n") + 1)
    return f"{path}:{line}: {found['what']}."


def _lines(text: str) -> dict[str, int]:
    """Return the line of each key and section, found by eye: tomllib tells none. Multi-line texts are skipped."""
    lines: dict[str, int] = {}
    section, inside = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            header = _HEADER.match(line)
            assignment = _ASSIGNMENT.match(line)
            if header:
                section = _bare(header["name"])
                lines.setdefault(section, number)
            elif assignment:
                name = _bare(assignment["name"])
                lines.setdefault(f"{section}.{name}" if section else name, number)
        for quotes in ('"""', "'''"):
            if (not inside or inside == quotes) and line.count(quotes) % 2:
                inside = "" if inside else quotes
    return lines


def _bare(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
