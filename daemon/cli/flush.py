"""`flush`: ask the daemon to deliver now."""

from collections.abc import Mapping
from typing import Any

import click

from daemon.cli import exits, link
from daemon.cli.given import GivenDirectory, GivenText
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

SENTENCES: Mapping[str, str] = {
    "delivered": "Delivered",
    "put-off": "Put off",
    "refused": "Refused",
    "nothing": "Nothing to deliver",
    "waiting": "Asked for a delivery",
}
"""One word for each outcome; none can be taken for another (never-again 143)."""

CODES: Mapping[str, int] = {
    "delivered": exits.DONE,
    "nothing": exits.DONE,
    "asked": exits.DONE,
    "refused": exits.FAILED,
}


@click.command(short_help="Ask for a delivery now.")
@click.option("--session", default=None, metavar="ID", type=GivenText(), help="Only this session.")
@click.option(
    "--cwd",
    default=None,
    metavar="DIR",
    type=GivenDirectory(is_there=True),
    help="Only sessions of this directory.",
)
@click.option("--wait", is_flag=True, help="Until the platform has confirmed it, or it was refused or put off.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_obj
def flush(around: Surroundings, session: str | None, cwd: str | None, wait: bool, as_json: bool) -> int:
    """Ask for a delivery of what was recorded, without waiting for a session's end.

    Exit code: 0 delivered, asked for, or nothing to deliver; 1 refused; 75 put off; 3 the daemon is not running.
    """
    asked: dict[str, Any] = {"session": session, "cwd": cwd, "wait": wait}
    try:
        if wait:
            answer = link.post_and_wait(around, "/flush", asked, seconds=link.UNTIL_CONFIRMED, for_jobs=True)
        else:
            answer = link.post(around, "/flush", asked)
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    outcome = str(answer.get("outcome", ""))
    if as_json:
        emit_json(answer)
    else:
        click.echo(sentence(answer))
    return CODES.get(outcome, exits.PUT_OFF if wait else exits.DONE)  # without --wait, asking was all


def sentence(answer: Mapping[str, Any]) -> str:
    """Say what became of it."""
    outcome = str(answer.get("outcome", ""))
    told = SENTENCES.get(outcome, clean(outcome) or "No outcome")
    packets, reason = answer.get("packets"), clean(answer.get("reason") or "")
    if isinstance(packets, list):
        packets = len(packets)
    if packets and outcome not in {"nothing", "waiting"}:  # there may be more before it is over
        told += f": {counted(int(packets), 'packet', 'packets')}"
    return f"{told} ({reason})." if reason else f"{told}."
