"""The way to the user's own service manager, over ssh, su and cron too (never-again 93)."""

import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from daemon.service.commands import Run
from daemon.service.installation import Account
from daemon.service.refusal import ServiceError, WrongUse

BOOTED = Path("/run/systemd/system")
"""Exists where systemd is the first process (sd_booted(3))."""


LINGER = Path("/var/lib/systemd/linger")
"""One file for each account whose manager is started at boot; all the state there is."""

MANAGER_SECONDS = 15.0
LOOK_SECONDS = 0.1


def environment(environ: Mapping[str, str], account: Account, *, runtime: Path = Path("/run/user")) -> dict[str, str]:
    """Return the environment in which `systemctl --user` finds the account's manager.

    A variable that is missing, or left over from another user's session, is set right where the manager runs; where
    it does not, WrongUse says which command starts it.
    """
    given = Path(environ.get("XDG_RUNTIME_DIR") or "/nowhere")
    if _is_of(given, account.uid):
        return dict(environ)
    own = runtime / str(account.uid)
    if not _is_of(own, account.uid):
        raise WrongUse(
            f"No service manager runs for {account.name}: log in as {account.name} (ssh, a console; su and sudo are no "
            f"logins), or type `memsyncd service install --linger`, which also keeps the daemon running after "
            "the last logout."
        )
    kept = {name: value for name, value in environ.items() if name != "DBUS_SESSION_BUS_ADDRESS"}
    return kept | {"XDG_RUNTIME_DIR": str(own)}


def linger(
    account: Account, run: Run, *, wait: Callable[[float], None] = time.sleep, runtime: Path = Path("/run/user")
) -> None:
    """Let the account's manager run without a session, now and after each boot; return once it is there.

    A user may do so for herself without a password, but must name herself (services.md section 4).
    """
    answer = run(["loginctl", "enable-linger", account.name])
    if not answer.ok:
        raise ServiceError(f"Lingering cannot be enabled: {answer.output}.")
    for _ in range(int(MANAGER_SECONDS / LOOK_SECONDS)):
        if (runtime / str(account.uid) / "bus").exists():
            return
        wait(LOOK_SECONDS)
    raise ServiceError(f"Lingering is on, but no manager runs for {account.name} after {MANAGER_SECONDS:g} s.")


def lingers(account: Account, run: Run) -> bool:
    """Return whether the account's manager goes on after the last logout."""
    answer = run(["loginctl", "show-user", account.name, "-p", "Linger", "--value"])
    return answer.output == "yes" if answer.ok else (LINGER / account.name).exists()


def _is_of(directory: Path, uid: int) -> bool:
    try:
        found = directory.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid
