"""The service manager asked, played by a stub: none, no way to it, not installed, running, failed, seeing too little."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.doctor import service
from daemon.doctor.check import Check
from daemon.doctor.examination import Examination
from daemon.service.commands import Answer
from tests.daemon.doctor.examined import examine_home, found

ASKER = os.getuid() or 54_321
"""Root has no service of its own."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with a session's runtime directory."""
    (tmp_path / "run").mkdir()
    os.chown(tmp_path / "run", ASKER, -1)
    (tmp_path / "booted").mkdir()
    return tmp_path


def seen(home: Path, *answers: str, platform: str = "linux", **environ: str) -> dict[str, Check]:
    """Return what is found where the manager's commands print `answers`, by the word that is in the command."""
    given = dict(answer.split(": ", 1) for answer in answers)

    def run(words: Sequence[str]) -> Answer:
        told = next((answer for word, answer in given.items() if word in words), None)
        return Answer(1) if told is None else Answer(0, told.replace("; ", "\n"))

    environ = {"XDG_RUNTIME_DIR": str(home / "run"), "USER": service.account_name(ASKER), **environ}
    examined: Examination = replace(examine_home(home, uid=ASKER, **environ), platform=platform)
    return found(service.probes(examined, lambda _: run, home / "booted"))


def installed(home: Path, *names: str) -> None:
    directory = home / ".config/systemd/user"
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).write_text("[Unit]\n")


RUNNING = "show: ActiveState=active; MainPID=7; NRestarts=2; UnitFileState=enabled"


def test_a_machine_without_systemd_is_no_fault(home: Path) -> None:
    """A container's supervisor is as good."""
    (home / "booted").rmdir()
    told = seen(home)
    assert not told["service"].ran
    assert "does not run systemd" in told["service"].message


def test_one_that_is_not_installed_is_no_fault(home: Path) -> None:
    """A hint says how to install it."""
    told = seen(home)
    assert (told["service"].ran, told["lingering"].ran) == (False, False)
    assert "service install" in told["service"].remedy


def test_no_way_to_the_manager(home: Path) -> None:
    """By su and cron nothing can be asked: no fault, unless a service is installed that nobody starts."""
    assert not seen(home, XDG_RUNTIME_DIR="/nowhere")["service"].ran
    installed(home, "memsyncd.service")
    told = seen(home, XDG_RUNTIME_DIR="/nowhere")
    assert not told["service"].ok
    assert "enable-linger" in told["service"].remedy


def test_one_that_runs_and_lingers_is_well(home: Path) -> None:
    """Its pid and restarts are told."""
    installed(home, "memsyncd.service")
    told = seen(home, RUNNING, "show-user: yes")
    assert (told["service"].ok, told["lingering"].ok) == (True, True)
    assert "pid 7, restarted 2 times" in told["service"].message


def test_a_watching_unit_that_failed_and_a_logout_are_told(home: Path) -> None:
    """Socket and path fail with the service and watch for nothing any more (services.md section 3)."""
    installed(home, "memsyncd.service", "memsyncd.path")
    told = seen(home, RUNNING, "show-user: no", "is-failed: failed")
    assert "memsyncd.path failed" in told["service"].message
    assert not told["lingering"].ok


def test_a_setting_that_only_the_shell_has_is_told(home: Path) -> None:
    """The service would not see it (never-again 95); a password in it is not shown."""
    installed(home, "memsyncd.service")
    told = seen(home, RUNNING, "show-user: yes", MEMSYNCD_HTTP_PROXY="http://ada:hunter2@proxy.example.org:3128")
    assert not told["service"].ok
    assert "http.proxy is set here" in told["service"].message
    assert "hunter2" not in told["service"].message


def test_launchd_is_asked_on_a_mac(home: Path) -> None:
    """There is no lingering there."""
    told = seen(home, platform="darwin")
    assert not told["service"].ran
    assert not told["lingering"].ran
