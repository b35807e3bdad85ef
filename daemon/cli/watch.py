"""`status --watch`: a live screen through the daemon's going and coming back, and through the terminal's changes."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import NoReturn

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from daemon.cli import exits
from daemon.cli.loads import MINUTES
from daemon.cli.outlet import OutputLost
from daemon.cli.output import encodable, silence, wants_colour
from daemon.cli.status_view import Tone
from daemon.cli.surroundings import Surroundings
from daemon.cli.terminal import ENDING, Terminal
from daemon.cli.watch_feed import EVERY_SECONDS, Feed, Look, Looker
from daemon.cli.watch_keys import Deeds
from daemon.cli.watch_view import Footer, Row, keys, screen
from daemon.cli.wording import clean, span

STYLES: Mapping[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "strong": "bold",
    "faint": "dim",
    "depth": "cyan",
    "rate": "green",
    "delay": "magenta",
}

NOWHERE = -1
"""No descriptor: standard input is closed."""

STALE_SECONDS = 3.0
"""A daemon that has not answered for so long is told of."""

PATIENCE_SECONDS = 0.5
"""Until the first answer nothing is drawn for so long: mostly it is there by then."""

NOT_YET = {"state": "starting", "summary": "Asking the daemon …"}

NO_KEYS = (("Ctrl-C", "ends"),)
"""Where keys do not come from a terminal."""


def watch(around: Surroundings, *, as_json: bool) -> int:
    """Draw until `q`, Ctrl-C, a signal or the terminal's end: all of them ways to end it, and so no failure."""
    if as_json:
        return _lines_of_json(around)
    if not sys.stdout.isatty():
        raise exits.Leave(exits.WRONG_USE, "--watch needs a terminal; with --json it prints a line a second anywhere.")
    try:
        with Terminal(sys.stdin.fileno() if sys.stdin else NOWHERE) as terminal:
            _watch(around, terminal)
    except KeyboardInterrupt:  # a second signal: the terminal takes no more
        silence()
    except (OSError, OutputLost):  # nobody is there to see it any more
        silence()
    return exits.DONE


def _watch(around: Surroundings, terminal: Terminal) -> None:
    feed = Feed(Looker(around), terminal.wake)
    deeds = Deeds(around, time.monotonic, feed.hasten)
    face: _Screen | _Paper = _Paper() if os.environ.get("TERM") == "dumb" else _Screen()
    began = around.wall()
    feed.start()
    try:
        with contextlib.closing(face):
            while not terminal.ended:
                if feed.failure is not None:
                    raise feed.failure
                now = around.wall()
                look = feed.latest or Look(NOT_YET, [None] * MINUTES, now)
                offered = keys(look.document, is_asking=deeds.is_asking) if terminal.has_keys else NO_KEYS
                if feed.latest is not None or now - began > PATIENCE_SECONDS:
                    face.show(look, Footer(offered, deeds.message, _clock(look.at, now)), now)
                for key in terminal.wait(2 * EVERY_SECONDS if feed.latest is not None else PATIENCE_SECONDS):
                    if not deeds.press(key, look.document):
                        return
                if terminal.stopped:
                    _stand_aside(face, terminal)
    finally:
        feed.stop()


def _clock(looked_at: float, now: float) -> str:
    """Return the time, or how old what is shown is by now."""
    if now - looked_at > STALE_SECONDS:
        return f"no answer for {span(now - looked_at)}"
    return time.strftime("%H:%M:%S", time.localtime(now))


def _stand_aside(face: "_Screen | _Paper", terminal: Terminal) -> None:
    """Give the terminal back for as long as Ctrl-Z has stopped us."""
    face.close()
    terminal.give_back()
    terminal.stopped = False
    os.kill(os.getpid(), signal.SIGSTOP)
    terminal.take()


class _Screen:
    """A terminal that can be drawn on: its second screen, so that what was there before is there afterwards."""

    def __init__(self) -> None:
        self._console = Console(no_color=not wants_colour(sys.stdout, os.environ), highlight=False, markup=False)
        self._live: Live | None = None

    def show(self, look: Look, footer: Footer, now: float) -> None:
        """Draw it, as large as the terminal is at this moment."""
        if self._live is None:
            self._live = Live(
                console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
        width, height = self._console.size
        rows = screen(look.document, look.hour, footer, width=width, height=height, now=now)
        self._live.update(_text(rows), refresh=True)

    def close(self) -> None:
        """Leave the second screen; the next `show` takes it again."""
        live, self._live = self._live, None
        if live is not None:
            self._console.clear()  # a terminal that was resized meanwhile may leave rows of ours behind
            live.stop()


class _Paper:
    """A terminal that only takes lines: the sentence, and what a key has brought, each time it is another."""

    def __init__(self) -> None:
        self._told = ""

    def show(self, look: Look, footer: Footer, _now: float) -> None:
        """Tell it if it is new."""
        line = footer.message or f"{look.document.get('state')}: {look.document.get('summary', '')}"
        if line != self._told:
            self._told = line
            offered = ", ".join(f"{key} {word}" for key, word in footer.keys)
            click.echo(encodable(clean(f"{footer.clock} {line} [{offered}]"), sys.stdout))

    def close(self) -> None:
        """Leave it as it is."""


def _text(rows: list[Row]) -> Text:
    text = Text(no_wrap=True, overflow="crop", end="")
    for number, row in enumerate(rows):
        if number:
            text.append("\n")
        for piece in row:
            text.append(encodable(piece.text, sys.stdout), style=STYLES[piece.tone])
    return text


def _lines_of_json(around: Surroundings) -> int:
    looker = Looker(around)
    before = {number: signal.signal(number, _end) for number in ENDING}
    try:
        while True:
            click.echo(json.dumps(looker.document()))
            time.sleep(EVERY_SECONDS)
    except KeyboardInterrupt:
        return exits.DONE
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
