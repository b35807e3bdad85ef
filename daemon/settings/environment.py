"""What the environment sets: `MEMSYNCD_…` for any key, and the names plugins use today (facts 15.3 to 15.5)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daemon.settings import places_named
from daemon.settings.addresses import SCHEMES, is_address, wanted
from daemon.settings.keys import FALSE_WORDS, KEYS, TRUE_WORDS, Key, ValueFault, is_unicode
from daemon.settings.schema import Spool
from daemon.settings.toml_file import shown
from memsyncd.platforms.wildcards import is_wildcard

RESERVED = frozenset({"MEMSYNCD_HOME"})
"""Ours, but no settings."""

_CLOSE = 0.85


@dataclass(slots=True)
class EnvironmentValues:
    """What the environment sets: values by dotted key, the variable each came from, and what to tell.

    `further_spool` is MEM0_CODE_DATA_DIR's, beside all others. `opted_out` names the variable that forbids telemetry,
    `unusable_url` a plugin's whose address is none. `cures` has what to do about the grave ones of the `warnings`.
    """

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cures: dict[str, str] = field(default_factory=dict)
    further_spool: Spool | None = None
    opted_out: str = ""
    unusable_url: str = ""

    def put(self, key: str, value: Any, variable: str) -> None:
        """Set a value from a variable."""
        self.values[key], self.places[key] = value, variable

    def warn_gravely(self, warning: str, variable: str) -> None:
        """Tell of a variable without which something goes, or comes from, nowhere."""
        self.warnings.append(warning)
        self.cures[warning] = f"Correct {variable}, or take it out."


def option(name: str) -> tuple[str, ...]:
    """Return the variables of a plugin option, first the one that wins (facts 15.3)."""
    return f"PLUGIN_OPTION_{name}", f"CLAUDE_PLUGIN_OPTION_{name}", f"MEM0_CODE_{name}"


API_KEY_VARIABLES = ("MEM0_API_KEY", *option("API_KEY")[:2])
"""Facts 15.2."""

USER_VARIABLES = (*option("USER_ID"), "MEM0_USER_ID", "MEM0_RESOLVED_USER_ID", "USER", "USERNAME")
"""Facts 5.18."""


def read(environ: Mapping[str, str], home: Path) -> EnvironmentValues:
    """Return what `environ` sets; `home` is the one of `~`. An empty variable counts as unset.

    A plugin's name never stops the daemon: what it cannot take means the default, or the nearest bound, with a
    warning (facts 15.5). A `MEMSYNCD_` name that is wrong is a fault, and wins over a plugin's where both are set.
    """
    found = EnvironmentValues()
    for key, variables, parse in _PLUGIN_NAMES:
        variable = first_set(environ, variables)
        if variable:
            parse(found, KEYS[key], variable, environ[variable])
    directory = first_set(environ, option("DATA_DIR"))
    if directory:
        _data_directory(found, directory, environ[directory], home)
    notes = "agent_memory_path"
    if notes in found.values:
        _notes(found, notes, home)
    _read_own(environ, found)
    _read_opt_outs(environ, found)
    return found


def first_set(environ: Mapping[str, str], variables: tuple[str, ...]) -> str:
    """Return the first variable that is not blank, or an empty text."""
    return next((name for name in variables if environ.get(name, "").strip()), "")


def first_identity(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the user id and the variable it is from; one that is only asterisks is none (facts 5.17, 5.18). Where no
    variable has one it is left to the operating system's account."""
    for variable in USER_VARIABLES:
        value = environ.get(variable, "").strip()
        if value and not is_wildcard(value) and is_unicode(value):
            return value, variable
    return "", "default"


def wild_identities(environ: Mapping[str, str], used: str) -> list[str]:
    """Return the variables before `used`, in their order, that name everybody."""
    before = USER_VARIABLES[: USER_VARIABLES.index(used)] if used in USER_VARIABLES else USER_VARIABLES
    return [variable for variable in before if is_wildcard(environ.get(variable, ""))]


def _read_own(environ: Mapping[str, str], found: EnvironmentValues) -> None:
    variables = {key.variable: key for key in KEYS.values()}
    for variable, text in sorted(environ.items()):
        if not variable.startswith("MEMSYNCD_") or variable in RESERVED or not text.strip():
            continue
        key = variables.get(variable)
        if key is None:
            _unknown(variable, variables, found)
            continue
        try:
            found.put(key.name, key.parse_text(text), variable)
        except ValueFault as error:
            found.faults.append(f"{variable} is {shown(key.name, text)}, but takes {error}.")


def _unknown(variable: str, variables: Mapping[str, Key], found: EnvironmentValues) -> None:
    """Take a slip of the pen for a fault; a variable like none of ours is somebody else's, and only told."""
    import difflib  # noqa: PLC0415  (only for a mistake; every command reads settings)

    close = difflib.get_close_matches(variable, list(variables), n=1, cutoff=_CLOSE)
    if close:
        found.faults.append(f"unknown variable {variable}; the nearest known one is {close[0]}.")
    else:
        found.warnings.append(f"{variable} is no setting and is not used.")


def _read_opt_outs(environ: Mapping[str, str], found: EnvironmentValues) -> None:
    if environ.get("DO_NOT_TRACK", "").strip().lower() not in FALSE_WORDS | {""}:
        found.opted_out = "DO_NOT_TRACK"
    elif environ.get("MEM0_TELEMETRY", "").strip().lower() not in TRUE_WORDS | {""}:  # `disabled`, `n`: no is meant
        found.opted_out = "MEM0_TELEMETRY"


def _number(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    try:
        value = key.parse_text(text)
    except ValueFault:
        try:
            value = key.clamp(int(text) if key.type_is_whole else float(text))
            key.parse(value)  # not a number is not within bounds either
        except ValueError:
            found.warnings.append(f"{variable} is {text[:60]!r}, no number: the default is used.")
            return
        found.warnings.append(f"{variable} is {text[:60]!r}, but takes {key.allowed}: {value:g} is used.")
    found.put(key.name, value, variable)


def _flag(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    word = text.strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        found.warnings.append(f"{variable} is {text[:60]!r}, but takes true or false: false is used.")
    found.put(key.name, word in TRUE_WORDS, variable)


def _search_scope(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    try:
        found.put(key.name, key.parse(text.strip().lower()), variable)
    except ValueFault as error:
        found.warnings.append(f"{variable} is {text[:60]!r}, but takes {error}: the default is used.")


def _text(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    try:
        found.put(key.name, key.parse_text(text), variable)
    except ValueFault as error:
        found.warnings.append(f"{variable} is {shown(key.name, text)}, but takes {error}: the default is used.")


def _project(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    if is_wildcard(text):
        found.warnings.append(f"{variable} is a wildcard, which is no project: it is not used.")
        return
    _text(found, key, variable, text)


def _address(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    if is_address(text, SCHEMES[key.name]):
        _text(found, key, variable, text)
        return
    found.unusable_url = variable
    told = f"{variable} is no address: {wanted(key.name)}."
    found.warn_gravely(f"{told} It is not used, and without another one nothing is sent.", variable)


def _data_directory(found: EnvironmentValues, variable: str, text: str, home: Path) -> None:
    try:
        [spool] = KEYS["spools"].parse([{"path": text}])
        places_named.path(text, home)
    except ValueFault as error:
        told = f"{variable} is {shown('spools', text)}, but takes {error}"
        found.warn_gravely(f"{told}: nothing is taken in from there.", variable)
    else:
        found.further_spool = spool


def _notes(found: EnvironmentValues, name: str, home: Path) -> None:
    try:
        places_named.path(found.values[name], home)
    except ValueFault as error:
        text, variable = found.values.pop(name), found.places.pop(name)
        found.warnings.append(f"{variable} is {shown(name, text)}, but takes {error}: it is not used.")


def _telemetry(found: EnvironmentValues, key: Key, variable: str, text: str) -> None:
    if text.strip().lower() in TRUE_WORDS:
        found.put(key.name, value=True, variable=variable)


_Parse = Callable[[EnvironmentValues, Key, str, str], None]

_PLUGIN_NAMES: tuple[tuple[str, tuple[str, ...], _Parse], ...] = (
    ("platform.url", ("MEM0_API_URL",), _address),
    ("platform.project_id", ("MEM0_PROJECT_ID",), _project),
    ("flush.auto", option("AUTO_FLUSH"), _flag),
    ("flush.idle_seconds", option("IDLE_FLUSH_SECONDS"), _number),
    ("flush.extraction_wait_seconds", option("EXTRACTION_WAIT_SECONDS"), _number),
    ("flush.event_poll_seconds", option("EVENT_POLL_SECONDS"), _number),
    ("recall.top_k", option("TOP_K"), _number),
    ("recall.scope", option("SEARCH_SCOPE"), _search_scope),
    ("recall.max_context_chars", option("MAX_CONTEXT_CHARS"), _number),
    ("recall.min_query_chars", option("MIN_QUERY_CHARS"), _number),
    ("recall.once_per_session", option("SEARCH_ONCE_PER_SESSION"), _flag),
    ("telemetry.enabled", ("MEM0_TELEMETRY",), _telemetry),
    ("agent_memory_path", ("AGENT_MEMORY_PATH",), _text),
)
