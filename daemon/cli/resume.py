"""`resume`: the end of a pause. Works without the daemon."""

import shlex
from collections.abc import Mapping
from typing import Any

import click

from daemon.cli import exits, link
from daemon.cli.given import GivenDirectory
from daemon.cli.output import emit_json
from daemon.cli.pause import on_files
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean


@click.command(short_help="End a pause.")
@click.option(
    "--project",
    default=None,
    metavar="DIR",
    type=GivenDirectory(),
    help="The project of this directory, which is paused by itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what holds now as JSON.")
@click.pass_obj
def resume(around: Surroundings, project: str | None, as_json: bool) -> int:
    """End the pause of everything, or with --project that of one project. What waited goes on at once.

    A project that is paused by itself stays so when the pause of everything ends.
    """
    answer = end(around, project or "")
    if as_json:
        emit_json(answer)
    else:
        click.echo(sentence(answer))
    return exits.DONE


def end(around: Surroundings, directory: str = "") -> Mapping[str, Any]:
    """End a pause, with the daemon and without it. Leaves where it cannot be ended."""
    try:
        return link.post(around, "/resume", {"project": directory or None})
    except (link.NotRunning, link.Unanswered, link.NotFound):
        return _without_daemon(around, directory)
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error


def _without_daemon(around: Surroundings, directory: str) -> dict[str, Any]:
    from daemon import pause_commands  # noqa: PLC0415  (only without a daemon)
    from daemon.status.offline import settings_or_default, spools_to_serve  # noqa: PLC0415

    pauses, resolver = on_files(around)
    places = around.places()
    spools = spools_to_serve(places, settings_or_default(places, around.environ, []))
    try:
        return pause_commands.resume(pauses, resolver.resolve, spools, directory)
    except OSError as error:
        raise exits.Leave(exits.FAILED, f"The pause cannot be ended: {error.strerror or error}.") from error


def sentence(answer: Mapping[str, Any]) -> str:
    """Say what goes on, and what is paused still."""
    already = answer["outcome"] == "already so"
    what = f"The project in {clean(answer['project'])}" if answer["project"] else "Everything"
    alone = answer.get("resumed_spools")  # which a daemon of another version does not tell
    if alone:
        what = f"Capture from {clean(' and '.join(alone))}, paused alone,"
    told = [f"{what} {'was not paused' if already else 'goes on'}."]
    if answer["project"] and answer["paused_everything"]:
        told.append("Everything is paused still, until `memsyncd resume`.")
    if not answer["project"]:
        told += [
            f"{clean(root)} stays paused until `memsyncd resume --project {clean(shlex.quote(root))}`."
            for root in answer["paused_projects"]
        ]
    return " ".join(told)
