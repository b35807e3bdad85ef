"""What is asked of systemctl and in which order; tests/booted sees a real systemd do it."""

import os
from pathlib import Path

import pytest

from daemon.service import bus
from daemon.service.commands import Answer, runner
from daemon.service.installation import Account
from daemon.service.refusal import ServiceError, WrongUse
from daemon.service.systemd import Systemd
from memsyncd.version import __version__
from tests.daemon.service.planned import Commands, planned

SHOW = "systemctl --user show"
RUNS = Answer(0, "ActiveState=active\nMainPID=42\nNRestarts=0\nUnitFileState=enabled\nStatusText=Nothing waits.\n")


@pytest.fixture
def commands() -> Commands:
    made = Commands()
    made.answers[SHOW] = RUNS
    return made


def service(home: Path, commands: Commands, said: list[str] | None = None) -> Systemd:
    say = (said if said is not None else []).append
    return Systemd(planned(home), commands, {}, say=say, wait=lambda _: None)


def changes(commands: Commands) -> list[str]:
    """Return what was asked, but for looks."""
    return [line.removeprefix("systemctl --user ") for line in commands.asked if not line.startswith(SHOW)]


def test_install_writes_loads_enables_and_starts(tmp_path: Path, commands: Commands) -> None:
    """A socket is bound anew while nobody holds its place, and the service is started last; then it is seen to
    answer."""
    said: list[str] = []
    made = service(tmp_path, commands, said)
    made.install(socket=True)
    assert changes(commands) == [
        "daemon-reload",
        "stop memsyncd.socket memsyncd.service",
        "reset-failed memsyncd.service memsyncd.socket",
        "enable memsyncd.service memsyncd.socket",
        "start memsyncd.socket",
        "restart memsyncd.service",
    ]
    assert said[-1] == f"memsyncd {__version__} runs as pid 42"
    assert made.installed() == ["memsyncd.service", "memsyncd.socket"]
    assert made.directory == tmp_path / ".config/systemd/user"


def test_a_second_install_takes_away_what_is_not_wanted_any_more(tmp_path: Path, commands: Commands) -> None:
    """And writes nothing that is so already."""
    service(tmp_path, commands).install(path=True)
    commands.asked.clear()
    said: list[str] = []
    made = service(tmp_path, commands, said)
    made.install()
    assert changes(commands)[0] == "disable --now memsyncd.path"
    assert made.installed() == ["memsyncd.service"]
    assert not any("wrote" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("pid", "version", "told"),
    [(42, "0.0.1", "version 0.0.1"), (7, __version__, "pid 7"), (0, "", "no daemon answers")],
)
def test_another_daemon_that_answers_is_no_success(
    tmp_path: Path, commands: Commands, pid: int, version: str, told: str
) -> None:
    """The old version that still runs, a second one beside it, or nobody (never-again 102)."""
    commands.pid, commands.version = pid, version
    with pytest.raises(ServiceError, match=told):
        service(tmp_path, commands).install()


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ("ExecMainStatus=78\nNRestarts=0", "memsyncd config check"),
        ("ExecMainStatus=243\nNRestarts=0", "mem0_api_key"),
        ("ExecMainStatus=4\nNRestarts=0", "another daemon serves"),
        ("ExecMainStatus=1\nNRestarts=10\nResult=exit-code", "10 times in a row"),
        ("ExecMainStatus=1\nNRestarts=0\nResult=exit-code", "journalctl --user -u memsyncd.service"),
    ],
)
def test_a_start_that_fails_says_why_and_what_to_type(
    tmp_path: Path, commands: Commands, shown: str, told: str
) -> None:
    """By the exit code and the number of tries."""
    commands.answers[SHOW] = Answer(0, f"ActiveState=failed\n{shown}\n")
    commands.answers["systemctl --user restart"] = Answer(1, "Job failed.")
    with pytest.raises(ServiceError, match=told):
        service(tmp_path, commands).install()
    assert service(tmp_path, commands).state().active == "failed"


def test_a_start_that_takes_long_is_no_failure(tmp_path: Path, commands: Commands) -> None:
    """A migration may take longer than anybody wants to wait at a prompt."""
    commands.answers["systemctl --user restart"] = Answer(124, "systemctl did not end within 180 s")
    said: list[str] = []
    service(tmp_path, commands, said).install()
    assert "still starting" in said[-1]


def test_start_brings_back_what_was_given_up(tmp_path: Path, commands: Commands) -> None:
    """After a start limit socket and path unit have failed with the service, and nothing starts before they are
    reset."""
    service(tmp_path, commands).install(socket=True, path=True)
    commands.asked.clear()
    service(tmp_path, commands).start()
    assert changes(commands) == [
        "reset-failed memsyncd.service memsyncd.socket memsyncd.path",
        "start memsyncd.socket",
        "start memsyncd.path",
        "restart memsyncd.service",
    ]
    commands.asked.clear()
    service(tmp_path, commands).stop()
    assert changes(commands) == ["stop memsyncd.path memsyncd.socket memsyncd.service"]


def test_what_is_not_installed_is_not_started(tmp_path: Path, commands: Commands) -> None:
    """The sentence says how to install it; its state is told without a manager's help."""
    with pytest.raises(ServiceError, match="memsyncd service install"):
        service(tmp_path, commands).start()
    assert service(tmp_path, commands).state().active == "not installed"
    assert service(tmp_path, commands).uninstall() is False


def test_how_it_stands(tmp_path: Path, commands: Commands) -> None:
    """One value of systemd's words and the daemon's own."""
    service(tmp_path, commands).install()
    commands.answers["loginctl show-user ada"] = Answer(0, "yes")
    state = service(tmp_path, commands).state()
    assert (state.active, state.pid, state.version, state.enabled, state.linger) == (
        "running",
        42,
        __version__,
        True,
        True,
    )


def test_a_refusal_of_systemctl_is_told(tmp_path: Path, commands: Commands) -> None:
    """With its words."""
    commands.answers["systemctl --user enable"] = Answer(1, "Read-only file system")
    with pytest.raises(ServiceError, match="Read-only"):
        service(tmp_path, commands).install()


def test_the_way_to_the_users_manager(tmp_path: Path) -> None:
    """Over su and ssh: its directory is found where it exists, another user's is not used, and else the command to type
    is told (never-again 93)."""
    ada = Account("ada", os.getuid(), tmp_path)
    own = tmp_path / str(os.getuid())
    with pytest.raises(WrongUse, match="service install --linger"):
        bus.environment({}, ada, runtime=tmp_path)
    own.mkdir()
    assert bus.environment({}, ada, runtime=tmp_path)["XDG_RUNTIME_DIR"] == str(own)
    stale = {"XDG_RUNTIME_DIR": "/nowhere/4711", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/4711/bus"}
    assert bus.environment(stale, ada, runtime=tmp_path) == {"XDG_RUNTIME_DIR": str(own)}
    right = {"XDG_RUNTIME_DIR": str(own), "DBUS_SESSION_BUS_ADDRESS": "x"}
    assert bus.environment(right, ada, runtime=tmp_path) == right


def test_lingering_names_the_user_and_waits_for_the_manager(tmp_path: Path) -> None:
    """Without a name it fails outside of a session (services.md section 4)."""
    ada = Account("ada", 4242, tmp_path)
    commands = Commands()
    (tmp_path / "4242").mkdir()
    bus.linger(ada, commands, wait=lambda _: (tmp_path / "4242/bus").touch(), runtime=tmp_path)
    assert commands.asked == ["loginctl enable-linger ada"]
    with pytest.raises(ServiceError, match="no manager runs"):
        bus.linger(ada, commands, wait=lambda _: None, runtime=tmp_path / "elsewhere")
    commands.answers["loginctl enable-linger"] = Answer(1, "Access denied")
    with pytest.raises(ServiceError, match="Access denied"):
        bus.linger(ada, commands, wait=lambda _: None, runtime=tmp_path)


def test_commands_are_run_without_input_and_within_a_time(tmp_path: Path) -> None:
    """What is not installed is an answer too."""
    run = runner({"PATH": os.environ["PATH"]})
    assert run(["sh", "-c", "cat; echo $LC_ALL; exit 5"]) == Answer(5, "C")
    assert run(["no-such-manager"]).code == 127
