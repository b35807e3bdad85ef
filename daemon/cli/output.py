"""What goes to standard output: JSON, or lines whose tones become colours on a terminal."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

import click

from daemon.cli.status_view import PLAIN_MARKS, Line, Tone

STYLES: Mapping[Tone, Mapping[str, Any]] = {
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "warn": {"fg": "yellow"},
    "strong": {"bold": True},
    "faint": {"dim": True},
}

PLAINEST = frozenset({"C", "POSIX"})
"""Locales without any letters but ASCII's. Python writes UTF-8 in them all the same (PEP 540)."""


def emit_json(document: object) -> None:
    """Print a document; ASCII only, so that no terminal's or pipe's encoding can spoil it."""
    click.echo(json.dumps(document, indent=2))


def emit_lines(lines: Iterable[Line]) -> None:
    """Print lines, coloured on a terminal that wants it, with plain marks where its encoding lacks ours."""
    stream = sys.stdout
    coloured = wants_colour(stream, os.environ)
    for line in lines:
        text = encodable(line.text, stream)
        click.echo(click.style(text, **STYLES[line.tone]) if coloured and line.tone else text, color=coloured)


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether to colour: a terminal, without NO_COLOR (any value but empty) and no dumb one."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def wants_live(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether something may be drawn and drawn over: a terminal, and no dumb one."""
    return stream.isatty() and environ.get("TERM") != "dumb"


def encodable(text: str, stream: TextIO) -> str:
    """Return the text as the stream's encoding can take it; in plain marks where the locale is set to the plainest."""
    encoding = "ascii" if os.environ.get("LC_ALL") in PLAINEST else stream.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for mark, plain in PLAIN_MARKS.items():
            text = text.replace(mark, plain)
        return text.encode(encoding, "replace").decode(encoding)
    return text


def silence() -> None:
    """Point both outputs at nothing: who read them is gone, and the interpreter writes the rest out at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # it has no descriptor, as in a test
            os.dup2(nothing, stream.fileno())
    os.close(nothing)


def width() -> int:
    """Return the columns to fill: the terminal's or COLUMNS, 80 where there is neither."""
    return shutil.get_terminal_size((80, 24)).columns
