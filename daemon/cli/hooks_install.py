"""`hooks install`, `uninstall` and `list`: our entries in a harness's own configuration."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import exits
from daemon.cli.given import GivenDirectory, GivenText
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import clean, counted

if TYPE_CHECKING:
    from daemon.installing.change import Change
    from daemon.installing.harness import Harness
    from daemon.installing.hooks import Around, Found

harness_option = click.option(
    "--harness",
    "name",
    required=True,
    metavar="H",
    type=GivenText(),
    help="The coding agent, such as claude-code; `hooks list` shows all.",
)
project_option = click.option(
    "--project",
    default=None,
    type=GivenDirectory(is_there=True),
    metavar="DIR",
    help="For this project only, in its own directory.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command(short_help="Put our hooks into a harness's configuration.")
@harness_option
@project_option
@json_option
@click.pass_obj
def install(around: Surroundings, name: str, project: str | None, as_json: bool) -> int:
    """Put our hooks into a harness's own configuration file, touching nothing else in it.

    Doing it again changes nothing; entries of an older version are replaced. Beside the file a copy is kept of how it
    was (`.before-memsyncd`). With MEMSYNCD_HOME set, the hooks carry it along.
    """
    from daemon.installing import hooks  # noqa: PLC0415  (only when the command runs)
    from memsyncd.hooks.command_line import DROP  # noqa: PLC0415

    harness = known(name)
    place = around_of(around, project)
    change = attempted(lambda: hooks.install(harness, place))
    notes = [note for note in (*harness.notes, hooks.passing(DROP)) if note]
    events = [event.name for event in harness.events]
    done = f"{counted(len(events), 'hook', 'hooks')} of {harness.title}"
    told = f"{done} put into {change.file}." if change.changed else f"{change.file} has them already: {done}."
    return tell(harness, place, change, told, as_json=as_json, events=events, notes=notes)


@click.command(short_help="Take our hooks out again.")
@harness_option
@project_option
@json_option
@click.pass_obj
def uninstall(around: Surroundings, name: str, project: str | None, as_json: bool) -> int:
    """Take our hooks, those of older versions too, out of a harness's configuration file, and nothing else."""
    from daemon.installing import hooks  # noqa: PLC0415  (only when the command runs)

    harness = known(name)
    place = around_of(around, project)
    change = attempted(lambda: hooks.uninstall(harness, place))
    told = f"Our hooks are out of {change.file}." if change.changed else f"{change.file} has no hooks of ours."
    return tell(harness, place, change, told, as_json=as_json)


@click.command("list", short_help="Where hooks are installed, and whether they work.")
@click.option("--harness", "name", default=None, metavar="H", type=GivenText(), help="One coding agent only.")
@project_option
@json_option
@click.pass_obj
def list_hooks(around: Surroundings, name: str | None, project: str | None, as_json: bool) -> int:
    """Show for each harness where our hooks are and whether they work; 1 where a program they run is gone.

    Outdated are entries that this version would write otherwise: `hooks install` replaces them.
    """
    from daemon.installing.harnesses import HARNESSES  # noqa: PLC0415  (only when the command runs)

    harnesses = [known(name)] if name else list(HARNESSES.values())
    found = [hook for harness in harnesses for hook in _look(harness, around, project)]
    if as_json:
        emit_json({"hooks": [_document(hook) for hook in found]})
    else:
        for hook in found:
            _print(hook)
    return exits.FAILED if any(hook.state in ("broken", "unreadable") for hook in found) else exits.DONE


def known(name: str) -> "Harness":
    """Return a harness by name; wrong use where there is none."""
    from daemon.installing.harnesses import HARNESSES  # noqa: PLC0415  (only when the command runs)

    if name not in HARNESSES:
        raise click.UsageError(f"{name} is no harness known here; known are {', '.join(HARNESSES)}.")
    return HARNESSES[name]


def around_of(around: Surroundings, project: str | None) -> "Around":
    """Return whose configuration is meant."""
    from daemon.installing.hooks import Around  # noqa: PLC0415  (only when a command runs)

    around.places()  # leaves where MEMSYNCD_HOME is no absolute path
    root = around.home if project is None else Path(project).resolve()
    return Around(root, around.environ, around.uid, project is not None, around.environ.get("MEMSYNCD_HOME", ""))


def attempted(work: "Callable[[], Change]") -> "Change":
    """Return what was done; leaves with a sentence where it could not be."""
    from daemon.installing.errors import CannotInstall, Unsupported  # noqa: PLC0415  (only when a command runs)

    try:
        return work()
    except Unsupported as error:
        raise exits.Leave(exits.WRONG_USE, clean(error)) from error
    except (CannotInstall, ValueError) as error:
        raise exits.Leave(exits.FAILED, clean(error)) from error
    except OSError as error:
        raise exits.Leave(exits.FAILED, clean(f"{error.filename or 'the file'}: {error.strerror}.")) from error


def tell(harness: "Harness", place: "Around", change: "Change", told: str, *, as_json: bool, **more: Any) -> int:
    """Say what was done, as JSON or as a sentence; notes go to standard error."""
    if as_json:
        backup = str(change.backup) if change.backup else None
        document = {"harness": harness.name, "scope": place.scope, "file": str(change.file)}
        emit_json(document | {"changed": change.changed, "backup": backup} | more)
        return exits.DONE
    click.echo(clean(told))
    if change.changed and change.backup:
        click.echo(clean(f"As it was before: {change.backup}"))
    for note in more.get("notes", ()):
        click.echo(f"memsyncd: {note}", err=True)
    return exits.DONE


def _look(harness: "Harness", around: Surroundings, project: str | None) -> "list[Found]":
    from daemon.installing import hooks  # noqa: PLC0415  (only when the command runs)
    from daemon.installing.errors import Unsupported  # noqa: PLC0415

    found = []
    for directory in (None, project) if project else (None,):
        try:
            found.append(hooks.look(harness, around_of(around, directory)))
        except Unsupported:
            continue
        except ValueError as error:
            raise exits.Leave(exits.FAILED, str(error)) from error
    return found


def _document(hook: "Found") -> dict[str, Any]:
    return {
        "harness": hook.harness,
        "scope": hook.scope,
        "file": str(hook.file),
        "state": hook.state,
        "events": list(hook.events),
        "missing": list(hook.missing),
        "problems": list(hook.problems),
        "foreign": list(hook.foreign),
    }


def _print(hook: "Found") -> None:
    events = f", {counted(len(hook.events), 'event', 'events')}" if hook.events else ""
    click.echo(clean(f"{hook.harness.ljust(12)} {hook.state.ljust(10)} {hook.file}{events}"))
    for problem in hook.problems:
        click.echo(clean(f"             {problem}"))
    if hook.state in ("outdated", "broken"):
        project = " --project DIR" if hook.scope == "project" else ""
        click.echo(f"             `memsyncd hooks install --harness {hook.harness}{project}` puts that right")
    for line in hook.foreign:
        click.echo(clean(f"             may record the same sessions: {line}"))
