"""What a service is to run and with which surroundings, and whether that is all the daemon needs. Made before
anything is written: half a configuration is refused (never-again 95, 96)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.api_key.source import KeySource
from daemon.configuration_error import ConfigurationError
from daemon.places import Places, resolve
from daemon.service.commands import Run, runner
from daemon.service.refusal import Incomplete
from daemon.service.way_out import only_way_out
from daemon.settings import Loaded, load
from daemon.settings.environment import API_KEY_VARIABLES, first_set
from daemon.settings.load import CREDENTIAL
from memsyncd.hooks.adapters import ADAPTERS
from memsyncd.version import __version__

CARRIED = ("MEMSYNCD_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Variables that say where things are: hooks and commands follow them, so the service must too."""

SERVICE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""A service's search path: nothing of a shell's (services.md section 4)."""

HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # noqa: S108  (looked at, not used)
"""What the system unit's ProtectHome= and PrivateTmp= hide from the daemon, its interpreter included."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whose daemon it is."""

    name: str
    uid: int
    home: Path


@dataclass(frozen=True, slots=True)
class Installation:
    """`command` is what the service starts, absolute; `environment` what it is given beyond its manager's own.
    `credential` is the key's file where there is one, `pending` the directories in which work appears."""

    account: Account
    is_system: bool
    command: Sequence[str]
    environment: Mapping[str, str]
    places: Places
    credential: Path | None
    pending: Sequence[Path]


def of_user(account: Account, interpreter: str, environ: Mapping[str, str], platform: str) -> Installation:
    """Return one user's service as it is to be; looks at files, writes none."""
    carried = {name: environ[name] for name in CARRIED if environ.get(name)}
    places = resolve({**carried, **_session(environ)}, account.home, account.uid, platform)
    return Installation(
        account=account,
        is_system=False,
        command=command(interpreter),
        environment=carried,
        places=places,
        credential=_credential(places) if platform != "darwin" else None,
        pending=_pending(places),
    )


def of_system(account: Account, interpreter: str) -> Installation:
    """Return the machine's service as it is to be, in systemd's own directories."""
    places = resolve(SYSTEM_DIRECTORIES, account.home, account.uid, "linux")
    return Installation(
        account=account,
        is_system=True,
        command=command(interpreter),
        environment={},
        places=places,
        credential=_credential(places),
        pending=_pending(places),
    )


SYSTEM_DIRECTORIES = {
    "STATE_DIRECTORY": "/var/lib/memsyncd",
    "RUNTIME_DIRECTORY": "/run/memsyncd",
    "CONFIGURATION_DIRECTORY": "/etc/memsyncd",
}
"""What systemd makes of the system unit's directories (systemd.exec(5))."""


def command(interpreter: str) -> Sequence[str]:
    """Return the words that start the daemon. `-P`: no directory it happens to start in is searched for modules."""
    return (interpreter, "-P", "-m", "daemon", "run")


def check(planned: Installation, environ: Mapping[str, str], run: Run | None = None) -> Loaded:
    """Return the settings the service will have. Raises Incomplete with a sentence for everything it would lack.

    `environ` is the shell's. The settings are read once more with nothing but the service's own environment: what
    differs is known to the shell only and would be missing.
    """
    service = environment_of(planned, environ)
    faults = [*_hidden(planned), *_program(planned, run or runner(service))]
    if faults:
        raise Incomplete(*faults)
    try:
        seen = load(planned.places, service, {})
        shell = seen if planned.is_system else load(planned.places, {**environ, **_credentials(planned)}, {})
    except ConfigurationError as error:
        raise Incomplete(*error.sentences) from error
    faults = [
        *only_in_shell(shell, seen),
        *_key(planned, seen, service, environ),
        *only_way_out(seen.settings, environ),
    ]
    if faults:
        raise Incomplete(*faults)
    return seen


def environment_of(planned: Installation, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment the daemon will see."""
    account = planned.account
    given = {"HOME": str(account.home), "USER": account.name, "LOGNAME": account.name, "PATH": SERVICE_PATH}
    if planned.is_system:
        given |= SYSTEM_DIRECTORIES
    else:
        given |= _session(environ)
    return given | _credentials(planned) | dict(planned.environment)


def only_in_shell(shell: Loaded, service: Loaded) -> list[str]:
    """Return a sentence for each setting that the shell has and the service would not."""
    here, there = shell.shown(), service.shown()
    return [
        f"{name} is set here ({here[name][1]}), and a service does not see the shell's environment: write it into "
        "config.toml (`memsyncd config path` says where that is)."
        for name in here
        if here[name] != there[name] and here[name][0] != there[name][0]
    ]


def _hidden(planned: Installation) -> list[str]:
    if not planned.is_system:
        return []
    place = Path(planned.command[0])
    sources = {place, place.resolve()}
    return [
        f"{source} is the interpreter, and a system service sees nothing in {hidden}: install memsyncd into a "
        "directory like /opt/memsyncd (`python3 -m venv /opt/memsyncd`) and run this command from there."
        for source in sorted(sources)
        for hidden in HIDDEN
        if source.is_relative_to(hidden)
    ]


def _program(planned: Installation, run: Run) -> list[str]:
    """Try the command as the service will start it, with nothing but its environment."""
    if not Path(planned.command[0]).is_absolute():
        return ["The interpreter's own path is not known: start this command by its absolute path."]
    answer = run([*planned.command[:-1], "--version"])
    if answer.ok and answer.output.split()[-1:] == [__version__]:
        return []
    said = answer.output.splitlines()[-1:] or [f"exit code {answer.code}"]
    asked = f"`{' '.join(planned.command[:-1])} --version`"
    cure = "install memsyncd into an environment of its own, with pipx, uv tool or a venv"
    return [f"{asked} does not answer {__version__} without the shell's environment ({said[0]}): {cure}."]


def _key(planned: Installation, seen: Loaded, service: Mapping[str, str], environ: Mapping[str, str]) -> list[str]:
    variable = "" if planned.is_system else first_set(environ, API_KEY_VARIABLES)
    needs_one = seen.settings.platform.kind == "mem0" and not seen.settings.queue.is_edge
    if not needs_one and not variable:
        return []
    source = KeySource.from_settings(seen.settings, service)
    if source.current():
        return []
    told = source.problems() or [f"There is no key for {seen.settings.platform.kind} that a service could see."]
    where = planned.places.config_file.with_name(CREDENTIAL)
    hint = f" The one in {variable} is known to this shell only." if variable else ""
    return [f"{' '.join(told)}{hint} Write the key into {where}, mode 0600, and install again."]


def _credential(places: Places) -> Path | None:
    """Return the key's file beside the configuration, which the service gets as a credential, where there is one."""
    path = places.config_file.with_name(CREDENTIAL)
    return path if path.is_file() else None


def _pending(places: Places) -> list[Path]:
    """Return where handoffs appear in our own spools: those that exist, and that of every harness with an adapter."""
    try:
        found = {entry.name for entry in places.spools.iterdir() if entry.is_dir()}
    except OSError:
        found = set()
    return [places.spools / name / "pending" for name in sorted(found | set(ADAPTERS))]


def _credentials(planned: Installation) -> dict[str, str]:
    return {} if planned.credential is None else {"CREDENTIALS_DIRECTORY": str(planned.credential.parent)}


def _session(environ: Mapping[str, str]) -> dict[str, str]:
    given = environ.get("XDG_RUNTIME_DIR", "")
    return {"XDG_RUNTIME_DIR": given} if given else {}
