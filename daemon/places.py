"""Where everything lies (CONTRACT: Directories): one answer for the daemon and for every command.

platformdirs is not asked: it reads the process environment by itself, and its runtime directory differs between a
login, cron and sudo (services.md section 6), so a command would look for the socket in another place than the daemon.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from memsyncd.hooks import error_log, spool

SOCKET_BUDGET = 100
"""Longest socket path in bytes. Linux takes 107, macOS 103 (services.md section 6); the rest is for a peer's prefix."""

_NAME = "memsyncd"
_SOCKET = "status.sock"


@dataclass(frozen=True, slots=True)
class Places:
    """Absolute paths. `runtime` is the socket's own directory; `wanted_socket` is where the socket would be if the
    path were not too long, and equals `status_socket` when it is not. `logs` is None where logs go to standard error
    only. `home` is the user's, for `~` in settings. `hook_error_logs` are those that this home's hooks write:
    `hook_error_log`, and where that takes nothing, the next.
    """

    home: Path
    config_file: Path
    data: Path
    spools: Path
    runtime: Path
    status_socket: Path
    wanted_socket: Path
    nudge: Path
    queue_file: Path
    memory_file: Path
    lock_file: Path
    hook_error_log: Path
    hook_error_logs: tuple[Path, ...]
    logs: Path | None

    @property
    def socket_is_shortened(self) -> bool:
        """Whether the short fallback is in use; `status`, `doctor` and `config path` tell it."""
        return self.status_socket != self.wanted_socket


def resolve(environ: Mapping[str, str], home: Path, uid: int, platform: str) -> Places:
    """Return the places for `platform` (a `sys.platform` value) and the user `uid` whose home is `home`.

    Creates nothing; looks only at who owns a candidate runtime directory. Raises ConfigurationError where
    MEMSYNCD_HOME or the home is not absolute (hooks run in other directories and would take it for another place), and
    where no database can be opened in the data directory, whose path is too long or not UTF-8.
    """
    if not home.is_absolute():
        raise ConfigurationError(_no_home(environ, uid))
    whole = _whole_home(environ)
    data = whole or _data(environ, home, platform)
    _check_path(data)
    wanted = _runtime(environ, uid, platform, whole, data) / _SOCKET
    socket = wanted if len(bytes(wanted)) <= SOCKET_BUDGET else _short_socket(wanted, uid)
    error_logs = _hook_error_logs(environ, data, is_whole=whole is not None)
    return Places(
        home=home,
        config_file=(whole or _config(environ, home, platform)) / "config.toml",
        data=data,
        spools=data / "spools",
        runtime=socket.parent,
        status_socket=socket,
        wanted_socket=wanted,
        nudge=data / "nudge",
        queue_file=data / "queue.sqlite3",
        memory_file=data / "memory.sqlite3",
        lock_file=data / "daemon.lock",
        hook_error_log=error_logs[0],
        hook_error_logs=error_logs,
        logs=None if whole else _logs(environ, home, platform),
    )


def _no_home(environ: Mapping[str, str], uid: int) -> str:
    if environ.get("HOME"):
        return f"HOME is {environ['HOME']!r}: give an absolute path."
    return f"HOME is not set, and there is no user {uid} on this machine: set HOME to an absolute path."


def _check_path(data: Path) -> None:
    """Refuse what SQLite does not open, which goes by the path behind links."""
    for path in dict.fromkeys((bytes(data), os.fsencode(os.path.realpath(data)))):
        if not spool.can_be_served(path):
            shown = path.decode(errors="backslashreplace")
            fault = f"is longer than {spool.MAX_DATA} bytes" if len(path) > spool.MAX_DATA else "is not UTF-8"
            raise ConfigurationError(
                f"The data directory's path {fault}, and no database can be opened there: {shown}. "
                "Set MEMSYNCD_HOME to another directory."
            )


def _whole_home(environ: Mapping[str, str]) -> Path | None:
    given = environ.get("MEMSYNCD_HOME", "")
    if not given:
        return None
    if not Path(given).is_absolute():
        raise ConfigurationError(f"MEMSYNCD_HOME is {given!r}: give an absolute path.")
    return Path(given)


def _data(environ: Mapping[str, str], home: Path, platform: str) -> Path:
    given = _service_directory(environ, "STATE_DIRECTORY")
    # A user unit's state directory moved between versions of systemd (services.md trap 7) and hooks know nothing
    # of it: there the one place that hooks use counts.
    of_user_units = (
        _xdg(environ, "XDG_CONFIG_HOME", home / ".config"),
        _xdg(environ, "XDG_STATE_HOME", home / ".local/state"),
    )
    if given and given.parent not in of_user_units:
        return given
    if platform == "darwin":
        return home / "Library/Application Support" / _NAME
    return _xdg(environ, "XDG_DATA_HOME", home / ".local/share") / _NAME


def _config(environ: Mapping[str, str], home: Path, platform: str) -> Path:
    given = _service_directory(environ, "CONFIGURATION_DIRECTORY")
    if given:
        return given
    if platform == "darwin":
        return home / "Library/Application Support" / _NAME
    return _xdg(environ, "XDG_CONFIG_HOME", home / ".config") / _NAME


def _logs(environ: Mapping[str, str], home: Path, platform: str) -> Path | None:
    given = _service_directory(environ, "LOGS_DIRECTORY")
    return given or (home / "Library/Logs" / _NAME if platform == "darwin" else None)


def _runtime(environ: Mapping[str, str], uid: int, platform: str, whole: Path | None, data: Path) -> Path:
    if whole is None and platform != "darwin":
        given = _service_directory(environ, "RUNTIME_DIRECTORY")
        if given:
            return given
        session = _xdg(environ, "XDG_RUNTIME_DIR", Path(f"/run/user/{uid}"))
        if _is_ours(session, uid):
            return session / _NAME
    return data / "run"


def _hook_error_logs(environ: Mapping[str, str], data: Path, *, is_whole: bool) -> tuple[Path, ...]:
    """Return the logs. Those outside the data directory are every home's of this user, and so no word about one that
    MEMSYNCD_HOME names."""
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    tried = [Path(os.fsdecode(place)) for place in error_log.places(os.fsencode(data), encoded)]
    return tuple(place / os.fsdecode(error_log.NAME) for place in (tried[:1] if is_whole else tried))


def _is_ours(directory: Path, uid: int) -> bool:
    """Tell whether a runtime directory counts: after `su` the variable still names another user's."""
    try:
        found = directory.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid


def _short_socket(wanted: Path, uid: int) -> Path:
    digest = hashlib.sha256(bytes(wanted)).hexdigest()[:8]
    return Path(f"/tmp/{_NAME}-{uid}/{digest}.sock")  # noqa: S108  (private: make_private checks owner and mode)


def _xdg(environ: Mapping[str, str], name: str, otherwise: Path) -> Path:
    """Return an XDG variable's directory; a relative one is to be ignored (XDG base directory specification)."""
    given = environ.get(name, "")
    return Path(given) if given and Path(given).is_absolute() else otherwise


def _service_directory(environ: Mapping[str, str], name: str) -> Path | None:
    """Return the first of systemd's colon-separated directories (services.md trap 6)."""
    first = environ.get(name, "").split(":")[0]
    return Path(first) if first and Path(first).is_absolute() else None
