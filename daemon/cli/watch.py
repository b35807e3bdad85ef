"""`status --watch`: the status drawn again once a second, through the daemon's going and coming back."""

import json
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from daemon.cli import exits
from daemon.cli.output import encodable, wants_colour
from daemon.cli.status import current
from daemon.cli.status_view import Line, Tone, status_lines
from daemon.cli.surroundings import Surroundings

EVERY_SECONDS = 1.0

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "strong": "bold",
    "faint": "dim",
}


def watch(around: Surroundings, *, as_json: bool) -> int:
    """Draw until Ctrl-C, which is the way to end it and so no failure."""
    if not as_json and not sys.stdout.isatty():
        raise exits.Leave(exits.WRONG_USE, "--watch needs a terminal; with --json it prints a line a second anywhere.")
    before = signal.signal(signal.SIGTERM, _end)  # so that the cursor comes back
    try:
        _lines_of_json(around) if as_json else _draw(around)
    except KeyboardInterrupt:
        return exits.DONE
    finally:
        signal.signal(signal.SIGTERM, before)
    return exits.DONE


def _draw(around: Surroundings) -> None:
    console = Console(no_color=not wants_colour(sys.stdout, os.environ), highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="ellipsis") as live:
        while True:
            now = around.wall()
            lines = status_lines(current(around), width=console.width - 1, now=now)
            lines += [Line(""), Line(f"{time.strftime('%H:%M:%S', time.localtime(now))} · Ctrl-C ends", "faint")]
            live.update(_text(lines), refresh=True)
            time.sleep(EVERY_SECONDS)


def _lines_of_json(around: Surroundings) -> None:
    while True:
        click.echo(json.dumps(current(around)))
        time.sleep(EVERY_SECONDS)


def _text(lines: list[Line]) -> Text:
    text = Text(no_wrap=True, overflow="crop")
    for line in lines:
        text.append(encodable(line.text, sys.stdout) + "\n", style=STYLES[line.tone])
    text.rstrip()
    return text


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
