"""`export`: memories and notes as JSON lines."""

from pathlib import Path

import click

from daemon.cli import exits
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import counted


@click.command(short_help="Memories and notes as JSON lines.")
@click.option(
    "--to",
    "target",
    default=None,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Into this file, readable by you alone and whole or not at all; else to standard output.",
)
@click.option("--json", "as_json", is_flag=True, help="With --to: print the counts as JSON.")
@click.pass_obj
def export(around: Surroundings, target: Path | None, as_json: bool) -> int:
    """Write every memory and note, one JSON object a line, the first line telling the format.

    On a platform elsewhere these are your own memories, as it lists them. Works with and without the daemon.
    """
    from daemon.configuration_error import ConfigurationError  # noqa: PLC0415  (only where it is needed)
    from daemon.exchange.exporting import ExportFailed, export_to  # noqa: PLC0415

    if as_json and target is None:
        raise exits.Leave(exits.WRONG_USE, "--json tells the counts: say with --to where the lines go.")
    try:
        counts = export_to(target, around.places(), around.load({}).settings, around.environ, write=_write)
    except ConfigurationError as error:
        raise exits.Leave(exits.MISCONFIGURED, str(error)) from error
    except ExportFailed as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    memories = counted(counts["memories"], "memory", "memories")
    if as_json:
        emit_json({"file": str(target), **counts})
    else:
        click.echo(f"Exported {memories} and {counted(counts['notes'], 'note', 'notes')}.", err=target is None)
    return exits.DONE


def _write(line: str) -> None:
    click.echo(line)
