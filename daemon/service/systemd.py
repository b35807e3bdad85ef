"""The service under systemd: a user's, or the machine's. Everything is done by `systemctl`, through a `Run`."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from daemon.service import answering, bus, files
from daemon.service.commands import TOO_LONG, Answer, Run
from daemon.service.installation import Installation, environment_of
from daemon.service.refusal import ServiceError
from daemon.service.state import ServiceState
from daemon.service.units import PATH, SERVICE, SOCKET, UNITS, render
from daemon.settings.load import CREDENTIAL
from memsyncd.version import __version__

SYSTEM_UNITS = Path("/etc/systemd/system")

ANSWERING_SECONDS = 15.0
"""After READY=1 the daemon answers at once; this is for a machine under load."""

_ASKED = "LoadState,ActiveState,SubState,Result,MainPID,NRestarts,StatusText,UnitFileState,ExecMainStatus"
_MISCONFIGURED, _RUNS_ALREADY, _NO_CREDENTIAL = "78", "4", "243"

Say = Callable[[str], None]
"""Tells a person what was done."""


class Systemd:
    """One installation. `environ` is what leads to the manager (`daemon.service.bus`), `wait` sleeps for seconds."""

    def __init__(
        self,
        planned: Installation,
        run: Run,
        environ: Mapping[str, str],
        *,
        say: Say = lambda _: None,
        wait: Callable[[float], None] = time.sleep,
        directory: Path | None = None,
    ) -> None:
        self._planned = planned
        self._run = run
        self._environ = environment_of(planned, environ)
        self._say = say
        self._wait = wait
        self.directory = directory or _directory(planned)

    def install(self, *, socket: bool = False, path: bool = False) -> None:
        """Write the units, start them in place of what runs, and see that what answers is this version.

        Units that are not asked for any more are removed. Raises Incomplete before anything is written, ServiceError
        where systemd refuses.
        """
        texts = render(self._planned)
        chosen = [SERVICE, *([SOCKET] if socket else []), *([PATH] if path else [])]
        self._drop([name for name in UNITS if name not in chosen])
        for name in chosen:
            if files.replace(self.directory / name, texts[name].encode()):
                self._say(f"wrote {self.directory / name}")
        self._must("daemon-reload")
        self._ctl("stop", *reversed(chosen))  # a socket is bound anew, and the daemon must not hold its place
        self._ctl("reset-failed", *chosen)
        self._must("enable", *chosen)
        self._begin(chosen)

    def uninstall(self) -> bool:
        """Stop and remove every unit; True where there was one."""
        found = self.installed()
        self._drop(list(UNITS))
        self._ctl("daemon-reload")
        return bool(found)

    def start(self) -> None:
        """Start what is installed, after a start limit too: socket and path fail with the service (services.md
        section 3, traps 3 and 5) and are started again with it."""
        chosen = self._chosen()
        self._ctl("reset-failed", *chosen)
        self._begin(chosen)

    def stop(self) -> None:
        """Stop the service and what would start it again."""
        self._must("stop", *reversed(self._chosen()))

    def installed(self) -> list[str]:
        """Return the names of the units that are there."""
        return [name for name in UNITS if (self.directory / name).exists()]

    def state(self) -> ServiceState:
        """Return how the service stands."""
        shown = self._show()
        active = {"active": "running", "reloading": "running", "activating": "starting", "failed": "failed"}
        stands = active.get(shown.get("ActiveState", ""), "stopped")
        if not self.installed():
            stands = "not installed"
        why, remedy = self._trouble(shown, stands)
        running = answering.ask(self._planned, self._environ, self._run) if stands == "running" else answering.Running()
        return ServiceState(
            manager="systemd" if self._planned.is_system else "systemd --user",
            active=stands,
            pid=int(shown.get("MainPID") or 0),
            version=running.version,
            restarts=int(shown.get("NRestarts") or 0),
            enabled=shown.get("UnitFileState") == "enabled",
            sentence=shown.get("StatusText", ""),
            why=why,
            remedy=remedy,
            linger=None if self._planned.is_system else bus.lingers(self._planned.account, self._run),
            files=tuple(str(self.directory / name) for name in self.installed()),
        )

    def _chosen(self) -> list[str]:
        found = self.installed()
        if SERVICE not in found:
            system = " --system" if self._planned.is_system else ""
            raise ServiceError(f"The service is not installed: `memsyncd service install{system}`.")
        return found

    def _begin(self, chosen: list[str]) -> None:
        for name in (each for each in chosen if each != SERVICE):
            self._must("start", name)
        answer = self._ctl("restart", SERVICE)
        if answer.code == TOO_LONG:  # systemd gives it more time for as long as it works
            self._say("it is still starting: `memsyncd service status` tells when it is ready")
        elif answer.ok:
            self._verify()
        else:
            why, remedy = self._trouble(self._show(), "failed")
            raise ServiceError(f"The service does not start: {why or answer.output}. {remedy}".strip())

    def _verify(self) -> None:
        """See that the process systemd started is the one that answers, and of this version (never-again 102)."""
        pid = int(self._show().get("MainPID") or 0)
        running = answering.Running()
        for _ in range(int(ANSWERING_SECONDS)):
            running = answering.ask(self._planned, self._environ, self._run)
            if running.pid == pid and running.version == __version__:
                self._say(f"memsyncd {running.version} runs as pid {pid}")
                return
            self._wait(1.0)
        if not running.pid:
            raise ServiceError(f"The service runs as pid {pid}, but no daemon answers for {self._planned.places.data}.")
        raise ServiceError(
            f"The service runs as pid {pid}, but a daemon of version {running.version} with pid {running.pid} answers: "
            f"end that one and install again."
        )

    def _trouble(self, shown: Mapping[str, str], stands: str) -> tuple[str, str]:
        if stands != "failed":
            return "", ""
        start = "`memsyncd service start" + (" --system`" if self._planned.is_system else "`")
        status = shown.get("ExecMainStatus", "")
        if status == _MISCONFIGURED:
            return "the configuration is wrong (exit 78)", f"`memsyncd config check` says where; then {start}."
        if status == _RUNS_ALREADY:
            return (
                f"another daemon serves {self._planned.places.data} (exit 4)",
                f"`memsyncd status` shows its pid: end it; then {start}.",
            )
        if status == _NO_CREDENTIAL:
            key = self._planned.places.config_file.with_name(CREDENTIAL)
            return f"the key's file {key} cannot be read", f"Put the key there, mode 0600; then {start}."
        if int(shown.get("NRestarts") or 0):
            return f"it failed {shown['NRestarts']} times in a row ({shown.get('Result')})", self._log_hint(start)
        return f"it ended with {shown.get('Result')} ({status})", self._log_hint(start)

    def _log_hint(self, start: str) -> str:
        mode = "" if self._planned.is_system else " --user"
        return f"`journalctl{mode} -u {SERVICE} -n 20` has its last words; then {start}."

    def _drop(self, names: list[str]) -> None:
        present = [name for name in names if (self.directory / name).exists()]
        if present:
            self._ctl("disable", "--now", *reversed(present))
            self._ctl("reset-failed", *present)
        for name in present:
            files.remove(self.directory / name)
            self._say(f"removed {self.directory / name}")

    def _show(self) -> dict[str, str]:
        answer = self._ctl("show", SERVICE, "-p", _ASKED)
        return dict(line.split("=", 1) for line in answer.output.splitlines() if "=" in line)

    def _must(self, *words: str) -> None:
        answer = self._ctl(*words)
        if not answer.ok:
            raise ServiceError(f"`systemctl {' '.join(words)}` failed: {answer.output or answer.code}.")

    def _ctl(self, *words: str) -> Answer:
        return self._run(["systemctl", *([] if self._planned.is_system else ["--user"]), *words])


def _directory(planned: Installation) -> Path:
    if planned.is_system:
        return SYSTEM_UNITS
    # the manager's own XDG_CONFIG_HOME counts, and a shell's does not reach it: ~/.config is always searched
    return planned.account.home / ".config/systemd/user"
