"""`forget`: every copy of a session, a project or a memory. Through the daemon where one runs, else on the files."""

import itertools
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from daemon.cli import deletions, exits, link
from daemon.cli.given import GivenDirectory, GivenText
from daemon.cli.output import emit_json
from daemon.cli.progress import Tell, migrations_told, progress
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

WAIT_SECONDS = 3600.0
"""A platform may have thousands of memories, deleted one by one."""

KINDS: Mapping[str, tuple[str, str]] = {
    "events": ("recorded event", "recorded events"),
    "session_scopes": ("session", "sessions"),
    "flushes": ("packet", "packets"),
    "retrievals": ("recall", "recalls"),
    "operations": ("operation", "operations"),
    "subagent_runs": ("subagent run", "subagent runs"),
    "jobs": ("job", "jobs"),
    "handoffs": ("waiting handoff", "waiting handoffs"),
    "dead_letters": ("dead handoff", "dead handoffs"),
    "set_aside": ("file set aside", "files set aside"),
    "damaged_stores": ("damaged store", "damaged stores"),
    "memories": ("memory on this machine", "memories on this machine"),
    "batches": ("batch", "batches"),
    "telemetry_events": ("telemetry event", "telemetry events"),
    "remote_memories": ("memory on the platform", "memories on the platform"),
}
"""What goes, as people say it."""

AGAIN = (
    "What is left is tried again by itself, by a daemon that runs or at its next start; "
    "`memsyncd jobs list --kind forget` shows what is left on the platform."
)
"""After a request that did not delete all."""


@click.command(short_help="Delete what is known of a project, a session or a memory.")
@click.option("--yes", is_flag=True, help="Do it. Without this, only what would go is told (exit code 2).")
@click.option(
    "--cwd",
    default=None,
    metavar="DIR",
    type=GivenDirectory(),
    help="The project of this directory; of the present one where nothing else is named.",
)
@click.option("--session", default=None, metavar="ID", type=GivenText(), help="One session.")
@click.option("--memory", default=None, metavar="ID", type=GivenText(), help="One memory.")
@click.option("--remote", is_flag=True, help="The platform's memories too, one by one.")
@click.option(
    "--include-project-memory", "shared", is_flag=True, help="With --remote: also what the project's people share."
)
@click.option("--json", "as_json", is_flag=True, help="Print what went as JSON.")
@click.pass_obj
def forget(  # noqa: PLR0917  (click gives them by name)
    around: Surroundings,
    yes: bool,
    cwd: str | None,
    session: str | None,
    memory: str | None,
    remote: bool,
    shared: bool,
    as_json: bool,
) -> int:
    """Delete evidence, memories, waiting handoffs, jobs and telemetry of a project, a session or a memory.

    What was captured before does not come back, whoever tells it again; what is captured from now on is kept. Notes
    are not of a session: `memory_forget` deletes them. What was under way to the platform is looked for and deleted
    until the extraction wait is over.

    Exit code: 0 all is gone; 1 some could not be deleted yet; 2 without --yes.
    """
    named = [name for name, value in (("--cwd", cwd), ("--session", session), ("--memory", memory)) if value]
    if len(named) > 1:
        raise exits.Leave(exits.WRONG_USE, f"{' and '.join(named)}: name one of them.")
    directory = "" if session or memory else cwd or str(Path.cwd())
    request = {
        "cwd": directory,
        "session": session or "",
        "memory": memory or "",
        "remote": remote,
        "include_project_memory": shared,
        "yes": yes,
    }
    try:
        with migrations_told(is_quiet=as_json), progress("Forgetting", is_quiet=as_json or not yes) as tell:
            answer = _carried_out(around, request, tell)
    except (link.Refused, link.NotFound) as error:
        raise exits.Leave(exits.FAILED, f"Nothing was forgotten. {error}") from error
    if as_json:
        emit_json(answer)
    elif yes:
        click.echo(_told(answer["deleted"], "Forgotten", answer))
        _tell_what_stays(answer, remote=remote, shared=shared)
        for problem in answer.get("problems") or ():
            click.echo(f"memsyncd: {clean(problem)}", err=True)
        if answer["status"] != "deleted":
            click.echo(f"memsyncd: {AGAIN}", err=True)
    else:
        click.echo(_told(answer["would_delete"], "Would be forgotten", answer))
        if remote and answer.get("elsewhere"):
            click.echo("memsyncd: What the platform has of it would go too; it is not counted here.", err=True)
        _tell_what_stays(answer, remote=remote, shared=shared)
    if not yes:
        raise exits.Leave(exits.WRONG_USE, "Nothing was deleted: say --yes to do it.")
    return exits.DONE if answer["status"] == "deleted" else exits.FAILED


def _carried_out(around: Surroundings, request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    try:
        with deletions.followed(around, tell) if request["remote"] else nullcontext():
            return link.post_and_wait(around, "/forget", request, seconds=WAIT_SECONDS)
    except link.NotRunning:
        numbers = itertools.count(1)
        return _without_daemon(around, request, lambda: deletions.told(tell, next(numbers)))


def _without_daemon(around: Surroundings, request: Mapping[str, Any], on_deleted: Callable[[], None]) -> dict[str, Any]:
    """Do it on the files; the daemon's parts are loaded for this alone."""
    from daemon.forgetting.without_daemon import forget as forget_alone  # noqa: PLC0415  (as above, and all that follow)
    from daemon.lock import AlreadyRunning  # noqa: PLC0415
    from jobs.queue.errors import QueueError  # noqa: PLC0415

    try:
        return forget_alone(around.places(), around.load({}).settings, around.environ, request, on_deleted)
    except AlreadyRunning as error:
        raise exits.Leave(exits.FAILED, f"{error} It does not answer; try again in a moment.") from error
    except (QueueError, OSError) as error:
        raise exits.Leave(exits.FAILED, f"Nothing was forgotten: {error}.") from error


def _tell_what_stays(answer: Mapping[str, Any], *, remote: bool, shared: bool) -> None:
    """Say which copies on a platform elsewhere were not asked for, and what asks for them."""
    if answer.get("elsewhere") and not remote:
        click.echo("memsyncd: The platform's own memories of it stay: --remote deletes them too.", err=True)
    elif answer.get("elsewhere") and not shared and answer["target"]["kind"] != "memory":
        told = "memsyncd: What the project's people share of it on the platform stays: --include-project-memory"
        click.echo(f"{told} deletes it too.", err=True)


def _told(counts: Mapping[str, int], what: str, answer: Mapping[str, Any]) -> str:
    target = answer["target"]
    of = f"{target['kind']} {clean(target['id'])}"
    parts = [counted(number, *KINDS.get(kind, (kind, kind))) for kind, number in counts.items() if number]
    return f"{what} of the {of}: {', '.join(parts) or 'nothing was there'}."
