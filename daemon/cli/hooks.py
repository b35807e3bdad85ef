"""`hook`, which a harness calls, and `hooks`: the faster line that does the same, printed or installed."""

import click

from daemon.cli import hooks_install
from daemon.cli.given import GivenText
from daemon.cli.surroundings import Surroundings


@click.command(
    context_settings={"ignore_unknown_options": True},
    short_help="What a harness calls: leave one handoff behind.",
)
@click.argument("action")
@click.option("--harness", required=True, metavar="H", help="The coding agent, such as claude-code.")
@click.option("--reason", default="", metavar="R", help="Why a flush is asked for, such as session-end.")
def hook(action: str, harness: str, reason: str) -> None:
    """Read the hook's JSON on standard input, leave one handoff in the spool, and exit 0 whatever happens.

    The line `memsyncd hooks command ACTION --harness H` prints does the same at a fraction of the start-up cost.
    """
    raise AssertionError(action, harness, reason)  # daemon.__main__ goes its own short way before this is loaded


@click.group(short_help="Hooks in a harness's own configuration: install, uninstall, list.")
def hooks() -> None:
    """Put our hooks into a harness's own configuration, take them out, show where they are, or print one line."""


hooks.add_command(hooks_install.install)
hooks.add_command(hooks_install.uninstall)
hooks.add_command(hooks_install.list_hooks)


@hooks.command()
@click.argument("action", type=GivenText())
@click.option("--harness", required=True, metavar="H", type=GivenText(), help="The coding agent, such as claude-code.")
@click.option(
    "--reason", default=None, metavar="R", type=GivenText(), help="Why a flush is asked for, such as session-end."
)
@click.pass_obj
def command(around: Surroundings, action: str, harness: str, reason: str | None) -> None:
    """Print the command line for one event, as `install` writes it: absolute interpreter and script, no shim.

    Once one of them is gone, it does nothing, in silence.

    With MEMSYNCD_HOME set, the line carries it, for the harness may be started without.

    ACTION is session-start, user-prompt, post-tool, post-tool-failure, stop, subagent-start, subagent-stop or flush.
    """
    from memsyncd.hooks.command_line import command_line  # noqa: PLC0415  (only this command needs it)
    from memsyncd.hooks.handoff import FLUSH, REASONS, RECORD_ACTIONS  # noqa: PLC0415

    if action not in RECORD_ACTIONS | {FLUSH}:
        click.echo(f"memsyncd: {action} is no action known here: it is recorded as such and sent nowhere.", err=True)
    if reason and reason not in REASONS:
        click.echo(f"memsyncd: {reason} is no reason known here; known are {', '.join(sorted(REASONS))}.", err=True)
    around.places()  # leaves where there is none for what the line would leave
    try:
        click.echo(command_line(action, harness, reason=reason or "", home=around.environ.get("MEMSYNCD_HOME", "")))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
