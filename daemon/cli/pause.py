"""`pause`: capture, sending and recall stand still, everywhere or for one project. Works without the daemon."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import exits, link
from daemon.cli.given import GivenDirectory
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, span
from memsyncd.clock import from_rfc3339

if TYPE_CHECKING:
    from daemon.pausing import Pauses
    from memsyncd.scope.resolve import ScopeResolver


@click.command(short_help="Stand still: capture, sending and recall.")
@click.option(
    "--project",
    default=None,
    metavar="DIR",
    type=GivenDirectory(is_there=True),
    help="Only the project of this directory. What its hooks tell meanwhile is discarded.",
)
@click.option("--for", "lasting", default=None, metavar="DURATION", help="End by itself: 90, 90s, 15m, 2h or 3d.")
@click.option("--json", "as_json", is_flag=True, help="Print what holds now as JSON.")
@click.pass_obj
def pause(around: Surroundings, project: str | None, lasting: str | None, as_json: bool) -> int:
    """Pause everything, or one project, until `memsyncd resume` or the end of DURATION.

    Nothing expires meanwhile. To keep a project out for good, put a file `.memsyncd-ignore` into it, or name it under
    `exclude` in the settings.
    """
    from daemon.pause_state import NoDuration, duration  # noqa: PLC0415  (only where it is needed)

    try:
        seconds = duration(lasting) if lasting is not None else None
    except NoDuration as error:
        raise exits.Leave(exits.WRONG_USE, f"--for {clean(lasting)}: {error}.") from error
    answer = begin(around, project or "", seconds)
    if as_json:
        emit_json(answer)
    else:
        click.echo(sentence(answer, around.wall()))
    return exits.DONE


def begin(around: Surroundings, directory: str = "", seconds: float | None = None) -> Mapping[str, Any]:
    """Pause everything, or the project of a directory, with the daemon and without it. Leaves where it cannot be."""
    try:
        return link.post(around, "/pause", {"project": directory or None, "for": seconds})
    except (link.NotRunning, link.Unanswered, link.NotFound):  # the files are the truth, and the daemon reads them
        from daemon import pause_commands  # noqa: PLC0415  (only without a daemon)

        pauses, resolver = on_files(around)
        try:
            return pause_commands.pause(pauses, resolver.resolve, directory, seconds)
        except OSError as error:
            raise exits.Leave(exits.FAILED, f"The pause cannot be written: {error.strerror or error}.") from error
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error


def on_files(around: Surroundings) -> "tuple[Pauses, ScopeResolver]":
    """Return what pauses and resumes without a daemon, in a data directory that is there and private."""
    from daemon.configuration_error import ConfigurationError  # noqa: PLC0415  (as above, and all that follow)
    from daemon.pausing import Pauses  # noqa: PLC0415
    from daemon.private_directory import make_private  # noqa: PLC0415
    from memsyncd.scope.resolve import ScopeResolver  # noqa: PLC0415

    places = around.places()
    try:
        for directory in (places.data, places.spools):
            make_private(directory, uid=around.uid)
    except ConfigurationError as error:
        raise exits.Leave(exits.MISCONFIGURED, str(error)) from error
    return Pauses(places.data), ScopeResolver(around.home, around.environ)


def sentence(answer: Mapping[str, Any], now: float) -> str:
    """Say what is paused now."""
    what = f"The project in {clean(answer['project'])}" if answer["project"] else "Everything"
    until = from_rfc3339(str(answer.get("until") or ""))
    resume = f"memsyncd resume --project {shlex.quote(answer['project'])}" if answer["project"] else "memsyncd resume"
    end = f"; it ends in {span(max(round(until - now), 1))}" if until else f" until `{clean(resume)}`"
    return f"{what} {'is paused already' if answer['outcome'] == 'already so' else 'is paused'}{end}."
