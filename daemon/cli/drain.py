"""`drain`: what a machine runs last."""

from collections.abc import Mapping
from typing import Any

import click

from daemon.cli import exits, link
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 3600.0


@click.command(short_help="Before a machine goes: let everything it holds leave it.")
@click.option("--wait", is_flag=True, help="Until nothing is left here, or the time is over.")
@click.option(
    "--timeout",
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(0.1, LONGEST_SECONDS),
    help="How long to wait at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_obj
def drain(around: Surroundings, wait: bool, timeout: float, as_json: bool) -> int:
    """Have every session of this machine sent now, and with --wait wait until all of it is elsewhere.

    With a shared queue that is when the queue has everything: its workers deliver it, whatever becomes of this machine.
    With an embedded one it is when the platform has confirmed everything.

    Exit code: 0 nothing is left here; 75 something is (it is told, and why); 3 the daemon is not running.
    """
    asked = {"wait_seconds": timeout if wait else 0.0}
    try:
        answer = link.post_and_wait(around, "/drain", asked, seconds=link.SHORT + asked["wait_seconds"])
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    if as_json:
        emit_json(answer)
    else:
        click.echo(sentence(answer))
    return exits.DONE if answer.get("outcome") == "drained" else exits.PUT_OFF


def sentence(answer: Mapping[str, Any]) -> str:
    """Say what became of it."""
    if answer.get("outcome") == "drained":
        return "The shared queue has everything." if answer.get("shared") else "Everything is delivered."
    left = answer.get("left") or {}
    words = [
        counted(number, one, many)
        for name, one, many in (
            ("handoffs", "handoff", "handoffs"),
            ("events", "event in no packet", "events in no packet"),
            ("packets", "packet", "packets"),
        )
        if (number := int(left.get(name, 0)))
    ]
    reason = clean(answer.get("reason") or "")
    return f"Still here: {', '.join(words) or 'what cannot be counted'}" + (f" ({reason})." if reason else ".")
