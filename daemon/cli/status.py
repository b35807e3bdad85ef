"""`status`: what waits, runs, failed and why, and what to do; from the files when the daemon is down."""

from typing import Any

import click

from daemon.cli import exits
from daemon.cli.output import emit_json, emit_lines, width
from daemon.cli.status_view import status_lines
from daemon.cli.surroundings import Surroundings


@click.command(short_help="What waits, runs, failed and why, and what to do.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole document as JSON.")
@click.option("--watch", is_flag=True, help="A live screen, with charts and keys. With --json, a line a second.")
@click.pass_obj
def status(around: Surroundings, as_json: bool, watch: bool) -> int:
    """Say what waits, what runs, what failed and why, and what to do about it.

    Works from the files when the daemon is down. On the live screen q ends it, p pauses and resumes, f flushes, and r
    has everything tried again that was given up.

    Exit code: 0 healthy (also while paused by you), 1 not healthy, 3 the daemon is not running.
    """
    if watch:
        from daemon.cli.watch import watch as keep_watching  # noqa: PLC0415  (loads rich)

        return keep_watching(around, as_json=as_json)
    document = current(around)
    if as_json:
        emit_json(document)
    else:
        emit_lines(status_lines(document, width=width(), now=around.wall()))
    return exit_code(document)


def current(around: Surroundings) -> dict[str, Any]:
    """Return the running daemon's document, or the one the files give."""
    from daemon.cli import link  # noqa: PLC0415  (keeps --help light)

    try:
        return link.get(around, "/status")
    except (link.NotRunning, link.Unanswered, link.NotFound, link.Refused) as error:
        return from_files(around, "" if isinstance(error, link.NotRunning) else str(error))


def from_files(around: Surroundings, why: str) -> dict[str, Any]:
    """Return what the files tell; `why` says in a sentence how asking the daemon ended, empty where none listens."""
    from daemon.another_owner import another_owner  # noqa: PLC0415  (only without a daemon)
    from daemon.status.offline import offline_parts  # noqa: PLC0415
    from daemon.status.report import status_document  # noqa: PLC0415

    places = around.places()
    another = another_owner(places, around.uid)
    parts = offline_parts(places, around.environ, now=around.wall(), unanswered=why, another=another)
    return status_document(parts)


def exit_code(document: dict[str, Any]) -> int:
    """Return the code for a document's health."""
    from daemon.status.report import healthy  # noqa: PLC0415  (keeps --help light)

    if document.get("state") == "down":
        return exits.NOT_RUNNING
    return exits.DONE if healthy(document)[0] else exits.FAILED
