"""`demo`: the whole path in a throw-away directory."""

import click

from daemon.cli import exits


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
    short_help="The whole path in a throw-away directory, step by step.",
)
@click.pass_context
def demo(ctx: click.Context) -> int:
    """Play a recorded session through the real hook in a throw-away directory, offline, and find a memory of it.

    With `--keep` that directory is kept, and it is told where it is.
    """
    try:
        from daemon.demo import main  # noqa: PLC0415  (it loads the daemon)
    except ModuleNotFoundError as error:
        if error.name != "daemon.demo":
            raise
        raise exits.Leave(exits.FAILED, "This build has no demo.") from error
    return int(main(ctx.args))
