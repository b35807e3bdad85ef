"""`telemetry`: whether any is recorded and sent, and, word for word, what would be."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import exits
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted, span

if TYPE_CHECKING:
    from daemon.places import Places
    from daemon.settings import Settings
    from daemon.telemetry.consent import Target

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

OFF = "Telemetry is off: nothing is recorded, and nothing is or would be sent."


@dataclass(frozen=True, slots=True)
class _Seen:
    """The settings here, and what the running daemon says of itself (empty where none runs). `target` is the one in
    effect: a running daemon's, which may have been started with other settings; `told` says so where that is so."""

    places: "Places"
    settings: "Settings"
    target: "Target | None"
    why_off: str
    told: str


@click.group(invoke_without_command=True, short_help="What is told to an endpoint of yours, if anything.")
@as_json_option
@click.pass_context
def telemetry(ctx: click.Context, as_json: bool) -> int:
    """Say whether telemetry is on, where it goes, as whom, and what waits. `telemetry show` prints what would be sent.

    Works with the daemon or without, and changes nothing.
    """
    if ctx.invoked_subcommand is not None:
        return exits.DONE
    seen = _look(ctx.obj)
    document = _document(seen)
    if as_json:
        emit_json(document)
    else:
        _tell(seen)
        for line in _lines(document):
            click.echo(line)
    return exits.DONE


@telemetry.command()
@as_json_option
@click.pass_obj
def show(around: Surroundings, as_json: bool) -> int:
    """Print what would be sent now, an event a line; with --json the requests' whole bodies. Only the key is masked."""
    seen = _look(around)
    if seen.target is None:
        if as_json:
            emit_json({"enabled": False, "reason": seen.why_off, "requests": [], "never_sent": {}})
        else:
            click.echo(f"{OFF} ({clean(seen.why_off)})")
        return exits.DONE
    from daemon.status.offline import spools_to_serve  # noqa: PLC0415  (only while it is on, as all that follows)
    from daemon.telemetry.spooled import directories  # noqa: PLC0415
    from daemon.telemetry.would_send import would_send  # noqa: PLC0415

    spools = spools_to_serve(seen.places, seen.settings)
    found = would_send(seen.target, seen.places.data, directories(seen.places.data, spools), now=around.wall())
    if as_json:
        requests = [{"method": "POST", "url": found.url, "body": body} for body in found.bodies]
        emit_json({"enabled": True, "reason": "", "requests": requests, "never_sent": found.never})
        return exits.DONE
    _tell(seen)
    events, requests_ = counted(len(found.events), "event", "events"), len(found.bodies)
    click.echo(f"memsyncd: {events} in {counted(requests_, 'request', 'requests')} to {found.url}", err=True)
    for event in found.events:
        click.echo(json.dumps(event))
    for why, number in (found.never or {}).items():
        click.echo(f"memsyncd: {counted(number, 'line', 'lines')} never sent: {why}", err=True)
    return exits.DONE


def _look(around: Surroundings) -> _Seen:
    """Return how things stand. Raises ConfigurationError."""
    from daemon.settings.keys import KEYS  # noqa: PLC0415  (as in the other commands)
    from daemon.telemetry.consent import Target, target, why_off  # noqa: PLC0415

    loaded = around.load({})
    here, why = target(loaded.settings), why_off(loaded.settings, loaded.origins)
    seen = _Seen(around.places(), loaded.settings, here, why, "")
    running = _running(around)
    endpoint = str(KEYS["telemetry.endpoint"].shown(here.endpoint)) if here else ""
    if running is None or (running.get("endpoint", "") if running.get("enabled") else "") == endpoint:
        return seen
    if not running.get("enabled"):
        told = "the running daemon has it off: it was started with other settings, or told to stop"
        return replace(seen, target=None, why_off=told)
    there = Target(
        str(running.get("endpoint", "")),
        "",
        float(running.get("interval_seconds") or 0.0),
        account=bool(running.get("account")),
    )
    told = "The running daemon was started with other telemetry settings, and they hold until it is started again."
    return replace(seen, target=there, why_off="", told=told)


def _running(around: Surroundings) -> Mapping[str, Any] | None:
    """Return what the running daemon says of its telemetry; None where there is no answer."""
    from daemon.cli import link  # noqa: PLC0415  (keeps --help light)

    try:
        found = link.get(around, "/status").get("telemetry")
    except (exits.Leave, link.NotFound, link.Refused):
        return None
    return found if isinstance(found, dict) else None


def _document(seen: _Seen) -> dict[str, Any]:
    document: dict[str, Any] = {"enabled": seen.target is not None, "reason": seen.why_off, "endpoint": ""}
    if seen.target is None:
        return document
    from daemon.settings.keys import KEYS  # noqa: PLC0415  (only while it is on, as all that follows)
    from daemon.status.offline import spools_to_serve  # noqa: PLC0415
    from daemon.telemetry.spooled import counted as count  # noqa: PLC0415
    from daemon.telemetry.spooled import directories  # noqa: PLC0415
    from daemon.telemetry.would_send import as_whom  # noqa: PLC0415

    found = count(directories(seen.places.data, spools_to_serve(seen.places, seen.settings)))
    sender = as_whom(seen.target, seen.places.data)
    return document | {
        "endpoint": str(KEYS["telemetry.endpoint"].shown(seen.target.endpoint)),
        "interval_seconds": seen.target.interval_seconds,
        "distinct_id": sender.distinct_id,
        "account": sender.is_account,
        "account_allowed": seen.target.account,
        "spooled": found.events,
        "parked": found.parked,
        "dropped": found.dropped,
        "set_aside": found.aside,
    }


def _lines(document: Mapping[str, Any]) -> list[str]:
    if not document["enabled"]:
        return [f"{OFF} ({clean(document['reason'])})"]
    spooled = counted(document["spooled"], "event", "events")
    parked = counted(document["parked"], "parked file", "parked files")
    who = "the account's e-mail" if document["account"] else "a random id of this machine"
    if document["account_allowed"] and not document["account"]:
        who += ", until the platform tells the account's e-mail: it is asked before the next sending"
    return [
        f"Telemetry is on, every {span(document['interval_seconds'])}, to {clean(document['endpoint'])}.",
        f"as       {clean(document['distinct_id'])} ({who})",
        f"waiting  {spooled}, {parked}, {document['dropped']:,} dropped",
        *_aside(document["set_aside"]),
        "`memsyncd telemetry show` prints exactly what would be sent.",
    ]


def _aside(files: int) -> list[str]:
    told = counted(files, "file", "files")
    return [f"aside    {told} of what the endpoint refused, or could never be sent"] if files else []


def _tell(seen: _Seen) -> None:
    if seen.told:
        click.echo(f"memsyncd: {seen.told}", err=True)
