"""How far long work is, on standard error: a bar on a terminal, a line now and then elsewhere, nothing with --json."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol

import click

from daemon.cli.output import encodable, wants_live
from daemon.cli.wording import clean, span

FIRST_SECONDS = 0.5
"""Work that is over by then needs no bar."""

LINE_SECONDS = 5.0
"""Between two lines where there is no terminal."""

A_SECOND = 4
"""How often a bar is drawn."""


class Tell(Protocol):
    """Called as often as one likes, from one thread at a time."""

    def __call__(self, done: float, total: float | None, words: str = "") -> None:
        """Say how much is done, of how much where that is known, and what that is in words."""


@contextlib.contextmanager
def progress(
    what: str, *, is_quiet: bool, over_log: bool = False, monotonic: Callable[[], float] = time.monotonic
) -> Iterator[Tell]:
    """Show how far `what` is until the end of the context, where whatever was drawn is gone.

    `over_log`: standard error has other lines too, and the bar stays below them. It is there from the beginning then.
    """
    if is_quiet:
        yield lambda *_: None
    elif wants_live(sys.stderr, os.environ):
        bar = _Bar(what, monotonic)
        try:
            if over_log:
                bar.begin()
            yield bar.tell
        finally:
            bar.end()
    else:
        yield _Lines(what, monotonic).tell


@contextlib.contextmanager
def migrations_told(*, is_quiet: bool = False) -> Iterator[None]:
    """Have a line on standard error now and then while a store is brought to this version's form, and takes long."""
    from memsyncd import schema_steps  # noqa: PLC0415  (only where stores are opened)

    def tell(moving: schema_steps.Moving) -> None:
        name = os.path.basename(moving.file)
        done = "took" if moving.is_there else "takes"
        told = f"memsyncd: bringing {name} to form {moving.version} {done} {span(moving.seconds)}"
        click.echo(encodable(clean(told if moving.is_there else f"{told} so far"), sys.stderr), err=True)

    with contextlib.nullcontext() if is_quiet else schema_steps.watched(tell):
        yield


class _Lines:
    def __init__(self, what: str, monotonic: Callable[[], float]) -> None:
        self._what = what
        self._monotonic = monotonic
        self._told_at = monotonic()

    def tell(self, done: float, total: float | None, words: str = "") -> None:
        now = self._monotonic()
        if now - self._told_at < LINE_SECONDS:
            return
        self._told_at = now
        far = f"{min(done / total, 1.0):.0%}" if total else ""
        told = ", ".join(filter(None, (far, words)))
        click.echo(encodable(clean(f"memsyncd: {self._what}: {told or 'under way'}"), sys.stderr), err=True)


class _Bar:
    """Rich's, loaded when it is drawn first."""

    def __init__(self, what: str, monotonic: Callable[[], float]) -> None:
        self._what = what
        self._monotonic = monotonic
        self._began = monotonic()
        self._told_at = float("-inf")
        self._update: Tell | None = None
        self._exits = contextlib.ExitStack()

    def tell(self, done: float, total: float | None, words: str = "") -> None:
        now = self._monotonic()
        if now - self._told_at < 1 / A_SECOND or now - self._began < FIRST_SECONDS:
            return
        self._told_at = now
        self.begin()
        assert self._update is not None
        self._update(done, total, words)

    def begin(self) -> None:
        """Draw it, once."""
        if self._update is not None:
            return
        from rich.console import Console  # noqa: PLC0415  (work that is over at once needs none)
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        console = Console(file=sys.stderr, highlight=False, markup=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
        drawn = Progress(
            *columns, TextColumn("{task.fields[words]}", markup=False), TimeElapsedColumn(), console=console,
            transient=True, refresh_per_second=A_SECOND, redirect_stdout=False,
        )  # fmt: skip
        self._exits.enter_context(drawn)
        console.show_cursor(show=True)  # whatever ends us, it is there
        task = drawn.add_task(encodable(self._what, sys.stderr), total=None, words="")

        def update(done: float, total: float | None, words: str = "") -> None:
            drawn.update(task, completed=done, total=total or None, words=encodable(clean(words), sys.stderr))

        self._update = update

    def end(self) -> None:
        """Leave nothing of it behind."""
        with contextlib.suppress(OSError):  # the terminal is gone
            self._exits.close()
