"""launchd's agent and the order of `launchctl` calls, against a stub: no launchd runs on Linux, and these tests say
nothing of what a real one does."""

import plistlib
from pathlib import Path
from typing import Any

import pytest

from daemon.service import agent_plist
from daemon.service.commands import Answer
from daemon.service.failed_starts import FailedStarts
from daemon.service.installation import Installation
from daemon.service.launchd import BOOTOUT_SECONDS, Launchd
from daemon.service.refusal import ServiceError
from memsyncd.version import __version__
from tests.daemon.service.launchd_keys import faults
from tests.daemon.service.planned import INTERPRETER, Commands, planned

LABEL = agent_plist.LABEL
GONE = Answer(113, f'Could not find service "{LABEL}" in domain')
NO_DOMAIN = Answer(125, "Domain does not support specified action")


class Launchctl(Commands):
    """Plays the domains and one job: `lingers` looks long after its bootout, it is still there."""

    def __init__(self, domain: str, *, is_loaded: bool = False, lingers: int = 0, has_gui: bool = True) -> None:
        super().__init__()
        self.domain, self.is_loaded, self.lingers, self.has_gui = domain, is_loaded, lingers, has_gui

    def __call__(self, words: Any) -> Answer:
        if words[0] != "launchctl":
            return super().__call__(words)
        self.asked.append(" ".join(words[1:]))
        known = max((each for each in self.answers if " ".join(words[1:]).startswith(each)), key=len, default="")
        if known:
            answer = self.answers[known]
            return answer if isinstance(answer, Answer) else answer()
        return self.play(*words[1:])

    def play(self, verb: str, target: str, *_: str) -> Answer:
        domain = target.removesuffix(f"/{LABEL}")
        is_there = self.is_loaded and domain == self.domain
        if domain.startswith("gui/") and not self.has_gui:
            return NO_DOMAIN
        if verb == "print":
            return Answer(0) if target == domain else self._printed(is_there=is_there)
        if verb == "bootout":
            self.is_loaded = self.is_loaded and self.lingers > 0
            return Answer(0)
        if verb == "bootstrap":
            if self.is_loaded:
                return Answer(5, "Bootstrap failed: 5: Input/output error")
            self.is_loaded, self.domain = True, target
        return Answer(0)

    def _printed(self, *, is_there: bool) -> Answer:
        if is_there and self.lingers and "bootout" in " ".join(self.asked):
            self.lingers -= 1
            self.is_loaded = self.lingers > 0
            return Answer(0, "state = SIGTERMed")
        return Answer(0, "\tpid = 42\n\truns = 3\n") if is_there else GONE


@pytest.fixture
def ada(tmp_path: Path) -> Installation:
    return planned(tmp_path, "darwin")


def agent(ada: Installation, launchctl: Launchctl, said: list[str] | None = None) -> Launchd:
    return Launchd(ada, launchctl, {}, say=(said if said is not None else []).append, wait=lambda _: None)


def gui(ada: Installation) -> str:
    return f"gui/{ada.account.uid}"


def changes(launchctl: Launchctl) -> list[str]:
    return [line for line in launchctl.asked if not line.startswith("print")]


def test_the_agents_file_is_made_of_known_keys(ada: Installation, tmp_path: Path) -> None:
    """Every key is launchd's and of its type; the command is absolute; only pending/ directories keep it alive; its end
    has a time limit; started again unless it exited 0."""
    document = plistlib.loads(agent_plist.render(ada))
    assert faults(document) == []
    assert document["ProgramArguments"] == [INTERPRETER, "-P", "-m", "daemon", "run", "--under", "launchd"]
    assert document["QueueDirectories"]
    assert all(path.endswith("/pending") for path in document["QueueDirectories"])
    assert document["KeepAlive"] == {"SuccessfulExit": False}
    assert document["ProcessType"] == "Background"
    assert document["StandardErrorPath"] == f"{tmp_path}/Library/Logs/memsyncd/daemon.log"
    assert b"@" not in agent_plist.render(ada)


def test_odd_paths_stand_literally(tmp_path: Path) -> None:
    """A property list escapes what XML must; launchd expands nothing. What XML cannot hold is refused."""
    odd = planned(tmp_path, "darwin", MEMSYNCD_HOME='/Users/a & "b" <$HOME>')
    document = plistlib.loads(agent_plist.render(odd))
    assert document["EnvironmentVariables"] == {"MEMSYNCD_HOME": '/Users/a & "b" <$HOME>'}
    assert document["StandardErrorPath"].startswith('/Users/a & "b" <$HOME>/')
    assert faults(document) == []


@pytest.mark.parametrize(
    "change",
    [
        {"KeepAlife": True},
        {"RunAtLoad": "yes"},
        {"ThrottleInterval": 1},
        {"ExitTimeOut": 0},
        {"ExitTimeOut": True},
        {"Umask": 77},
        {"ProcessType": "background"},
        {"KeepAlive": {"SucessfulExit": False}},
        {"KeepAlive": {"SuccessfulExit": "false"}},
        {"EnvironmentVariables": {"N": 1}},
        {"EnvironmentVariables": {"MEM0_API_KEY": "x"}},
        {"ProgramArguments": ["memsyncd", "run"]},
        {"ProgramArguments": []},
        {"QueueDirectories": "/x/pending"},
        {"QueueDirectories": ["~/x"]},
        {"LimitLoadToSessionType": ["aqua"]},
        {"StandardErrorPath": "daemon.log"},
        {"Label": ""},
    ],
)
def test_the_table_finds_what_launchd_would_misread(ada: Installation, change: dict[str, Any]) -> None:
    """Each of these passes a check of the syntax alone."""
    document = plistlib.loads(agent_plist.render(ada))
    assert faults(document | change)


def test_a_first_install(ada: Installation) -> None:
    """Nothing is unloaded that is not there; what was disabled is enabled first; launchd's directories are made."""
    launchctl = Launchctl(gui(ada))
    said: list[str] = []
    made = agent(ada, launchctl, said)
    made.install()
    assert changes(launchctl) == [f"enable {gui(ada)}/{LABEL}", f"bootstrap {gui(ada)} {made.file}"]
    assert said == [f"wrote {made.file}", f"memsyncd {__version__} runs as pid 42"]
    assert made.file.stat().st_mode & 0o777 == 0o644
    assert all(directory.is_dir() for directory in ada.pending)


def test_an_install_over_a_running_agent_waits_until_it_is_gone(ada: Installation) -> None:
    """`bootout` returns at once; `bootstrap` before the job is gone fails with 5."""
    launchctl = Launchctl(gui(ada), is_loaded=True, lingers=4)
    agent(ada, launchctl).install()
    asked = launchctl.asked
    first, last = asked.index(f"bootout {gui(ada)}/{LABEL}"), asked.index(f"enable {gui(ada)}/{LABEL}")
    assert asked[first + 1 : last].count(f"print {gui(ada)}/{LABEL}") >= 4
    assert launchctl.is_loaded


def test_one_that_does_not_go_is_told(ada: Installation) -> None:
    """After the time in which launchd kills it, and no later."""
    launchctl = Launchctl(gui(ada), is_loaded=True, lingers=10_000)
    waited: list[float] = []
    with pytest.raises(ServiceError, match="not gone"):
        Launchd(ada, launchctl, {}, wait=waited.append).install()
    assert sum(waited) == BOOTOUT_SECONDS


def test_without_a_login_at_the_screen(ada: Installation) -> None:
    """Over ssh there is no gui domain: the user's own is taken, and the file allows both."""
    launchctl = Launchctl(f"user/{ada.account.uid}", has_gui=False)
    agent(ada, launchctl).install()
    assert changes(launchctl)[-1].startswith(f"bootstrap user/{ada.account.uid} ")
    assert plistlib.loads(agent_plist.render(ada))["LimitLoadToSessionType"] == ["Aqua", "Background"]


def test_a_five_of_what_was_loaded_meanwhile_is_no_failure(ada: Installation) -> None:
    """And one of what is not there is told."""
    launchctl = Launchctl(gui(ada))

    def loaded() -> Answer:
        launchctl.is_loaded = True
        return Answer(5, "Bootstrap failed: 5: Input/output error")

    launchctl.answers["bootstrap"] = loaded
    agent(ada, launchctl).install()
    launchctl.answers["bootstrap"] = Answer(5, "Bootstrap failed: 5: Input/output error")
    with pytest.raises(ServiceError, match="failed \\(5\\)"):
        agent(ada, launchctl).install()


def test_another_version_that_answers_is_no_success(ada: Installation) -> None:
    """The old daemon that somebody started by hand (never-again 102); and nobody at all."""
    launchctl = Launchctl(gui(ada))
    launchctl.version = "0.0.1"
    with pytest.raises(ServiceError, match=r"0\.0\.1"):
        agent(ada, launchctl).install()
    launchctl.pid = 0
    with pytest.raises(ServiceError, match=r"daemon\.log"):
        agent(ada, launchctl).install()


def test_start_and_stop(ada: Installation) -> None:
    """A start forgets the failed ones; a loaded agent is kicked, another one loaded; a stop unloads it, for launchd
    would start it again."""
    launchctl = Launchctl(gui(ada))
    made = agent(ada, launchctl)
    with pytest.raises(ServiceError, match="not installed"):
        made.start()
    made.install()
    failed = FailedStarts(ada.places.data)
    failed.begin(1.0)
    launchctl.asked.clear()
    made.start()
    assert changes(launchctl) == [f"kickstart -k {gui(ada)}/{LABEL}"]
    assert not failed.read().starts
    made.stop()
    assert not launchctl.is_loaded
    made.start()
    assert launchctl.is_loaded


def test_how_it_stands(ada: Installation) -> None:
    """By launchd's word and the daemon's; a daemon that stays down after failed starts says why."""
    launchctl = Launchctl(gui(ada))
    made = agent(ada, launchctl)
    assert made.state().active == "not installed"
    made.install()
    state = made.state()
    assert (state.active, state.pid, state.version, state.restarts) == ("running", 42, __version__, 2)
    launchctl.is_loaded, launchctl.pid = False, 0
    assert made.state().active == "stopped"
    failed = FailedStarts(ada.places.data)
    for second in range(5):
        failed.begin(float(second))
    failed.tell("The configuration is wrong.")
    state = made.state()
    assert (state.active, "configuration is wrong" in state.why) == ("failed", True)
    assert made.uninstall() is True
    assert made.uninstall() is False
