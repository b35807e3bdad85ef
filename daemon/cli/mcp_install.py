"""`mcp install` and `mcp uninstall`: the entry that starts the MCP server in an agent's client."""

import click

from daemon.cli.hooks_install import around_of, attempted, harness_option, json_option, known, project_option, tell
from daemon.cli.surroundings import Surroundings


@click.command(short_help="Let an agent's client start the server.")
@harness_option
@project_option
@json_option
@click.pass_obj
def install(around: Surroundings, name: str, project: str | None, as_json: bool) -> int:
    """Let an agent's client start the MCP server: by the client's own command, or in its configuration file.

    Doing it again changes nothing. With MEMSYNCD_HOME set, the entry carries it along.
    """
    from daemon.installing import tools  # noqa: PLC0415  (only when the command runs)

    harness = known(name)
    place = around_of(around, project)
    change = attempted(lambda: tools.install(harness, place, tools.server_command(place)))
    told = "is in" if change.changed else "was already in"
    return tell(harness, place, change, f"The MCP server {told} {change.file}.", as_json=as_json)


@click.command(short_help="Take the server out again.")
@harness_option
@project_option
@json_option
@click.pass_obj
def uninstall(around: Surroundings, name: str, project: str | None, as_json: bool) -> int:
    """Take the entry that starts the MCP server out of a client's configuration, and nothing else."""
    from daemon.installing import tools  # noqa: PLC0415  (only when the command runs)

    harness = known(name)
    place = around_of(around, project)
    change = attempted(lambda: tools.uninstall(harness, place))
    told = f"The MCP server is out of {change.file}." if change.changed else f"{change.file} has no entry of ours."
    return tell(harness, place, change, told, as_json=as_json)
