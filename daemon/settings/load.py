"""Settings put together: file, then environment, then command line, each effective value with where it is from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from daemon.configuration_error import ConfigurationError
from daemon.places import Places
from daemon.settings import environment, misgivings, places_named, toml_file
from daemon.settings.addresses import SCHEMES, is_address, wanted
from daemon.settings.keys import KEYS, ValueFault, nearest
from daemon.settings.schema import Settings, Spool
from memsyncd.platforms.wildcards import is_wildcard

CREDENTIAL = "mem0_api_key"
"""The key's name among systemd's credentials (CONTRACT: Settings)."""

NOWHERE = "https://mem0-api-url.invalid"
"""In the place of an address that is none, of a plugin's variable which must not stop the daemon: no host has it (RFC
2606), and what was said goes nowhere else than it was meant to."""

_TELEMETRY = "telemetry.enabled"

_PATHS = (
    "platform.api_key_file",
    "http.ca_file",
    "extractor.api_key_file",
    "agent_memory_path",
    "queue.keys_directory",
    "queue.payload_key_file",
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """`origins` has a word for every key: `default`, `path:line`, a variable, or `command line`. `cures` has what to do
    about those of the `warnings` that call for it: a secret lies open, or nothing is taken in."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]
    cures: Mapping[str, str]

    def shown(self) -> dict[str, tuple[object, str]]:
        """Return every key's value and origin as `config show` tells them: secrets masked."""
        flat = flatten(self.settings)
        return {name: (key.shown(flat[name]), self.origins[name]) for name, key in KEYS.items()}


def load(places: Places, environ: Mapping[str, str], overrides: Mapping[str, object]) -> Loaded:
    """Return the settings in effect. `overrides` are the command line's, by dotted key, as text or typed.

    Raises ConfigurationError with a sentence for every fault of every source.
    """
    file = toml_file.read(places.config_file)
    variables = environment.read(environ, places.home)
    values: dict[str, Any] = {**file.values, **variables.values}
    origins = dict.fromkeys(KEYS, "default") | dict(file.places) | variables.places
    faults = [*file.faults, *variables.faults]
    for name, value in overrides.items():
        faults += _override(name, value, values)
        origins[name] = "command line"
    if variables.further_spool:
        values["spools"] = [*values.get("spools", []), variables.further_spool]
        known = "" if origins["spools"] == "default" else f"{origins['spools']} and "
        origins["spools"] = f"{known}MEM0_CODE_DATA_DIR"
    opted_out = variables.opted_out or _opt_out(file, variables)
    if opted_out:
        values[_TELEMETRY], origins[_TELEMETRY] = False, opted_out
    if "platform.kind" not in values:
        values["platform.kind"], origins["platform.kind"] = _default_kind(values, environ)
    if variables.unusable_url and values["platform.kind"] != "local" and not values.get("platform.url"):
        values["platform.url"], origins["platform.url"] = NOWHERE, variables.unusable_url
    wild = _identify(values, origins, environ, faults)
    faults += _resolve_paths(values, places, origins)
    faults += _judge(values, origins)
    if faults:
        raise ConfigurationError(*faults)
    useless, exposed = misgivings.no_spools(values, origins), misgivings.open_secrets(places.config_file, file.values)
    uncertain = misgivings.no_authorities(values, origins)
    warnings = [*variables.warnings, *wild, *useless, *exposed, *uncertain, *misgivings.in_the_clear(values, origins)]
    cures = dict.fromkeys(_without_secrets(useless), f"Correct it in {places.config_file}, or take it out.")
    cures |= dict.fromkeys(_without_secrets(uncertain), "Put the authorities' certificates there, or take it out.")
    cures |= {_without_secrets([told])[0]: cure for told, cure in variables.cures.items()}
    cures |= dict.fromkeys(_without_secrets(exposed), f"`chmod 600 {places.config_file}`")
    return Loaded(_build(values), origins, _without_secrets(warnings), cures)


def _without_secrets(warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings, which quote what they warn of."""
    if not warnings:
        return ()
    from memsyncd.redaction import redact  # noqa: PLC0415  (most have none; every command reads settings)

    return tuple(map(redact, warnings))


def flatten(settings: Settings) -> dict[str, object]:
    """Return the settings by dotted key, as JSON values."""
    flat: dict[str, object] = {}
    for name in KEYS:
        section, _, field = name.rpartition(".")
        owner = getattr(settings, section) if section else settings
        flat[name] = msgspec.to_builtins(getattr(owner, field))
    return flat


def _override(name: str, value: object, values: dict[str, Any]) -> list[str]:
    key = KEYS.get(name)
    if key is None:
        return [f"unknown setting {name}; the nearest known one is {nearest(name)}."]
    try:
        values[name] = key.parse_text(value) if isinstance(value, str) else key.parse(value)
    except ValueFault as error:
        return [f"{name} is {toml_file.shown(name, value)}, but takes {error}."]
    return []


def _opt_out(file: toml_file.FileValues, variables: environment.EnvironmentValues) -> str:
    """Return where telemetry is switched off, empty where nowhere: a no counts wherever it is said, and no later yes
    takes it back (never-again 77)."""
    for source in (variables, file):
        if source.values.get(_TELEMETRY) is False:
            return source.places[_TELEMETRY]
    return ""


def _default_kind(values: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, str]:
    """Let a key's source decide, not its success: a key that cannot be had must not send memories elsewhere."""
    variable = environment.first_set(environ, environment.API_KEY_VARIABLES)
    if variable:
        return "mem0", f"default, for {variable} is set"
    for name in ("platform.api_key_file", "platform.api_key_command"):
        if values.get(name):
            return "mem0", f"default, for {name} is set"
    credentials = environ.get("CREDENTIALS_DIRECTORY", "")
    if credentials and (Path(credentials) / CREDENTIAL).is_file():
        return "mem0", f"default, for there is a credential {CREDENTIAL}"
    return "local", "default"


def _identify(
    values: dict[str, Any], origins: dict[str, str], environ: Mapping[str, str], faults: list[str]
) -> list[str]:
    """Fill in the user id (facts 5.18): an explicit setting of ours, else the plugins' order of variables. Return what
    to tell of those of them that name everybody."""
    if is_wildcard(values.get("platform.project_id", "")):
        faults.append(f"platform.project_id ({origins['platform.project_id']}) is a wildcard, but takes one project's.")
    given = values.get("platform.user_id", "").strip()
    if is_wildcard(given):
        faults.append(f"platform.user_id ({origins['platform.user_id']}) is a wildcard, but takes one user's id.")
        return []
    if given and origins["platform.user_id"] in ("command line", KEYS["platform.user_id"].variable):
        values["platform.user_id"] = given
        return []
    user, variable = environment.first_identity(environ)
    # The account's name and the last resort are weaker than the file; a plugin's variable is stronger.
    if not given or variable not in ("USER", "USERNAME", "default"):
        values["platform.user_id"], origins["platform.user_id"] = user, variable
    return [
        f"{wild} is a wildcard, which is nobody's id: what counts is from {origins['platform.user_id']}."
        for wild in environment.wild_identities(environ, variable)
    ]


def _resolve_paths(values: dict[str, Any], places: Places, origins: Mapping[str, str]) -> list[str]:
    faults: list[str] = []

    def resolved(name: str, shown_as: str, given: str, to: Callable[[str, Path], str]) -> str:
        try:
            return to(given, places.home)
        except ValueFault as error:
            told = toml_file.shown(shown_as, given)
            faults.append(f"{shown_as} ({origins[name]}) is {told}, but takes {error}.")
            return given

    for name in _PATHS:
        if values.get(name):
            values[name] = resolved(name, name, values[name], places_named.path)
    values["exclude"] = [
        resolved("exclude", "a pattern of exclude", given, places_named.pattern) for given in values.get("exclude", [])
    ]
    spools = [
        Spool(path=resolved("spools", "the path of a spool", each.path, places_named.path), harness=each.harness)
        for each in values.get("spools", [])
    ]
    values["spools"] = [Spool(path=each.path, harness=each.harness or _harness(each.path)) for each in spools]
    return faults


def _harness(path: str) -> str:
    """Return the harness a data directory is named after (facts 15.6: `x-y-plugin`)."""
    return Path(path).name.removesuffix("-plugin")


def _judge(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Return the faults that only values taken together, or an address's parts, show."""
    faults = []
    for name, schemes in SCHEMES.items():
        if values.get(name) and not is_address(values[name], schemes):
            faults.append(f"{name} ({origins[name]}) is no address: {wanted(name)}.")
    if values["platform.kind"] == "mem0-server" and not values.get("platform.url"):
        faults.append(
            f"platform.kind ({origins['platform.kind']}) is mem0-server, which has no usual address: "
            "set platform.url to the server's, like http://localhost:8888."
        )
    faults += _judge_queue(values, origins)
    if values.get("extractor.url"):
        faults += _judge_extractor(values, origins)
    defaults = Settings().retry
    first = values.get("retry.first_delay_seconds", defaults.first_delay_seconds)
    most = values.get("retry.max_delay_seconds", defaults.max_delay_seconds)
    if first > most:
        faults.append(f"retry.first_delay_seconds is {first:g}, but takes at most retry.max_delay_seconds ({most:g}).")
    return faults


def _judge_queue(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Return the faults of half a fleet: a part in no queue, or a queue whose deliveries would not meet."""
    url, role = values.get("queue.url"), values.get("queue.role", "both")
    faults = []
    if not url and role != "both":
        faults.append(
            f"queue.role ({origins['queue.role']}) is {role}, which is a part in a shared queue: set queue.url to its "
            "postgresql:// URL, or leave the role out where this machine needs nobody."
        )
    if url and values["platform.kind"] == "local" and is_address(url, SCHEMES["queue.url"]):
        faults.append(
            f"queue.url ({origins['queue.url']}) is set, and platform.kind ({origins['platform.kind']}) is local: "
            "memories of the embedded platform stay on one machine, so packets of several cannot go there. Set "
            "platform.kind to mem0 or mem0-server, on edges too; they need no key for it."
        )
    return faults


def _judge_extractor(values: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    """Return the faults of the model's address: what was said goes there, in the clear only on this machine."""
    from memsyncd.platforms.transport import is_loopback  # noqa: PLC0415  (httpx; most commands need none)

    faults = []
    url, origin = values["extractor.url"], origins["extractor.url"]
    if is_address(url, ("http",)) and not is_loopback(urlsplit(url).hostname or ""):
        faults.append(f"extractor.url ({origin}) is http, but takes https for a host that is not this machine.")
    if not values.get("extractor.model"):
        faults.append(f"extractor.url ({origin}) is set, but no model: set extractor.model to one that it serves.")
    return faults


def _build(values: Mapping[str, Any]) -> Settings:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        section, _, field = name.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[field] = msgspec.to_builtins(value)
    return msgspec.convert(tree, Settings)
