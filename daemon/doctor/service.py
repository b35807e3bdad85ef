"""The service that keeps the daemon running, and whether it outlives the last logout."""

import pwd
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.service import bus, installation, launchd, systemd
from daemon.service.commands import Run, runner
from daemon.service.installation import Account, Installation
from daemon.service.refusal import ServiceError
from daemon.service.state import ServiceState
from daemon.service.units import SERVICE
from daemon.settings import load

COMMAND_SECONDS = 4.0
"""Of a manager's own command; one that takes longer hangs."""

INSTALL = "`memsyncd service install` keeps it running, and starts it at login."


Runner = Callable[[Mapping[str, str]], Run]
"""Gives what runs a manager's commands in an environment; tests put a stub there."""


_FOR_REAL: Runner = partial(runner, seconds=COMMAND_SECONDS)


def probes(examined: Examination, run_in: Runner = _FOR_REAL, booted: Path = bus.BOOTED) -> list[Probe]:
    """Return the check of the service and of lingering. `booted` exists where systemd is the first process."""
    hung = "The service manager does not answer: `systemctl --user status`, or `launchctl list`, shows more."
    return [Probe("service", partial(_probe, examined, run_in, booted), hung)]


def service(  # noqa: PLR0911  (one for each way it can stand)
    state: ServiceState, *, only_in_shell: Sequence[str], is_held: bool, other_failed: Sequence[str]
) -> Check:
    """Judge the service. `only_in_shell` are sentences on settings it does not see; `other_failed` its units besides,
    which fail with it and watch for nothing any more."""
    name = "service"
    if state.active == "not installed":
        how = "a daemon runs without one, and ends with its terminal" if is_held else "none is installed"
        return unchecked(name, how, INSTALL)
    told = f"{state.manager}: {state.active}" + (f", pid {state.pid}" if state.pid else "")
    told += f", restarted {state.restarts} times" if state.restarts else ""
    if state.active == "failed":
        return failed(name, f"{told}: {state.why}", state.remedy)
    if other_failed:
        return failed(
            name, f"{told}, but {', '.join(other_failed)} failed", "`memsyncd service start` starts them all."
        )
    if state.active == "stopped":
        return failed(name, f"{told}: nothing is delivered until it is started", "`memsyncd service start`")
    if not state.enabled:
        return failed(name, f"{told}, but it is not started again after a boot", "`memsyncd service install`")
    if only_in_shell:
        return failed(name, f"{told}. {' '.join(only_in_shell)}", "`memsyncd config path` says where config.toml is.")
    return passed(name, told)


def lingering(state: ServiceState, account: str) -> Check:
    """Judge whether the daemon goes on after the last logout (never-again 94)."""
    name = "lingering"
    if state.active == "not installed" or state.linger is None:
        return unchecked(name, "it is a matter of a user's service under systemd, which is not installed")
    if state.linger:
        return passed(name, f"on for {account}: the daemon starts at boot and goes on after the last logout")
    told = f"off for {account}: the daemon ends some seconds after the last logout, and comes back with the next login"
    return failed(name, told, f"`loginctl enable-linger {account}`")


def _probe(examined: Examination, run_in: Runner, booted: Path) -> list[Check]:
    """Ask the manager. Where there is none, or no way to it, that is no finding, unless a service is installed."""
    if examined.is_another_s or examined.uid == 0:
        why = "a user's service is asked for by that user"
        return [unchecked("service", why), unchecked("lingering", why)]
    account = Account(account_name(examined.uid), examined.uid, examined.home)
    planned = installation.of_user(account, sys.executable, examined.environ, examined.platform)
    if examined.platform == "darwin":
        state = launchd.Launchd(planned, run_in(examined.environ), examined.environ).state()
        return _judged(examined, planned, state, ())
    if not booted.is_dir():
        why = "this machine does not run systemd"
        return [unchecked("service", why), unchecked("lingering", why)]
    try:
        environ = bus.environment(examined.environ, account)
    except ServiceError as error:
        return _without_manager(planned, examined, str(error))
    run = run_in(environ)
    units = systemd.Systemd(planned, run, environ)
    others = [name for name in units.installed() if name != SERVICE]
    dead = [name for name in others if run(["systemctl", "--user", "is-failed", name]).output == "failed"]
    return _judged(examined, planned, units.state(), dead)


def _judged(
    examined: Examination, planned: Installation, state: ServiceState, other_failed: Sequence[str]
) -> list[Check]:
    hidden: Sequence[str] = ()
    if state.active != "not installed" and examined.loaded is not None:
        try:
            seen = load(planned.places, installation.environment_of(planned, examined.environ), {})
            hidden = installation.only_in_shell(examined.loaded, seen)
        except ConfigurationError as error:
            hidden = error.sentences
    return [
        service(state, only_in_shell=hidden, is_held=examined.is_held, other_failed=other_failed),
        lingering(state, planned.account.name),
    ]


def _without_manager(planned: Installation, examined: Examination, why: str) -> list[Check]:
    name = planned.account.name
    if (planned.account.home / ".config/systemd/user" / SERVICE).exists():
        told = f"it is installed, and no service manager runs for {name}"
        return [
            failed("service", told, f"Log in as {name}, or `loginctl enable-linger {name}`."),
            unchecked("lingering", why),
        ]
    how = "a daemon runs without one" if examined.is_held else "none is installed"
    return [unchecked("service", how, INSTALL), unchecked("lingering", how)]


def account_name(uid: int) -> str:
    """Return the name of an account, its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
