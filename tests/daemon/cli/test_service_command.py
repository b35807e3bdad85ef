"""`service`: which account may do what, and what is printed. What it does to a real systemd: tests/booted."""

import json
import plistlib
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from daemon.service import bus


@pytest.fixture
def ada(tmp_path: Path) -> Surroundings:
    return Surroundings(environ={"HOME": str(tmp_path)}, home=tmp_path, uid=1, platform="linux")


def test_the_units_are_printed_for_anybody(ada: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a manager, an account or a configuration; MEMSYNCD_HOME goes along, as in hooks."""
    around = replace(ada, environ={"MEMSYNCD_HOME": "/srv/m"})
    assert main(["service", "print"], around) == 0
    assert 'Environment="MEMSYNCD_HOME=/srv/m"' in capsys.readouterr().out
    assert main(["service", "print", "--unit", "path"], around) == 0
    assert "/srv/m/spools/claude-code/pending/*.json" in capsys.readouterr().out
    assert main(["service", "print", "--system", "--unit", "socket", "--run-as", "nobody-yet"], around) == 0
    assert "SocketUser=nobody-yet" in capsys.readouterr().out
    assert main(["service", "print"], replace(around, platform="darwin")) == 0
    assert plistlib.loads(capsys.readouterr().out.encode())["Label"] == "com.memsyncd.agent"


@pytest.mark.parametrize(
    ("who", "words", "told"),
    [
        ((0, "linux"), [], "as grace, without sudo"),
        ((1, "linux"), ["--system"], "sudo "),
        ((0, "linux"), ["--system", "--run-as", "nobody-yet"], "useradd --system"),
        ((0, "linux"), ["--system", "--run-as", "root"], "never runs as root"),
        ((1, "darwin"), ["--system"], "no --system"),
    ],
)
def test_the_wrong_account_is_told_the_right_command(
    ada: Surroundings, capsys: pytest.CaptureFixture[str], who: tuple[int, str], words: list[str], told: str
) -> None:
    """Exit 2, and nothing was done (never-again 102)."""
    around = replace(ada, uid=who[0], platform=who[1], environ={"SUDO_USER": "grace"})
    for verb in ("install", "uninstall", "start", "stop", "status"):
        assert main(["service", verb, *words], around) == 2
        assert told in capsys.readouterr().err
    assert not list(ada.home.iterdir())


def test_a_machine_without_systemd(
    ada: Surroundings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a supervisor of another kind needs to know."""
    monkeypatch.setattr(bus, "BOOTED", ada.home / "none")
    assert main(["service", "status"], ada) == 1
    assert "78" in capsys.readouterr().err


def test_systemd_without_a_manager_for_the_user(
    ada: Surroundings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way in is told (never-again 93)."""
    monkeypatch.setattr(bus, "BOOTED", ada.home)
    assert main(["service", "start"], ada) == 2
    assert "--linger" in capsys.readouterr().err


def test_an_agent_that_is_not_there(ada: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """Stopped, and told as JSON too; options of the other manager are refused."""
    around = replace(ada, platform="darwin")
    assert main(["service", "status", "--json"], around) == 3
    assert json.loads(capsys.readouterr().out)["active"] == "not installed"
    assert main(["service", "status"], around) == 3
    assert "launchd: not installed" in capsys.readouterr().out
    assert main(["service", "install", "--linger"], around) == 2
    assert main(["service", "start"], around) == 1
    assert main(["service", "uninstall"], around) == 0
