"""`run`: the daemon, in the foreground."""

import contextlib
import errno
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from daemon.cli import exits
from daemon.cli.output import wants_live
from daemon.cli.progress import Tell, migrations_told, progress
from daemon.cli.surroundings import Surroundings, here, overrides
from daemon.cli.wording import counted

if TYPE_CHECKING:
    from daemon.notify import Manager
    from daemon.places import Places
    from daemon.settings import Settings
    from daemon.status.live import LiveView


LOOK_SECONDS = 0.5

NEXT = (
    ("demo", "the whole path in a throw-away directory"),
    ("status", "what waits, what moves, what is wrong"),
    ("hooks install --harness claude-code", "  what that agent does is recorded from then on"),
)
"""What to type next, and why."""


_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""What a disk answers that is full, read-only, not ours or broken; anything else is a fault of ours."""


@click.command(short_help="The daemon, in the foreground.")
@click.option("--once", is_flag=True, help="Do all that is due, wait until it is confirmed or put off, and exit.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting for this run; may be repeated.")
@click.option(
    "--role",
    type=click.Choice(["both", "edge", "worker"]),
    help="With a shared queue: put packets in, deliver them, or both. The setting queue.role, for this run.",
)
@click.option("--under", type=click.Choice(["launchd"]), help="The service manager that starts it, as its file says.")
@click.pass_obj
def run(around: Surroundings, once: bool, pairs: tuple[str, ...], role: str | None, under: str | None) -> int:
    """Run the daemon until Ctrl-C, SIGTERM or the terminal's end (SIGHUP; not under nohup).

    Under systemd SIGHUP has it read its configuration again, in the same process; elsewhere start it anew for that.

    Exit code: 0 stopped as asked; 1 failed; 4 another daemon serves this data directory; 78 the configuration is
    wrong. With --once: 0 also when work was put off, 1 when something was refused, given up or not taken in, or
    evidence was damaged.
    """
    if role:
        pairs = (*pairs, f"queue.role={role}")
    if under:
        return _under_launchd(around, pairs)
    return _run(around, pairs, once=once)


def _under_launchd(around: Surroundings, pairs: tuple[str, ...]) -> int:
    """Run it for a manager that knows no start limit: after a few failed starts, stay down by leaving with 0."""
    from daemon.private_directory import make_private  # noqa: PLC0415  (only there)
    from daemon.service.launchd_manager import LaunchdManager  # noqa: PLC0415

    places = around.places()
    make_private(places.data)
    manager = LaunchdManager(places)
    held = manager.begin(around.wall())
    if held is not None:
        click.echo("memsyncd: too many failed starts; `memsyncd service start` tries again", err=True)
        time.sleep(held)
        return exits.DONE
    try:
        code = _run(around, pairs, manager=manager)
    except exits.Leave as leave:
        manager.failed(leave.sentence)
        raise
    manager.ended(code)
    return code


def _run(around: Surroundings, pairs: tuple[str, ...], *, once: bool = False, manager: "Manager | None" = None) -> int:
    from daemon.configuration_error import ConfigurationError  # noqa: PLC0415  (only when it runs)
    from daemon.lock import AlreadyRunning  # noqa: PLC0415
    from jobs.queue.errors import QueueError  # noqa: PLC0415

    try:
        places = around.places()
        loaded = around.load(overrides(pairs))
        for warning in loaded.warnings:
            click.echo(f"memsyncd: {warning}", err=True)
        program = called(sys.argv[0], shutil.which("memsyncd"), here())
        is_service = manager is not None or "NOTIFY_SOCKET" in around.environ  # whose log nobody is to type after
        greeting = "" if once or is_service else welcome(places, loaded.settings, program)

        # the whole daemon, which no other command and no wrong setting loads; its log first, for it keeps rich out
        from daemon import logs  # noqa: F401, PLC0415, I001
        from daemon import start  # noqa: PLC0415

        # its log has a line for every job, which is enough where nobody looks
        is_quiet = not once or not wants_live(sys.stderr, around.environ)
        with migrations_told(), contextlib.ExitStack() as bar:
            tell = bar.enter_context(progress("Delivering", is_quiet=is_quiet, over_log=True))
            return start.run(
                places,
                loaded.settings,
                around.environ,
                once=once,
                on_ready=lambda: _greet(greeting),
                on_done=lambda sentence: _conclude(bar, sentence),
                manager=manager,
                reread=lambda: around.load(overrides(pairs)).settings,
                on_look=_how_far(tell, time.monotonic) if not is_quiet else lambda _: None,
            )
    except ConfigurationError as error:
        raise exits.Leave(exits.MISCONFIGURED, str(error)) from error
    except QueueError as error:
        raise exits.Leave(exits.FAILED, f"{error}. `memsyncd status` shows what the files hold.") from error
    except AlreadyRunning as error:
        raise exits.Leave(exits.ALREADY_RUNNING, f"{error} `memsyncd status` shows what it does.") from error
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        where = error.filename or "The disk"
        wayout = "Nothing that waits is lost; free some room or mend it, and start again."
        raise exits.Leave(exits.FAILED, f"{where}: {error.strerror}. {wayout}") from error


def _conclude(bar: contextlib.ExitStack, sentence: str) -> None:
    bar.close()  # it is on the same line
    click.echo(sentence)


def _how_far(tell: Tell, monotonic: Callable[[], float]) -> "Callable[[LiveView], None]":
    """Return what tells how many packets of a `--once` are over, and what is left of it, a few times a second."""
    told_at = float("-inf")

    def look(view: "LiveView") -> None:
        nonlocal told_at
        if monotonic() - told_at < LOOK_SECONDS:
            return
        told_at = monotonic()
        document = view.status()
        over = sum(document["counters"].get(f"packets_{what}", 0) for what in ("delivered", "refused", "empty"))
        waiting, running = document["backlog"], document["jobs"]["claimed"]
        left = (
            ("waiting", waiting),
            ("running", running),
            ("extracting", document["extraction"]["open"]),
        )
        words = [counted(over, "packet", "packets"), *(f"{number:,} {what}" for what, number in left if number)]
        tell(over, over + waiting + running or None, ", ".join(words))

    return look


def _greet(greeting: str) -> None:
    if greeting:
        click.echo(greeting, err=True)


def welcome(places: "Places", settings: "Settings", program: str = "memsyncd") -> str:
    """Return the lines that greet who starts the daemon: where things are, and what to type next.

    `program` is how the command is called from where the reader stands.
    """
    from daemon.settings import telling  # noqa: PLC0415  (`--help` needs none)

    kind, url = settings.platform.kind, telling.place(settings.platform.url)
    where = f"{kind} at {url}" if url else f"{kind}, {_explained(kind)}"
    lines = [
        f"spools    {places.spools}/<harness>",
        f"socket    {places.status_socket}",
        f"platform  {where}",
        "next, in another terminal:",
        *(f"  {program} {words.ljust(8)}{what}" for words, what in NEXT),
    ]
    if places.logs is None and places.config_file.parent == places.data:  # all below one directory (CONTRACT)
        lines.insert(4, f"  export MEMSYNCD_HOME={shlex.quote(str(places.data))}")
    return "\n".join(lines)


def called(argv0: str, found: str | None, directory: str) -> str:
    """Return how a person calls this program: by name where PATH has it (`found`), else by the path it was started
    from, as seen from `directory`, else through the interpreter."""
    if found:
        return "memsyncd"
    path = Path(argv0)
    if path.name != "memsyncd":
        return f"{sys.executable} -P -m daemon"
    return str(path.relative_to(directory) if directory and path.is_relative_to(directory) else path)


def _explained(kind: str) -> str:
    return "embedded: memories stay on this machine" if kind == "local" else "at its usual address"
