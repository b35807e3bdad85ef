"""`import`: what `export` wrote, and the notes of the old server's `~/.agent-memory`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from daemon.cli import exits
from daemon.cli.given import GivenPath
from daemon.cli.output import emit_json
from daemon.cli.progress import migrations_told, progress
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

WHAT_BECAME: Mapping[str, str] = {
    "brought": "new",
    "updated": "updated",
    "unchanged": "known already",
    "older": "older than what is here",
    "forgotten": "forgotten here, and left out",
    "expired": "expired",
}
STANDARD_INPUT = Path("/dev/stdin")


@click.command(name="import", short_help="Read an export, or the notes of ~/.agent-memory.")
@click.argument("source", metavar="FILE|DIR", required=False, type=GivenPath())
@click.option("--json", "as_json", is_flag=True, help="Print what became of it as JSON.")
@click.pass_obj
def import_(around: Surroundings, source: Path | None, as_json: bool) -> int:
    """Bring in the memories and notes of an export (FILE, or - for standard input), or an old server's notes (DIR).

    Without an argument: agent_memory_path of the settings, or ~/.agent-memory. A second time brings nothing. What was
    forgotten here stays forgotten. Lines that cannot be read are kept aside and named. Exit code: 0 all was read; 1
    some was not.
    """
    from daemon.exchange.importing import import_from  # noqa: PLC0415  (only where it is needed)
    from daemon.exchange.lines import ImportFailed  # noqa: PLC0415

    try:
        loaded = around.load({})
        settings = loaded.settings
        for warning in loaded.warnings if source is None else ():  # one of them may be about where to read
            click.echo(f"memsyncd: {clean(warning)}", err=True)
        old = Path(settings.agent_memory_path or around.home / ".agent-memory")
        given = STANDARD_INPUT if str(source) == "-" else source or old
        with migrations_told(is_quiet=as_json), progress("Importing", is_quiet=as_json) as tell:
            answer = import_from(given, around.places(), settings, tell)
    except ImportFailed as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    if as_json:
        emit_json(answer)
    else:
        _tell(answer)
    return exits.FAILED if answer["refused"] else exits.DONE


def _tell(answer: Mapping[str, Any]) -> None:
    for kind, one, more in (("memories", "memory", "memories"), ("notes", "note", "notes")):
        became = answer[kind]
        told = ", ".join(f"{number:,} {WHAT_BECAME[name]}" for name, number in became.items() if number)
        if told:
            click.echo(f"{counted(sum(became.values()), one, more)}: {told}.")
    if not any(answer["memories"].values()) and not any(answer["notes"].values()):
        click.echo("Nothing was brought.")
    for refusal in answer["not_read"]:
        place = f"line {refusal['line']}: " if refusal["line"] else ""
        click.echo(f"memsyncd: {clean(refusal['file'])}: {place}{clean(refusal['reason'])}", err=True)
    if answer["refused"]:
        but = f", all but {answer['not_kept']:,}" if answer["not_kept"] else ""
        kept = f" They are kept in {clean(answer['kept_in'])}{but}." if answer["kept_in"] else ""
        click.echo(f"memsyncd: {counted(answer['refused'], 'line', 'lines')} could not be read.{kept}", err=True)
