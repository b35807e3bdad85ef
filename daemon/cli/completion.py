"""`completion`: what a shell runs to know our commands and options. click answers it; job ids are offered from here."""

from typing import TYPE_CHECKING

import click

from daemon.cli import exits
from daemon.cli.surroundings import Surroundings

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_MEMSYNCD_COMPLETE"
"""What click looks at; its name follows from the program's."""

OFFERED = 50
ANSWER_SECONDS = 0.5
"""Whoever presses Tab waits for no daemon that hangs."""

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print what the shell reads to complete commands, options and job ids.

    \b
    bash  eval "$(memsyncd completion bash)"   in ~/.bashrc
    zsh   eval "$(memsyncd completion zsh)"    in ~/.zshrc, after compinit
    fish  memsyncd completion fish > ~/.config/fish/completions/memsyncd.fish
    """  # noqa: D301  (click's mark has to be the character itself)
    from click.shell_completion import get_completion_class  # noqa: PLC0415  (only here)

    known = get_completion_class(shell)
    assert known is not None
    script = known(ctx.find_root().command, {}, "memsyncd", VARIABLE)
    click.echo(script.source_template % script.source_vars())  # `source` would start a bash to ask for its version
    return exits.DONE


def is_bash(ctx: click.Context) -> bool:
    """Whether a bash asks, which shows no help beside a name, so that none need be loaded."""
    around = ctx.find_object(Surroundings)
    return around is not None and around.environ.get(VARIABLE, "").startswith("bash")


def dead_jobs(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer what was given up."""
    return _jobs(ctx, "state=dead&", incomplete)


def any_jobs(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer what was changed last."""
    return _jobs(ctx, "", incomplete)


def _jobs(ctx: click.Context, query: str, incomplete: str) -> "list[CompletionItem]":
    """Ask the daemon; without one that answers at once there is nothing to offer."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  (only here)

    from daemon.cli import link  # noqa: PLC0415

    around = ctx.find_object(Surroundings)
    if around is None:
        return []
    try:
        found = link.get(around, f"/jobs?{query}limit={OFFERED}", seconds=ANSWER_SECONDS).get("jobs") or ()
    except (exits.Leave, link.NotFound, link.Refused):
        return []
    ids = [(str(job.get("id", "")), str(job.get("reason") or job.get("state") or "")) for job in found]
    return [CompletionItem(identity, help=why) for identity, why in ids if identity.startswith(incomplete)]
