"""The agent under launchd: installed, replaced and removed by `launchctl`, through a `Run`.

No Mac was at hand: the order of the calls follows launchctl(1) and the reports in services.md section 5, and is tested
against a stub.
"""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from daemon.private_directory import make_private
from daemon.service import answering, files
from daemon.service.agent_plist import EXIT_SECONDS, FILE, LABEL, LOG_FILE, render
from daemon.service.commands import Answer, Run
from daemon.service.failed_starts import FailedStarts
from daemon.service.installation import Installation, environment_of
from daemon.service.refusal import ServiceError
from daemon.service.state import ServiceState
from memsyncd.version import __version__

BOOTOUT_SECONDS = EXIT_SECONDS + 10.0
"""`bootout` returns before the job is gone; it is gone when it has been killed at the latest."""

LOOK_SECONDS = 0.5
ANSWERING_SECONDS = 40.0
"""A first start may be held up to ten seconds by the throttle, and scan for a while."""

IO_ERROR = 5
"""`bootstrap` of what is loaded, or still going away: it alone tells nothing."""

_PID = re.compile(r"^\s*pid = (\d+)", re.MULTILINE)
_RUNS = re.compile(r"^\s*runs = (\d+)", re.MULTILINE)

Say = Callable[[str], None]


class Launchd:
    """One user's agent. `wait` sleeps for seconds."""

    def __init__(
        self,
        planned: Installation,
        run: Run,
        environ: Mapping[str, str],
        *,
        say: Say = lambda _: None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._planned = planned
        self._run = run
        self._environ = environment_of(planned, environ)
        self._say = say
        self._wait = wait
        self.file = planned.account.home / "Library/LaunchAgents" / FILE

    def install(self) -> None:
        """Write the agent, load it in place of what is loaded, and see that what answers is this version."""
        content = render(self._planned)
        for directory in (self._planned.places.data, self._logs(), *self._planned.pending):
            make_private(directory)  # launchd makes no directory, and watches none that is missing
        self._unload()
        if files.replace(self.file, content):
            self._say(f"wrote {self.file}")
        self._load()
        self._verify()

    def uninstall(self) -> bool:
        """Unload the agent and remove its file; True where there was one."""
        was_loaded = self._unload()
        removed = files.remove(self.file)
        if removed:
            self._say(f"removed {self.file}")
        return was_loaded or removed

    def start(self) -> None:
        """Load the agent, or start it where it is loaded and stays down; its failed starts are forgotten."""
        if not self.file.exists():
            raise ServiceError("The service is not installed: `memsyncd service install`.")
        domain = self._domain()
        if self._is_loaded(domain):
            FailedStarts(self._planned.places.data).forget()
            self._must("kickstart", "-k", f"{domain}/{LABEL}")
        else:
            self._load()
        self._verify()

    def stop(self) -> None:
        """Unload the agent; while it is loaded, launchd would start it again. It is loaded at the next login."""
        if not self._unload():
            self._say("it was not loaded")

    def state(self) -> ServiceState:
        """Return how the agent stands, by launchd's word and the daemon's."""
        answer = self._ctl("print", f"{self._domain()}/{LABEL}")
        pid = _number(_PID, answer.output) if answer.ok else 0
        running = answering.ask(self._planned, self._environ, self._run) if pid else answering.Running()
        failed = FailedStarts(self._planned.places.data).read()
        stands = "running" if pid else "stopped"
        why = remedy = ""
        if not self.file.exists():
            stands = "not installed"
        elif failed.stays_down and not running.pid:
            stands, why = "failed", f"it failed {len(failed.starts)} times in a row: {failed.why or 'see its log'}"
            remedy = f"{self._logs() / LOG_FILE} has its last words; then `memsyncd service start`."
        return ServiceState(
            manager="launchd",
            active=stands,
            pid=pid,
            version=running.version,
            restarts=max(0, _number(_RUNS, answer.output) - 1) if answer.ok else 0,
            enabled=self.file.exists(),
            sentence=running.sentence,
            why=why,
            remedy=remedy,
            files=(str(self.file),) if self.file.exists() else (),
        )

    def _load(self) -> None:
        FailedStarts(self._planned.places.data).forget()
        domain = self._domain()
        self._must("enable", f"{domain}/{LABEL}")  # what was disabled cannot be loaded
        answer = self._ctl("bootstrap", domain, str(self.file))
        if answer.code == IO_ERROR and self._is_loaded(domain):
            return  # loaded meanwhile, at a login
        if not answer.ok:
            failed = f"`launchctl bootstrap {domain} {self.file}` failed ({answer.code}): {answer.output}."
            raise ServiceError(f"{failed} A home on another volume, or a file that others can write, is refused so.")

    def _unload(self) -> bool:
        """Unload from whichever domain has it, and wait until it is gone; True where it was loaded."""
        was_loaded = False
        for domain in self._domains():
            if not self._is_loaded(domain):
                continue
            was_loaded = True
            self._ctl("bootout", f"{domain}/{LABEL}")
            waited = 0.0
            while self._is_loaded(domain):
                if waited >= BOOTOUT_SECONDS:
                    raise ServiceError(f"The old agent is not gone after {BOOTOUT_SECONDS:g} s: log out and in again.")
                self._wait(LOOK_SECONDS)
                waited += LOOK_SECONDS
        return was_loaded

    def _domains(self) -> tuple[str, str]:
        uid = self._planned.account.uid
        return f"gui/{uid}", f"user/{uid}"

    def _domain(self) -> str:
        """Return the domain to load into: `gui` exists only while somebody is logged in at the screen."""
        gui, user = self._domains()
        return gui if self._ctl("print", gui).ok else user

    def _is_loaded(self, domain: str) -> bool:
        return self._ctl("print", f"{domain}/{LABEL}").ok

    def _verify(self) -> None:
        running = answering.Running()
        waited = 0.0
        while waited < ANSWERING_SECONDS:
            running = answering.ask(self._planned, self._environ, self._run)
            if running.version == __version__:
                self._say(f"memsyncd {running.version} runs as pid {running.pid}")
                return
            self._wait(LOOK_SECONDS)
            waited += LOOK_SECONDS
        if running.pid:
            raise ServiceError(
                f"A daemon of version {running.version} with pid {running.pid} answers: end that one and install again."
            )
        raise ServiceError(f"The agent is loaded, but no daemon answers: {self._logs() / LOG_FILE} says why.")

    def _logs(self) -> Path:
        return self._planned.places.logs or self._planned.places.data

    def _must(self, *words: str) -> None:
        answer = self._ctl(*words)
        if not answer.ok:
            raise ServiceError(f"`launchctl {' '.join(words)}` failed ({answer.code}): {answer.output}.")

    def _ctl(self, *words: str) -> Answer:
        return self._run(["launchctl", *words])


def _number(pattern: "re.Pattern[str]", text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0
