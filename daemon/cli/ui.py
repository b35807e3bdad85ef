"""`ui`: a page for those who would rather look, for as long as this command runs."""

import os
import threading

import click

from daemon.cli import exits
from daemon.cli.surroundings import Surroundings, here


@click.command(short_help="Look at it in a browser, for as long as this runs.")
@click.option("--open", "opens", is_flag=True, help="Open the browser too.")
@click.pass_obj
def ui(around: Surroundings, *, opens: bool) -> int:
    """Serve a page on this machine alone: sessions, memories, jobs and dead letters, and charts of the last day.

    The link that is printed is good once, in one browser. It ends on Ctrl-C, with the terminal, and after 15 minutes
    in which nobody looked; no port is open otherwise. Works from the files when the daemon is down.
    """
    from daemon.ui.asking import Asking  # noqa: PLC0415  (keeps --help light, as all that follow)
    from daemon.ui.serving import serve  # noqa: PLC0415
    from memsyncd.clock import Clock  # noqa: PLC0415

    around.places()

    def ready(url: str) -> None:
        click.echo(url)
        click.echo("Open this link: it is good once, on this machine. Ctrl-C ends the page.", err=True)
        if opens:
            _open(url)

    try:
        is_over = serve(Asking(around, here()), clock=Clock(), on_ready=ready, tell=_tell)
    except OSError as error:
        raise exits.Leave(exits.FAILED, f"No port can be had on this machine: {error.strerror or error}.") from error
    if not is_over:
        os._exit(exits.DONE)  # the daemon goes on with what it was asked for
    return exits.DONE


def _open(url: str) -> None:
    """Let the desktop open it; whoever has none has the link."""
    import webbrowser  # noqa: PLC0415  (looks for browsers when it is imported)

    def start() -> None:
        if not webbrowser.open(url):
            _tell("No browser could be started; open the link by hand.")

    threading.Thread(target=start, name="browser", daemon=True).start()  # one in a terminal is waited for


def _tell(sentence: str) -> None:
    click.echo(f"memsyncd ui: {sentence}", err=True)
