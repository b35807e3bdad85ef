"""`config`: the effective settings with where each came from, whether they are right, and where everything lies."""

from collections.abc import Mapping
from typing import Any

import click
from msgspec.structs import replace

from daemon.api_key.source import KeySource
from daemon.cli import exits
from daemon.cli.output import emit_json
from daemon.cli.surroundings import Surroundings, overrides
from daemon.cli.wording import clean
from daemon.configuration_error import ConfigurationError
from daemon.fleet import checking
from daemon.settings import Settings

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
set_option = click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="As if given to `run`; may be repeated."
)

NO_KEY = "There is no key for mem0: set MEM0_API_KEY or platform.api_key_file."

NO_KEY_ON_AN_EDGE = (
    "This edge has no key for mem0, and needs none for its packets, which workers deliver with theirs. Its own "
    "searches and recall find nothing without one: MEM0_API_KEY or platform.api_key_file."
)


@click.group(short_help="Effective settings and where each came from.")
def config() -> None:
    """Show and check the settings: config.toml, then the environment, then the command line; the later wins."""


@config.command()
@set_option
@as_json_option
@click.pass_obj
def show(around: Surroundings, pairs: tuple[str, ...], as_json: bool) -> int:
    """Show every setting in effect and where it came from; secrets are masked."""
    loaded = around.load(overrides(pairs))
    shown = loaded.shown()
    key, warnings = _key(loaded.settings, around.environ)
    warnings = [*loaded.warnings, *warnings]
    if as_json:
        settings = {name: {"value": value, "origin": origin} for name, (value, origin) in shown.items()}
        emit_json({"settings": settings, "key": key, "warnings": warnings})
        return exits.DONE
    for warning in warnings:
        click.echo(f"memsyncd: {clean(warning)}", err=True)
    for line in _settings_lines(shown):
        click.echo(line)
    click.echo(f"key: {f'set, from {clean(key)}' if key else 'none'}")
    return exits.DONE


@config.command()
@set_option
@as_json_option
@click.pass_obj
def check(around: Surroundings, pairs: tuple[str, ...], as_json: bool) -> int:
    """Say whether the configuration is right; exit code 78 and a sentence for every fault where it is not."""
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    try:
        loaded = around.load(overrides(pairs))
        warnings = (*loaded.warnings, *_key(loaded.settings, around.environ)[1])
        faults = tuple(checking.faults(loaded.settings))
    except ConfigurationError as error:
        faults = tuple(error.sentences)
    file = around.places().config_file
    if as_json:
        emit_json({"ok": not faults, "file": str(file), "errors": list(faults), "warnings": list(warnings)})
    else:
        for sentence in (*warnings, *faults):
            click.echo(f"memsyncd: {clean(sentence)}", err=True)
        if not faults:
            absent = "" if file.exists() else " (there is no file; defaults and the environment hold)"
            click.echo(f"The configuration is right: {file}{absent}.")
    return exits.MISCONFIGURED if faults else exits.DONE


@config.command()
@as_json_option
@click.pass_obj
def path(around: Surroundings, as_json: bool) -> int:
    """Show where the configuration, data, spools and socket are."""
    places = around.places()
    told = {
        "config": str(places.config_file),
        "data": str(places.data),
        "spools": str(places.spools),
        "socket": str(places.status_socket),
        "queue": str(places.queue_file),
        "memory": str(places.memory_file),
        "lock": str(places.lock_file),
        "hook_errors": str(places.hook_error_log),
        "logs": str(places.logs) if places.logs else None,
    }
    if as_json:
        emit_json(
            told | {"socket_is_shortened": places.socket_is_shortened, "wanted_socket": str(places.wanted_socket)}
        )
        return exits.DONE
    for name, value in told.items():
        click.echo(f"{name.ljust(12)}{clean(value) if value else 'standard error'}")
    if places.socket_is_shortened:
        click.echo(f"The socket's own place, {places.wanted_socket}, is too long for a socket.", err=True)
    return exits.DONE


def _key(settings: Settings, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return where the platform's key comes from (empty: there is none) and what is wrong with its sources.

    A command is not run for it: it may ask a person, or take long.
    """
    platform = settings.platform
    source = KeySource.from_settings(replace(settings, platform=replace(platform, api_key_command="")), environ)
    origin, warnings = source.origin(), source.problems()
    if not origin and platform.api_key_command:
        origin = "platform.api_key_command, which the daemon asks"
    if not origin and platform.kind == "mem0":
        warnings.append(NO_KEY_ON_AN_EDGE if settings.queue.is_edge else NO_KEY)
    return origin, warnings


def _settings_lines(shown: Mapping[str, tuple[Any, str]]) -> list[str]:
    left = max(len(name) for name in shown)
    told = {name: _value(value) for name, (value, _) in shown.items()}
    middle = min(max(len(value) for value in told.values()), 40)
    return [f"{name.ljust(left)}  {told[name].ljust(middle)}  # {clean(origin)}" for name, (_, origin) in shown.items()]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{clean(value)}"' if isinstance(value, str) else clean(value)
