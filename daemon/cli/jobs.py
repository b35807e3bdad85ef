"""`jobs`: the queue, and what was given up; through the daemon, or on the files while it is down."""

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote, urlencode

import click

from daemon.cli import exits, link
from daemon.cli.jobs_view import job_lines, jobs_lines
from daemon.cli.output import emit_json, emit_lines, width
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

Result = TypeVar("Result")

STATES = ("ready", "claimed", "waiting", "done", "dead", "cancelled")

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(short_help="The queue, and what was given up.")
def jobs() -> None:
    """Look at the queue and mend it: what is ready, waits, runs, is done, or was given up and why."""


@jobs.command("list")
@click.option("--state", type=click.Choice(STATES), default=None, help="Only jobs in this state.")
@click.option("--kind", default="", metavar="K", help="Only jobs of this kind, such as flush.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="At most so many.")
@as_json_option
@click.pass_obj
def list_jobs(around: Surroundings, state: str | None, kind: str, limit: int, as_json: bool) -> int:
    """List jobs, the last changed first. Works without the daemon."""
    asked = {"state": state or "", "kind": kind, "limit": str(limit)}
    route = "/jobs?" + urlencode({key: value for key, value in asked.items() if value})
    try:
        found = link.get(around, route)
    except link.NotRunning:
        from daemon.offline_jobs import offline_jobs  # noqa: PLC0415  (only without a daemon)

        found = _on_files(lambda: offline_jobs(around.places(), state=state or "", kind=kind, limit=limit))
    if as_json:
        emit_json(found)
    else:
        emit_lines(jobs_lines(found.get("jobs") or [], width=width(), now=around.wall()))
    return exits.DONE


@jobs.command()
@click.argument("job_id", metavar="ID")
@as_json_option
@click.pass_obj
def show(around: Surroundings, job_id: str, as_json: bool) -> int:
    """Show one job whole, with its last errors. Works without the daemon."""
    try:
        found = link.get(around, f"/jobs/{quote(job_id, safe='')}")
    except link.NotFound as error:
        raise exits.Leave(exits.FAILED, f"There is no job {clean(job_id)}.") from error
    except link.NotRunning as error:
        from daemon.offline_jobs import offline_job  # noqa: PLC0415  (only without a daemon)

        document = _on_files(lambda: offline_job(around.places(), job_id))
        if document is None:
            raise exits.Leave(exits.FAILED, f"There is no job {clean(job_id)}.") from error
        found = document
    job = found.get("job", found)
    if as_json:
        emit_json(job)
    else:
        emit_lines(job_lines(job, width=width(), now=around.wall()))
    return exits.DONE


@jobs.command()
@click.argument("job_ids", metavar="ID...", nargs=-1)
@click.option("--dead", is_flag=True, help="Every job that was given up.")
@as_json_option
@click.pass_obj
def retry(around: Surroundings, job_ids: tuple[str, ...], dead: bool, as_json: bool) -> int:
    """Make given-up, cancelled or waiting jobs ready again, with their attempts at zero. Works without the daemon."""
    if bool(job_ids) is dead:
        raise click.UsageError("Name jobs, or say --dead for all that were given up.")
    return _act(around, "retry", job_ids, "ready again", as_json=as_json)


@jobs.command()
@click.argument("job_ids", metavar="ID...", nargs=-1, required=True)
@as_json_option
@click.pass_obj
def discard(around: Surroundings, job_ids: tuple[str, ...], as_json: bool) -> int:
    """Let given-up jobs go for good. Works without the daemon."""
    return _act(around, "discard", job_ids, "discarded", as_json=as_json)


def _act(around: Surroundings, verb: str, job_ids: tuple[str, ...], done: str, *, as_json: bool) -> int:
    """Do `verb` to each job (no ids: to all that are dead); 1 where one was refused."""
    try:
        ids = job_ids or tuple(job["id"] for job in link.get(around, "/jobs?state=dead&limit=10000")["jobs"])
        results = {job_id: _through_daemon(around, verb, job_id) for job_id in ids}
    except link.NotRunning:
        from daemon.offline import settings_or_default, spools_to_serve  # noqa: PLC0415  (only without a daemon)
        from daemon.offline_jobs import change_jobs  # noqa: PLC0415

        places = around.places()
        spools = spools_to_serve(places, settings_or_default(places, around.environ, []))
        results = _on_files(lambda: change_jobs(places, spools, verb, job_ids))
    changed = [job_id for job_id, result in results.items() if not result]
    if as_json:
        emit_json({"changed": changed, "refused": {job_id: why for job_id, why in results.items() if why}})
    else:
        click.echo(f"{counted(len(changed), 'job', 'jobs')} {done}.")
        for job_id, why in results.items():
            if why:
                click.echo(f"memsyncd: {clean(job_id)}: {clean(why)}", err=True)
    return exits.FAILED if any(results.values()) else exits.DONE


def _through_daemon(around: Surroundings, verb: str, job_id: str) -> str:
    """Return why it was refused, empty where it was done or already so."""
    try:
        link.post(around, f"/jobs/{quote(job_id, safe='')}/{verb}", {})
    except link.NotFound:
        return "there is no such job"
    except link.Refused as error:
        return str(error)
    return ""


def _on_files(work: Callable[[], Result]) -> Result:
    """Do something with the files of a daemon that is down, in sentences where it cannot be done."""
    from daemon.lock import AlreadyRunning  # noqa: PLC0415  (only without a daemon)
    from daemon.snapshot import NotADatabaseError  # noqa: PLC0415
    from jobs.errors import NewerSchema  # noqa: PLC0415

    try:
        return work()
    except AlreadyRunning as error:
        raise exits.Leave(exits.FAILED, f"{error} It does not answer; try again in a moment.") from error
    except NotADatabaseError as error:
        code = exits.MISCONFIGURED if isinstance(error.__cause__, NewerSchema) else exits.FAILED
        raise exits.Leave(code, f"The queue cannot be used: {error}.") from error
