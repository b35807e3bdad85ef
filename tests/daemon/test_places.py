"""Where everything lies."""

import os
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.places import SOCKET_BUDGET, resolve
from memsyncd.hooks import error_log
from memsyncd.hooks.spool import data_directory

HOME = Path("/home/ada")
NOBODY = 4_000_000_000
"""A user without a runtime directory."""


def test_linux_uses_the_xdg_defaults() -> None:
    """Without any variable config, data and socket lie where the XDG specification says."""
    places = resolve({}, HOME, NOBODY, "linux")
    assert places.config_file == HOME / ".config/memsyncd/config.toml"
    assert places.data == HOME / ".local/share/memsyncd"
    assert places.spools == places.data / "spools"
    assert places.queue_file == places.data / "queue.sqlite3"
    assert places.memory_file == places.data / "memory.sqlite3"
    assert places.lock_file == places.data / "daemon.lock"
    assert places.status_socket == places.data / "run/status.sock"
    assert places.logs is None


def test_macos_keeps_config_and_data_in_one_directory_under_distinct_names() -> None:
    """On macOS both are Application Support, and XDG's runtime directory does not count."""
    places = resolve({"XDG_RUNTIME_DIR": "/tmp"}, Path("/Users/ada"), 0, "darwin")
    support = Path("/Users/ada/Library/Application Support/memsyncd")
    assert places.config_file == support / "config.toml"
    assert places.data == support
    assert places.status_socket == support / "run/status.sock"
    assert places.logs == Path("/Users/ada/Library/Logs/memsyncd")


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_memsyncd_home_holds_everything(platform: str) -> None:
    """MEMSYNCD_HOME wins over every other variable, and logs then go to standard error."""
    environ = {"MEMSYNCD_HOME": "/srv/m", "XDG_DATA_HOME": "/x", "STATE_DIRECTORY": "/s", "RUNTIME_DIRECTORY": "/r"}
    places = resolve(environ, HOME, NOBODY, platform)
    assert places.config_file == Path("/srv/m/config.toml")
    assert places.data == Path("/srv/m")
    assert places.status_socket == Path("/srv/m/run/status.sock")
    assert places.logs is None


def test_a_relative_memsyncd_home_is_refused() -> None:
    """A hook runs in another directory, so a relative home would name two places."""
    with pytest.raises(ConfigurationError, match="absolute"):
        resolve({"MEMSYNCD_HOME": "here"}, HOME, NOBODY, "linux")


def test_xdg_variables_count_only_when_absolute() -> None:
    """A relative XDG path is ignored, as its specification says."""
    environ = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "/etc/ada"}
    places = resolve(environ, HOME, NOBODY, "linux")
    assert places.data == HOME / ".local/share/memsyncd"
    assert places.config_file == Path("/etc/ada/memsyncd/config.toml")


def test_systemd_directories_are_honoured_and_the_first_of_a_list_counts() -> None:
    """A system service's directories win over the home's."""
    environ = {
        "STATE_DIRECTORY": "/var/lib/memsyncd:/var/lib/other",
        "RUNTIME_DIRECTORY": "/run/memsyncd",
        "CONFIGURATION_DIRECTORY": "/etc/memsyncd",
        "LOGS_DIRECTORY": "/var/log/memsyncd",
    }
    places = resolve(environ, HOME, NOBODY, "linux")
    assert places.data == Path("/var/lib/memsyncd")
    assert places.status_socket == Path("/run/memsyncd/status.sock")
    assert places.config_file == Path("/etc/memsyncd/config.toml")
    assert places.logs == Path("/var/log/memsyncd")


@pytest.mark.parametrize("state", [".config/memsyncd", ".local/state/memsyncd"])
def test_a_user_units_state_directory_does_not_part_daemon_and_hooks(state: str) -> None:
    """Hooks know the data directory by the home only, so a user unit's StateDirectory= must not move it."""
    places = resolve({"STATE_DIRECTORY": str(HOME / state)}, HOME, NOBODY, "linux")
    assert places.data == HOME / ".local/share/memsyncd"


def test_the_session_runtime_directory_is_used_when_it_is_ours(tmp_path: Path) -> None:
    """XDG_RUNTIME_DIR of another user (after su), or one that is gone, is passed over."""
    uid = tmp_path.stat().st_uid
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert resolve(environ, HOME, uid, "linux").wanted_socket == tmp_path / "memsyncd/status.sock"
    assert resolve(environ, HOME, uid + 1, "linux").status_socket == HOME / ".local/share/memsyncd/run/status.sock"
    gone = {"XDG_RUNTIME_DIR": str(tmp_path / "gone")}
    assert resolve(gone, HOME, uid, "linux").status_socket == HOME / ".local/share/memsyncd/run/status.sock"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"MEMSYNCD_HOME": "/srv/m"},
        {"MEMSYNCD_HOME": ""},
        {"XDG_DATA_HOME": "/x"},
        {"XDG_DATA_HOME": "x"},
        {"XDG_DATA_HOME": ""},
        {"XDG_DATA_HOME": "/x", "MEMSYNCD_HOME": "/srv/m"},
        {"XDG_STATE_HOME": "/y", "STATE_DIRECTORY": "/y/memsyncd"},
    ],
)
def test_the_hooks_drop_into_the_same_data_directory(platform: str, environ: dict[str, str]) -> None:
    """Their rule is written a second time, without imports; a difference would lose every handoff."""
    theirs = data_directory(
        {os.fsencode(name): os.fsencode(text) for name, text in {"HOME": str(HOME), **environ}.items()}, platform
    )
    ours = resolve(environ, HOME, NOBODY, platform)
    assert Path(os.fsdecode(theirs)) == ours.data
    assert ours.hook_error_log.name == os.fsdecode(error_log.NAME)


def test_where_hooks_turn_to_is_looked_at_unless_it_may_be_another_homes() -> None:
    """Their log in the data directory, and those outside it, which are every home's of one user."""
    found = resolve({"XDG_RUNTIME_DIR": "/run/user/7"}, HOME, NOBODY, "linux").hook_error_logs
    assert [str(log) for log in found] == [
        str(HOME / ".local/share/memsyncd/hook-errors.log"),
        "/run/user/7/memsyncd/hook-errors.log",
        f"/tmp/memsyncd-{os.geteuid()}/hook-errors.log",
    ]
    assert [str(log) for log in resolve({"MEMSYNCD_HOME": "/m"}, HOME, 7, "linux").hook_error_logs] == [
        "/m/hook-errors.log"
    ]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_socket_path_too_long_becomes_a_short_private_one(platform: str) -> None:
    """Bytes count, not characters; the same long path always gives the same short one, another gives another."""
    deep = Path("/home") / ("ä" * 60)
    places = resolve({"MEMSYNCD_HOME": str(deep)}, HOME, 1234, platform)
    assert places.socket_is_shortened
    assert str(places.status_socket).startswith("/tmp/memsyncd-1234/")
    assert len(bytes(places.status_socket)) <= SOCKET_BUDGET
    assert places.runtime == places.status_socket.parent
    assert resolve({"MEMSYNCD_HOME": str(deep)}, HOME, 1234, platform) == places
    assert resolve({"MEMSYNCD_HOME": f"{deep}x"}, HOME, 1234, platform).status_socket != places.status_socket


def test_the_longest_path_within_the_budget_is_kept() -> None:
    """The fallback begins one byte above the budget."""
    room = SOCKET_BUDGET - len("/run/status.sock")
    longest = "/" + "a" * (room - 1)
    assert not resolve({"MEMSYNCD_HOME": longest}, HOME, 1, "linux").socket_is_shortened
    assert resolve({"MEMSYNCD_HOME": longest + "a"}, HOME, 1, "linux").socket_is_shortened
