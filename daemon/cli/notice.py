"""A word about a daemon that is not well, after a command that was about something else (never-again 141)."""

import http
import sys
from collections.abc import Sequence

import click

from daemon.cli import exits
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean

ABOUT_SOMETHING_ELSE = frozenset({"jobs", "search", "pause", "resume", "forget", "export", "import", "hooks", "config"})

SECONDS = 0.5
"""How long the answer is waited for: nobody has asked for it."""


def tell_of_trouble(around: Surroundings, arguments: Sequence[str]) -> None:
    """Say why the daemon is not well, to a person at a terminal; to nobody where it is well, down, or hangs."""
    if not ABOUT_SOMETHING_ELSE.intersection(arguments[:1]) or "--json" in arguments or not sys.stderr.isatty():
        return
    from daemon.status_socket.client import ClientError, Refused, SocketClient, socket_of  # noqa: PLC0415  (only then)

    try:
        SocketClient(socket_of(around.places()), uid=around.uid).request("GET", "/healthz", seconds=SECONDS)
    except Refused as refused:
        if refused.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
            reasons = clean(" ".join(refused.body.decode("utf-8", "replace").split()))
            click.echo(f"memsyncd: all is not well: {reasons} `memsyncd status` says what to do.", err=True)
    except (ClientError, OSError, exits.Leave):
        pass  # the command has done what it was asked for
