"""`jobs`: the queue, and what was given up; through the daemon, or on the files while it is down."""

from collections.abc import Sequence

import click

from daemon.cli import completion, exits, job_access
from daemon.cli.given import GivenText
from daemon.cli.jobs_view import job_lines, jobs_lines
from daemon.cli.output import emit_json, emit_lines, width
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

STATES = ("ready", "claimed", "waiting", "done", "dead", "cancelled")

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(short_help="The queue, and what was given up.")
def jobs() -> None:
    """Look at the queue and mend it: what is ready, waits, runs, is done, or was given up and why.

    A handoff that was given up before it became a job is listed as `handoff:SPOOL/NAME`.
    """


@jobs.command("list")
@click.option("--state", type=click.Choice(STATES), default=None, help="Only jobs in this state.")
@click.option("--kind", default=None, metavar="K", type=GivenText(), help="Only jobs of this kind, such as flush.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, job_access.ALL),
    default=100,
    show_default=True,
    help="At most so many.",
)
@click.option("--all-hosts", is_flag=True, help="What every machine of a shared queue has in it.")
@as_json_option
@click.pass_obj
def list_jobs(
    around: Surroundings, *, state: str | None, kind: str | None, limit: int, all_hosts: bool, as_json: bool
) -> int:
    """List jobs, the last changed first. Works without the daemon, but for --all-hosts."""
    if all_hosts:
        found = job_access.find_on_all_hosts(around, state=state or "", kind=kind or "", limit=limit)
    else:
        found = job_access.find(around, state=state or "", kind=kind or "", limit=limit)
    if as_json:
        emit_json({"jobs": found})
    else:
        emit_lines(jobs_lines(found, width=width(), now=around.wall()))
    return exits.DONE


@jobs.command()
@click.argument("job_id", metavar="ID", type=GivenText(), shell_complete=completion.any_jobs)
@as_json_option
@click.pass_obj
def show(around: Surroundings, job_id: str, as_json: bool) -> int:
    """Show one job whole, with its last errors. Works without the daemon."""
    job = job_access.get(around, job_id)
    if job is None:
        raise exits.Leave(exits.FAILED, f"There is no job {clean(job_id)}.")
    if as_json:
        emit_json(job)
    else:
        emit_lines(job_lines(job, width=width(), now=around.wall()))
    return exits.DONE


@jobs.command()
@click.argument("job_ids", metavar="ID...", nargs=-1, type=GivenText(), shell_complete=completion.dead_jobs)
@click.option("--dead", is_flag=True, help="Everything that was given up.")
@as_json_option
@click.pass_obj
def retry(around: Surroundings, job_ids: tuple[str, ...], dead: bool, as_json: bool) -> int:
    """Make given-up, cancelled or waiting jobs ready again, with their attempts at zero. Works without the daemon."""
    if bool(job_ids) is dead:
        raise click.UsageError("Name jobs, or say --dead for all that were given up.")
    ids: Sequence[str] = job_ids
    if dead:
        ids = [str(job["id"]) for job in job_access.find(around, state="dead", kind="", limit=job_access.ALL)]
    return _act(around, "retry", ids, "ready again", as_json=as_json)


@jobs.command()
@click.argument(
    "job_ids", metavar="ID...", nargs=-1, required=True, type=GivenText(), shell_complete=completion.dead_jobs
)
@as_json_option
@click.pass_obj
def discard(around: Surroundings, job_ids: tuple[str, ...], as_json: bool) -> int:
    """Let given-up jobs go for good. Works without the daemon."""
    return _act(around, "discard", job_ids, "discarded", as_json=as_json)


def _act(around: Surroundings, verb: str, ids: Sequence[str], done: str, *, as_json: bool) -> int:
    """Do `verb` to each; 1 where one was refused."""
    results = job_access.change(around, verb, ids)
    changed = [job_id for job_id, why in results.items() if not why]
    if as_json:
        emit_json({"changed": changed, "refused": {job_id: why for job_id, why in results.items() if why}})
    else:
        click.echo(f"{counted(len(changed), 'job', 'jobs')} {done}.")
        for job_id, why in results.items():
            if why:
                click.echo(f"memsyncd: {clean(job_id)}: {clean(why)}", err=True)
    return exits.FAILED if any(results.values()) else exits.DONE
