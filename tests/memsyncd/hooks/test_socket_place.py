"""A hook looks for the socket where the daemon has put it."""

import os
from pathlib import Path

import pytest

from daemon import places
from memsyncd.hooks import socket_place, spool

UID = os.geteuid()


@pytest.mark.parametrize("platform", ["linux", "darwin", "freebsd13"])
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"MEMSYNCD_HOME": "{0}/m"},
        {"MEMSYNCD_HOME": "{0}/m/", "XDG_RUNTIME_DIR": "{0}"},
        {"MEMSYNCD_HOME": "{0}/" + "long/" * 30 + "m"},
        {"MEMSYNCD_HOME": "{0}//" + "long/./" * 30},
        {"XDG_RUNTIME_DIR": "{0}"},
        {"XDG_RUNTIME_DIR": "{0}/missing"},
        {"XDG_RUNTIME_DIR": "relative"},
        {"XDG_RUNTIME_DIR": "/root-of-another"},
        {"XDG_DATA_HOME": "{0}/data", "XDG_RUNTIME_DIR": "/"},
        {"XDG_DATA_HOME": "{0}/" + "d" * 90, "XDG_RUNTIME_DIR": "{0}/missing"},
    ],
    ids=range(11),
)
def test_hook_and_daemon_agree(environ: dict[str, str], platform: str, tmp_path: Path) -> None:
    """Whatever the environment says, short fallback included."""
    environ = {name: value.format(tmp_path) for name, value in environ.items()}
    whole = {**environ, "HOME": str(tmp_path)}
    wanted = places.resolve(environ, tmp_path, UID, platform)
    raw = {os.fsencode(name): os.fsencode(value) for name, value in whole.items()}
    data = spool.data_directory(raw, platform)
    is_whole_home = "MEMSYNCD_HOME" in environ
    found = socket_place.socket_path(data, raw, platform, is_whole_home=is_whole_home)
    assert os.fsdecode(found) == str(wanted.status_socket)


def test_both_draw_the_line_at_the_same_length() -> None:
    """The budgets are one number."""
    assert socket_place.BUDGET == places.SOCKET_BUDGET
