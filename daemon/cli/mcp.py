"""`mcp`: the MCP server, started by an agent's client and gone with it."""

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

import click

from daemon.cli import exits, mcp_install
from daemon.cli.surroundings import Surroundings, here

if TYPE_CHECKING:
    from memsyncd.mcp_server.wire import Wire

LAST_SECONDS = 1.2
"""From the end of input to the end of the process, whatever still runs: clients wait 2 s before they signal
(hooks-and-apis 5B)."""


@click.group(invoke_without_command=True, short_help="MCP server on standard input and output.")
@click.option("--project", default="", metavar="DIR", help="The project, where the client starts servers elsewhere.")
@click.pass_context
def mcp(ctx: click.Context, project: str) -> None:
    """Serve the memory tools to an agent over the Model Context Protocol, on standard input and output.

    An agent's client starts it; docs/mcp.md shows how each is told to. It ends with its client. Searches go to the
    daemon; notes, and searches of the embedded platform, work without one.
    """
    if ctx.invoked_subcommand is not None:
        return
    if sys.stdin is not None and sys.stdin.isatty():
        click.echo("memsyncd mcp speaks JSON with an agent's client: see docs/mcp.md. Ctrl-D ends it.", err=True)
    from memsyncd.mcp_server import wire  # noqa: PLC0415  (before anything that might print)

    try:
        claimed = wire.claim()
    except OSError as error:
        raise exits.Leave(exits.FAILED, "mcp needs its standard input and output; one of them is closed.") from error
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # at once, whatever runs: what is not acknowledged is not promised
    around: Surroundings = ctx.obj
    _serve(around, claimed, project)
    _leave()


mcp.add_command(mcp_install.install)
mcp.add_command(mcp_install.uninstall)


def _serve(around: Surroundings, claimed: "Wire", project: str) -> None:
    import anyio  # noqa: PLC0415  (only here, as all that follow: the SDK takes most of a second)

    from daemon.agent_tools import agent_tools  # noqa: PLC0415
    from memsyncd.clock import Clock  # noqa: PLC0415
    from memsyncd.mcp_server import project as projects  # noqa: PLC0415
    from memsyncd.mcp_server import server, serving, watching  # noqa: PLC0415
    from memsyncd.mcp_server.calling import Calling  # noqa: PLC0415

    watching.watch(claimed.outgoing, gone=lambda _: _leave())
    started_in = projects.started_in(project, around.environ, here())
    built = server.build(
        agent_tools(around, clock=Clock(), report=_report),
        Calling(),
        project=lambda meta: projects.project_of(meta, started_in),
    )
    anyio.run(lambda: serving.serve(built, claimed, ended=_last_call, lost=_leave))


def _report(line: str) -> None:
    click.echo(f"memsyncd mcp: {line}", err=True)


def _last_call() -> None:
    timer = threading.Timer(LAST_SECONDS, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> NoReturn:
    """End at once: threads that hang, and what libraries do at exit, are not waited for."""
    os._exit(exits.DONE)
