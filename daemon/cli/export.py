"""`export`: memories and notes as JSON lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from daemon.cli import exits
from daemon.cli.given import GivenPath
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted


@click.command(short_help="Memories and notes as JSON lines.")
@click.option(
    "--to",
    "target",
    default=None,
    metavar="FILE",
    type=GivenPath(),
    help="Into this file, readable by you alone and whole or not at all, in the place of a link too; else, and with "
    "-, to standard output.",
)
@click.option("--json", "as_json", is_flag=True, help="With --to: print the counts as JSON.")
@click.pass_obj
def export(around: Surroundings, target: Path | None, as_json: bool) -> int:
    """Write every memory and note, one JSON object a line, the first line telling the format.

    On a platform elsewhere these are your own memories, and what is shared in the projects that this machine knows; it
    lists nothing else by itself. Works with and without the daemon. Exit code: 0 all of it; 1 it failed, or the
    platform or a file of this machine told only a part.
    """
    from daemon.exchange.exporting import ExportFailed, export_to  # noqa: PLC0415  (only where it is needed)

    target = None if str(target) == "-" else target
    if as_json and target is None:
        raise exits.Leave(exits.WRONG_USE, "--json tells the counts: say with --to where the lines go.")
    try:
        counts = export_to(target, around.places(), around.load({}).settings, around.environ, write=_write)
    except ExportFailed as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    if as_json:
        emit_json({"file": str(target), **counts})
    else:
        _tell(counts, err=target is None)
    return exits.FAILED if counts.get("is_cut") or counts.get("unread") else exits.DONE


def _tell(counts: Mapping[str, Any], *, err: bool) -> None:
    memories, notes = counted(counts["memories"], "memory", "memories"), counted(counts["notes"], "note", "notes")
    click.echo(f"Exported {memories} and {notes}.{_whose(counts)}", err=err)
    if counts.get("is_cut"):
        click.echo("memsyncd: The platform lists only a part of what it has; the rest is not in this export.", err=True)
    for file in counts.get("unread", ()):
        told = "what is shared in the projects it tells of is not in this export"
        click.echo(f"memsyncd: {clean(file)} cannot be read: {told}.", err=True)


def _whose(counts: Mapping[str, Any]) -> str:
    if "own" not in counts:
        return ""
    projects = counted(counts["projects"], "project", "projects")
    return f" {counts['own']:,} are yours, {counts['shared']:,} are shared in {projects} that this machine knows."


def _write(line: str) -> None:
    click.echo(line)
