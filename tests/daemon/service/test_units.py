"""The units as they are rendered, and what systemd's own checker says of them."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.places import resolve
from daemon.service import templates, units
from daemon.service.installation import Account, of_system
from daemon.service.refusal import Incomplete
from tests.daemon.service.planned import INTERPRETER, planned

ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(
    ANALYZE is None and not os.environ.get("MEMSYNCD_REQUIRE_BOOT"), reason="systemd-analyze is not installed"
)

THRESHOLD = 20
"""Ten times the exposure that `systemd-analyze security` may find in the system unit at most."""


def rendered(home: Path, *, is_system: bool) -> dict[str, str]:
    if is_system:
        user = "daemon"  # an account that is everywhere
        return units.render(of_system(Account(user, 1, home), sys.executable))
    return units.render(replace(planned(home, MEMSYNCD_HOME=str(home / 'a "b" 5%')), command=(sys.executable, "run")))


def checked(words: list[str], directory: Path) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(directory), "LC_ALL": "C"}
    return subprocess.run(
        [str(ANALYZE), *words], cwd=directory, env=environ, capture_output=True, text=True, check=False
    )


@needs_systemd
@pytest.mark.parametrize("is_system", [False, True])
def test_systemd_finds_nothing_wrong(tmp_path: Path, is_system: bool) -> None:
    """Service, socket and path unit, in the mode they are for; a warning is a failure."""
    texts = rendered(tmp_path, is_system=is_system)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    mode = [] if is_system else ["--user"]
    done = checked([*mode, "verify", "--man=no", "--recursive-errors=one", *(f"./{name}" for name in texts)], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@needs_systemd
def test_a_fleets_workers_have_a_template_that_is_locked_in_as_well(tmp_path: Path) -> None:
    """It is written by hand into place: only its program's path is changed, here to one that is there."""
    text = templates.read("systemd/system/memsyncd-worker@.service")
    (tmp_path / "memsyncd-worker@.service").write_text(text.replace("/opt/memsyncd/bin/memsyncd", sys.executable))
    unit = "./memsyncd-worker@1.service"
    (tmp_path / unit).symlink_to("memsyncd-worker@.service")
    done = checked(["verify", "--man=no", "--recursive-errors=one", unit], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    scored = checked(["security", "--offline=true", "--no-pager", f"--threshold={THRESHOLD}", unit], tmp_path)
    assert scored.returncode == 0, scored.stdout[-500:]


@needs_systemd
def test_the_system_unit_is_locked_in(tmp_path: Path) -> None:
    """No weaker than the figure it has been brought to; a user's unit cannot have most of what is scored."""
    (tmp_path / units.SERVICE).write_text(rendered(tmp_path, is_system=True)[units.SERVICE])
    words = ["security", "--offline=true", "--no-pager", f"--threshold={THRESHOLD}", f"./{units.SERVICE}"]
    done = checked(words, tmp_path)
    assert done.returncode == 0, done.stdout[-500:]


def test_a_users_socket_is_where_hooks_look(tmp_path: Path) -> None:
    """In the session's directory, or below MEMSYNCD_HOME where that is set: elsewhere nobody would ever ask."""
    assert "\nListenStream=%t/memsyncd/status.sock\n" in units.render(planned(tmp_path))[units.SOCKET]
    home = tmp_path / "5%"
    wanted = resolve({"MEMSYNCD_HOME": str(home)}, tmp_path, os.getuid(), "linux").status_socket
    told = f"\nListenStream={str(wanted).replace('%', '%%')}\n"
    assert told in units.render(planned(tmp_path, MEMSYNCD_HOME=str(home)))[units.SOCKET]


def test_what_a_user_unit_must_not_have(tmp_path: Path) -> None:
    """Nothing that needs a namespace: some user managers ignore it, others do not start the service."""
    text = rendered(tmp_path, is_system=False)[units.SERVICE]
    for setting in ("ProtectSystem", "ProtectHome", "Private", "CapabilityBoundingSet", "StateDirectory", "User="):
        assert f"\n{setting}" not in text
    assert "WantedBy=default.target" in text


@pytest.mark.parametrize("is_system", [False, True])
def test_the_socket_does_not_go_with_the_service(tmp_path: Path, is_system: bool) -> None:
    """It lies in no RuntimeDirectory= of the service, and only its owner may use it."""
    texts = rendered(tmp_path, is_system=is_system)
    (listen,) = [line for line in texts[units.SOCKET].splitlines() if line.startswith("ListenStream=")]
    directories = [line for line in texts[units.SERVICE].splitlines() if line.startswith("RuntimeDirectory=")]
    assert not any(f"%t/{line.partition('=')[2]}/" in listen for line in directories)
    assert "SocketMode=0600" in texts[units.SOCKET]


def test_settings_are_in_the_sections_where_they_count(tmp_path: Path) -> None:
    """The start limit is [Unit]'s, and permanent faults are not started again; a restart rate that the limit never
    sees would go on for ever (never-again 98, 100)."""
    for is_system in (False, True):
        unit, _, service = rendered(tmp_path, is_system=is_system)[units.SERVICE].partition("[Service]")
        values = dict(line.split("=", 1) for line in (unit + service).splitlines() if "=" in line and line[0] != "#")
        assert "StartLimitIntervalSec=" in unit
        assert "RestartPreventExitStatus=78 4 243" in service
        assert int(values["RestartSec"]) * int(values["StartLimitBurst"]) < int(values["StartLimitIntervalSec"])
        assert values["Restart"] == "on-failure"


def test_the_key_is_a_credential_where_its_file_is(tmp_path: Path) -> None:
    """By name only where there is a file, for one that is missing keeps the service from starting; never a variable."""
    assert "LoadCredential" not in units.render(planned(tmp_path))[units.SERVICE]
    key = tmp_path / ".config/memsyncd/mem0_api_key"
    key.parent.mkdir(parents=True)
    key.touch()
    assert f"LoadCredential=mem0_api_key:{key}\n" in units.render(planned(tmp_path))[units.SERVICE]


def test_the_path_unit_watches_whole_handoffs_of_every_spool(tmp_path: Path) -> None:
    """Of those that are there and of harnesses yet to come; where the path itself looks like a pattern, the directory."""
    (tmp_path / ".local/share/memsyncd/spools/codex").mkdir(parents=True)
    lines = units.render(planned(tmp_path))[units.PATH].splitlines()
    spools = tmp_path / ".local/share/memsyncd/spools"
    assert {f"PathExistsGlob={spools}/{name}/pending/*.json" for name in ("codex", "claude-code")} <= set(lines)
    odd = units.render(planned(tmp_path, MEMSYNCD_HOME="/srv/[x]"))[units.PATH]
    assert "DirectoryNotEmpty=/srv/[x]/spools/claude-code/pending" in odd


def test_nothing_is_rendered_by_halves(tmp_path: Path) -> None:
    """A place without a value, and a path that no unit can hold, are refused."""
    with pytest.raises(templates.Unfilled):
        templates.fill("ExecStart=@COMMAND@", {})
    with pytest.raises(templates.Unfilled):
        templates.fill("ExecStart=@COMMAND@", {"COMMAND": ""})
    with pytest.raises(Incomplete):
        units.render(planned(tmp_path, MEMSYNCD_HOME="/a\nExecStartPre=/bin/evil"))
    assert "@" not in "".join(
        line
        for text in units.render(planned(tmp_path)).values()
        for line in text.splitlines()
        if line[:1] != "#" and "@system" not in line
    )


def test_the_interpreter_is_absolute_and_no_directory_is_searched(tmp_path: Path) -> None:
    """Whatever directory it starts in, and whatever lies there."""
    assert f"ExecStart={INTERPRETER} -P -m daemon run\n" in units.render(planned(tmp_path))[units.SERVICE]
