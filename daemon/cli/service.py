"""`service`: the daemon under systemd or launchd, installed, started, stopped and looked at."""

import os
import pwd
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import exits, output
from daemon.cli.given import GivenText
from daemon.cli.surroundings import Surroundings

if TYPE_CHECKING:
    from daemon.service.installation import Account, Installation

SYSTEM_ACCOUNT = "memsyncd"


def system_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--system` and the account that goes with it."""
    named = click.option(
        "--run-as", default=SYSTEM_ACCOUNT, show_default=True, type=GivenText(), help="With --system: its account."
    )
    return click.option("--system", is_flag=True, help="The machine's own service, by root; else your own.")(
        named(command)
    )


def told(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what a service command raises into a sentence and an exit code."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        from daemon.configuration_error import ConfigurationError  # noqa: PLC0415  (only when it runs)
        from daemon.service.refusal import Incomplete, ServiceError, WrongUse  # noqa: PLC0415

        try:
            return command(*arguments, **options)
        except WrongUse as error:
            raise exits.Leave(exits.WRONG_USE, str(error)) from error
        except (Incomplete, ConfigurationError) as error:
            raise exits.Leave(exits.MISCONFIGURED, str(error)) from error
        except ServiceError as error:
            raise exits.Leave(exits.FAILED, str(error)) from error
        except OSError as error:
            raise exits.Leave(exits.FAILED, f"{error.filename}: {error.strerror}") from error

    return run


@click.group(short_help="The daemon as a service of systemd or launchd.")
def service() -> None:
    """Keep the daemon running: a user's service, or with --system the machine's."""


@service.command()
@system_option
@click.option("--socket", is_flag=True, help="systemd: also start it when somebody asks at its socket.")
@click.option("--path", is_flag=True, help="systemd: also start it when a handoff waits.")
@click.option("--linger", is_flag=True, help="systemd: go on after the last logout.")
@click.pass_obj
@told
def install(around: Surroundings, *, system: bool, run_as: str, socket: bool, path: bool, linger: bool) -> None:
    """Install the service, or replace it by this version, and start it.

    What the daemon would lack without your shell (a key, a setting, its interpreter) is found before anything is
    written. Exit code: 0 it runs; 1 it does not; 2 the wrong account; 78 the configuration is not complete.
    """
    from daemon.service import bus  # noqa: PLC0415  (only when it runs)
    from daemon.service.commands import runner  # noqa: PLC0415
    from daemon.service.installation import check  # noqa: PLC0415

    planned = _planned(around, system=system, run_as=run_as)
    if around.platform == "darwin":
        if socket or path or linger:
            raise click.UsageError("--socket, --path and --linger are systemd's; launchd's agent has what it needs.")
        check(planned, around.environ)
        _manager(around, planned).install()
        return
    check(planned, around.environ)
    run = runner(around.environ)
    if linger and not system:
        bus.linger(planned.account, run)
        _say(f"lingering is on: the daemon goes on after {planned.account.name} logs out")
    _manager(around, planned).install(socket=socket, path=path)
    if not system and not bus.lingers(planned.account, run):
        click.echo(
            "memsyncd: the daemon ends with your last logout and comes back with the next login; to keep it running, "
            f"type `loginctl enable-linger {planned.account.name}`",
            err=True,
        )


@service.command()
@system_option
@click.pass_obj
@told
def uninstall(around: Surroundings, system: bool, run_as: str) -> None:
    """Stop and remove the service. What was recorded stays; handoffs it worked on wait again, as a plugin expects."""
    from daemon.service.giving_back import give_back  # noqa: PLC0415  (only when it runs)

    planned = _planned(around, system=system, run_as=run_as)
    if not _manager(around, planned).uninstall():
        click.echo("memsyncd: no service is installed", err=True)
    given = give_back(planned.places, pid=os.getpid())
    if given:
        click.echo(f"memsyncd: {given:,} handoffs wait again in {planned.places.spools}", err=True)


@service.command()
@system_option
@click.pass_obj
@told
def start(around: Surroundings, system: bool, run_as: str) -> None:
    """Start the installed service, also after it was given up, and see that it answers."""
    _manager(around, _planned(around, system=system, run_as=run_as)).start()


@service.command()
@system_option
@click.pass_obj
@told
def stop(around: Surroundings, system: bool, run_as: str) -> None:
    """Stop the service, and what would start it again, until the next start, login or boot."""
    _manager(around, _planned(around, system=system, run_as=run_as)).stop()


@service.command()
@system_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, on standard output.")
@click.pass_obj
@told
def status(around: Surroundings, system: bool, run_as: str, as_json: bool) -> int:
    """Show how the service stands. Exit code: 0 it runs; 1 it failed; 3 it is stopped or not installed."""
    state = _manager(around, _planned(around, system=system, run_as=run_as)).state()
    if as_json:
        output.emit_json(asdict(state))
    else:
        click.echo(f"{state.manager}: {state.active}" + (f", pid {state.pid}" if state.pid else ""))
        facts = {
            "version": state.version,
            "says": state.sentence,
            "failed": state.why,
            "do": state.remedy,
            "restarts": str(state.restarts or ""),
            "at login" if state.linger is not None or state.manager == "launchd" else "at boot": _yes(state.enabled),
            "goes on after logout": "" if state.linger is None else _yes(state.linger),
            "file": "\n".join(state.files),
        }
        for name, fact in facts.items():
            for line in fact.splitlines():
                click.echo(f"  {name:<20} {line}")
    return {"running": exits.DONE, "starting": exits.DONE, "failed": exits.FAILED}.get(state.active, exits.NOT_RUNNING)


@service.command("print")
@system_option
@click.option("--unit", type=click.Choice(["service", "socket", "path"]), default="service", show_default=True)
@click.pass_obj
@told
def print_(around: Surroundings, system: bool, run_as: str, unit: str) -> None:
    """Print what `install` would write, for those who install it by other means."""
    from daemon.service import agent_plist, units  # noqa: PLC0415  (only when it runs)

    planned = _planned(around, system=system, run_as=run_as, only_printed=True)
    if around.platform == "darwin":
        click.echo(agent_plist.render(planned).decode(), nl=False)
    else:
        click.echo(units.render(planned)[f"memsyncd.{unit}"], nl=False)


def _planned(around: Surroundings, *, system: bool, run_as: str, only_printed: bool = False) -> "Installation":
    """Return what is to be installed, for the right account. Leaves with 2 for the wrong one (never-again 102)."""
    from daemon.service import installation  # noqa: PLC0415  (only when it runs)
    from daemon.service.refusal import WrongUse  # noqa: PLC0415

    if not system:
        if around.uid == 0 and not only_printed:
            user = around.environ.get("SUDO_USER", "")
            as_whom = f"as {user}, without sudo" if user and user != "root" else "as the user whose daemon it is"
            raise WrongUse(f"A user's service is not installed by root: type this {as_whom}, or add --system.")
        account = _account(around.uid, around.home)
        return installation.of_user(account, sys.executable, around.environ, around.platform)
    if around.platform == "darwin":
        raise WrongUse("On macOS there is no --system: each user's agent is their own.")
    if around.uid != 0 and not only_printed:
        words = shlex.join([sys.executable, "-P", "-m", "daemon", *sys.argv[1:]])
        raise WrongUse(f"The machine's service is root's to handle: type `sudo {words}`.")
    try:
        entry = pwd.getpwnam(run_as)
    except KeyError:
        if only_printed:
            return installation.of_system(installation.Account(run_as, -1, Path("/var/lib/memsyncd")), sys.executable)
        raise WrongUse(
            f"There is no account {run_as}: `useradd --system --home-dir /var/lib/memsyncd --shell "
            f"/usr/sbin/nologin {run_as}` makes it, or name another with --run-as."
        ) from None
    if entry.pw_uid == 0:
        raise WrongUse("The daemon never runs as root: name another account with --run-as.")
    return installation.of_system(_account(entry.pw_uid, Path(entry.pw_dir)), sys.executable)


def _account(uid: int, home: Path) -> "Account":
    from daemon.service.installation import Account  # noqa: PLC0415  (only when it runs)

    return Account(pwd.getpwuid(uid).pw_name, uid, home)


def _manager(around: Surroundings, planned: "Installation") -> Any:
    """Return this system's manager. Leaves where there is none, or no way to it."""
    from daemon.service import bus, launchd, systemd  # noqa: PLC0415  (only when it runs)
    from daemon.service.commands import runner  # noqa: PLC0415
    from daemon.service.refusal import ServiceError  # noqa: PLC0415

    if around.platform == "darwin":
        return launchd.Launchd(planned, runner(around.environ), around.environ, say=_say)
    if not bus.BOOTED.is_dir():
        raise ServiceError(
            "This machine does not run systemd: start `memsyncd run` from the supervisor you have; it stays in the "
            "foreground, ends on SIGTERM, and is not to be started again on exit code 78 or 4."
        )
    environ = around.environ if planned.is_system else bus.environment(around.environ, planned.account)
    return systemd.Systemd(planned, runner(environ), environ, say=_say)


def _say(sentence: str) -> None:
    click.echo(f"memsyncd: {sentence}", err=True)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
