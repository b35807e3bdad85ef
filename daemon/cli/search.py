"""`search`: recall for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import exits, link
from daemon.cli.given import GivenDirectory, GivenText
from daemon.cli.output import emit_json, emit_lines, width
from daemon.cli.status_view import Line
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, moment, wrapped

if TYPE_CHECKING:
    from daemon.searching.request import SearchRequest


@click.command(short_help="Find memories for a question.")
@click.argument("query", nargs=-1, required=True)
@click.option("--top-k", type=int, default=None, metavar="N", help="How many at most, 1 to 20.")
@click.option("--category", default=None, metavar="C", type=GivenText(), help="Only memories of this category.")
@click.option(
    "--scope",
    default=None,
    metavar="SCOPE",
    type=GivenText(),
    help="repo (the project's and mine), dir (this directory), mine.",
)
@click.option("--run-id", default=None, metavar="ID", type=GivenText(), help="Only memories of this session.")
@click.option(
    "--cwd", default=None, metavar="DIR", type=GivenDirectory(is_there=True), help="Instead of this directory."
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_obj
def search(
    around: Surroundings,
    *,
    query: tuple[str, ...],
    top_k: int | None,
    category: str | None,
    scope: str | None,
    run_id: str | None,
    cwd: str | None,
    as_json: bool,
) -> int:
    """Find memories of this directory's project for a question, best first.

    With the embedded platform it works without the daemon too, and says so. Exit code: 0 answered, also with nothing
    found; 1 the search failed; 2 the question is none; 3 the daemon is not running and is needed.
    """
    asked: dict[str, Any] = {
        "query": " ".join(query),
        "cwd": cwd or str(Path.cwd()),
        "category": category,
        "scope": scope,
        "run_id": run_id,
        "top_k": top_k,
    }
    answer = _answer(around, {name: value for name, value in asked.items() if value is not None})
    if as_json:
        emit_json(answer)
    else:
        _tell(answer, around.wall())
    return exits.DONE if answer.get("succeeded") is True else exits.FAILED


def _answer(around: Surroundings, asked: dict[str, Any]) -> Mapping[str, Any]:
    _request(asked)
    try:
        return link.post(around, "/search", asked)
    except link.NotRunning:
        return _from_file(around, asked)
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error


def _from_file(around: Surroundings, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer without a daemon, where the memories lie in a file of this machine."""
    from daemon.searching import offline  # noqa: PLC0415  (only without a daemon)

    settings = around.load({}).settings
    if settings.platform.kind != "local":
        raise link.NotRunning
    request = _request(asked, top_k=settings.recall.top_k, scope=settings.recall.scope)
    return offline.answer(request, around.places(), settings, around.environ).document()


def _request(asked: Mapping[str, Any], **settings: Any) -> "SearchRequest":
    from daemon.searching.request import SearchRefused, parsed  # noqa: PLC0415  (keeps --help light)

    try:
        return parsed(asked, **settings)
    except SearchRefused as refused:
        raise exits.Leave(exits.WRONG_USE, str(refused)) from refused


def _tell(answer: Mapping[str, Any], now: float) -> None:
    memories, why = answer.get("memories") or [], clean(answer.get("why") or "")
    if answer.get("succeeded") is not True:
        raise exits.Leave(exits.FAILED, f"Memory search failed. {why[:1].upper()}{why[1:]}".rstrip())
    if why:
        told = f"From what is known here of the platform. {why}" if answer.get("source") == "local-index" else why
        click.echo(f"memsyncd: {told}", err=True)
    if not memories:
        click.echo("No matching memories found.")
    emit_lines(line for number, memory in enumerate(memories, start=1) for line in _lines(number, memory, now))


def _lines(number: int, memory: Mapping[str, Any], now: float) -> Iterator[Line]:
    first = f"{number}. "
    indent = " " * len(first)
    yield from (Line(text) for text in wrapped(str(memory["memory"]), width(), first=first, rest=indent))
    created = memory.get("created_at")
    about = [memory.get("category"), created and moment(created, now), memory.get("id")]
    yield Line(indent + " · ".join(clean(part) for part in about if part), tone="faint")
