"""The platform's API key, from wherever it comes, read again when it changes, and never shown.

Order: environment (MEM0_API_KEY, or a plugin's option), `api_key_file`, systemd's credential `mem0_api_key`,
`api_key_command`; the first that has one counts. The environment is first as it is for every setting.
"""

import contextlib
import hashlib
import os
import shlex
import signal
import stat
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from daemon.settings import Settings
from daemon.settings.environment import API_KEY_VARIABLES, first_set
from daemon.settings.load import CREDENTIAL
from memsyncd.clock import Clock

COMMAND_SECONDS = 10.0
"""What `api_key_command` gets before it and its children are killed."""

COMMAND_AGAIN_SECONDS = 60.0
"""How soon a command that gave no key is asked again."""

COMMAND_AGAIN_AFTER_REFUSAL_SECONDS = 10.0
"""How soon one whose key was refused is: a changed key counts within 15 s (CONTRACT: Attempts)."""

_MAX_BYTES = 4096
_SHELL_WORDS = frozenset("|&;<>()$`\\\"'*?[]#~=%\n")
"""Characters by which a command may need a shell. Quotes alone do not, but a shell reads them the same."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A key, or why there is none; `origin` says where it was looked for."""

    key: str = ""
    origin: str = ""
    problem: str = ""
    warning: str = ""


class KeySource:
    """Safe from any thread. Asking is cheap (one stat) but for the command, which holds its caller up to 10 s."""

    def __init__(
        self,
        *,
        environment_key: str = "",
        environment_name: str = API_KEY_VARIABLES[0],
        file: Path | None = None,
        credential: Path | None = None,
        command: str = "",
        command_environment: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._environment = _judged(environment_key, environment_name) if environment_key.strip() else None
        self._files = [
            _File(path, origin) for path, origin in ((file, "api_key_file"), (credential, "credential")) if path
        ]
        self._command = _Command(command, command_environment or {}, (clock or Clock()).monotonic) if command else None
        self._lock = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings, environ: Mapping[str, str], clock: Clock | None = None) -> Self:
        """Return the source that settings and environment name."""
        variable = first_set(environ, API_KEY_VARIABLES)
        credentials = environ.get("CREDENTIALS_DIRECTORY", "")
        file = settings.platform.api_key_file
        return cls(
            environment_key=environ.get(variable, ""),
            environment_name=variable,
            file=Path(file) if file else None,
            credential=Path(credentials) / CREDENTIAL if credentials else None,
            command=settings.platform.api_key_command,
            command_environment=environ,
            clock=clock,
        )

    def __repr__(self) -> str:
        """Say where the key is from, and nothing of it."""
        return f"KeySource({self.origin() or 'no key'})"

    def current(self) -> str:
        """Return the key as of now, empty if there is none (`problems` says why)."""
        return self._found().key

    def origin(self) -> str:
        """Return where the key is from, for a person: a variable, a file's path, or the command's setting."""
        return self._found().origin

    def problems(self) -> list[str]:
        """Return a sentence for each source that is set up and gives no key, and for a file that others can read."""
        with self._lock:
            looked = self._look()
        return [sentence for found in looked for sentence in (found.problem, found.warning) if sentence]

    def fingerprint(self) -> str:
        """Return 16 hex digits that tell one key from another, empty if there is none. The command is not run again
        for it."""
        return _fingerprint(self.current())

    def changed_since(self, fingerprint: str) -> bool:
        """Tell whether there is a key now, and another than the refused one of that fingerprint.

        To be asked after a refusal: the command is then run again, at most every 10 s.
        """
        with self._lock:
            if self._command is not None:
                self._command.doubt()
        now = self.fingerprint()
        return bool(now) and now != fingerprint

    def close(self) -> None:
        """Kill the command if it runs; for a stop within its deadline. No key comes from it any more."""
        if self._command is not None:
            self._command.close()

    def _found(self) -> _Found:
        with self._lock:
            looked = self._look()
        return looked[-1] if looked and looked[-1].key else _Found()

    def _look(self) -> list[_Found]:
        """Look at one source after another until one has a key."""
        looked: list[_Found] = []
        if self._environment is not None:
            looked.append(self._environment)
        for source in (*self._files, self._command):
            if looked and looked[-1].key:
                break
            if source is not None:
                looked.append(source.look())
        return looked


class _File:
    """A file with the key as its only line; read again when its inode, size or times change."""

    def __init__(self, path: Path, origin: str) -> None:
        self._path = path
        self._origin = f"{origin} {path}"
        self._seen: tuple[int, ...] = ()
        self._found = _Found()

    def look(self) -> _Found:
        try:
            found = self._path.stat()
            seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if seen != self._seen:
                self._found, self._seen = self._read(found), seen
        except OSError as error:
            self._seen = ()
            self._found = _Found(origin=self._origin, problem=f"{self._origin} cannot be read: {error.strerror}.")
        return self._found

    def _read(self, found: os.stat_result) -> _Found:
        if not stat.S_ISREG(found.st_mode):
            return _Found(origin=self._origin, problem=f"{self._origin} is no regular file.")
        with self._path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        warning = ""
        if found.st_mode & 0o077 and self._origin.startswith("api_key_file"):
            warning = f"{self._origin} can be read by other users: `chmod 600 {self._path}`."
        judged = _judged(content.decode("utf-8-sig", errors="replace"), self._origin)
        return _Found(judged.key, judged.origin, judged.problem, warning)


class _Command:
    """A command that prints the key; its answer is kept until it is doubted."""

    def __init__(self, command: str, environ: Mapping[str, str], monotonic: Callable[[], float]) -> None:
        self._arguments = _arguments(command)
        self._environ = dict(environ)
        self._monotonic = monotonic
        self._ran_at: float | None = None
        self._found = _Found()
        self._running: subprocess.Popen[bytes] | None = None
        self._closed = False

    def close(self) -> None:
        """Kill it while another thread may be waiting for it."""
        self._closed = True
        running = self._running
        if running is not None:
            _kill(running)

    def doubt(self) -> None:
        """Run it again at the next look, if it did not run a moment ago."""
        if self._ran_at is not None and self._monotonic() - self._ran_at >= COMMAND_AGAIN_AFTER_REFUSAL_SECONDS:
            self._ran_at = None

    def look(self) -> _Found:
        age = None if self._ran_at is None else self._monotonic() - self._ran_at
        if age is None or (not self._found.key and age >= COMMAND_AGAIN_SECONDS):
            answer = self._run()
            # a key that was there is better than a password store that is locked at the moment
            if answer.key or not self._found.key:
                self._found = answer
            self._ran_at = self._monotonic()
        return self._found

    def _run(self) -> _Found:
        origin = "api_key_command"
        if self._closed:
            return _Found(origin=origin, problem=f"{origin} is not run any more.")
        try:
            process = subprocess.Popen(  # noqa: S603  (the user's own setting)
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environ or None,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return _Found(
                origin=origin, problem=f"{origin} cannot be run ({type(error).__name__}): name it absolutely."
            )
        with process:
            self._running = process
            if self._closed:  # in the moment between
                _kill(process)
            try:
                output, _ = process.communicate(timeout=COMMAND_SECONDS)
            except subprocess.TimeoutExpired:
                _kill(process)
                return _Found(origin=origin, problem=f"{origin} gave no answer within {COMMAND_SECONDS:g} s.")
            finally:
                self._running = None
        if process.returncode:
            return _Found(origin=origin, problem=f"{origin} ended with exit code {process.returncode}.")
        return _judged(output[: _MAX_BYTES + 1].decode(errors="replace"), origin)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that was not waited for yet, and what it started: it leads a process group of its own."""
    if process.returncode is None:  # else its number may be another's by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _arguments(command: str) -> list[str]:
    """Return what to execute: the words themselves, or a shell where the command uses one."""
    return ["/bin/sh", "-c", command] if _SHELL_WORDS & set(command) else shlex.split(command)


def _judged(text: str, origin: str) -> _Found:
    """Return the key that `text` is, if one line of printable ASCII without blanks is what it is."""
    key = text.strip()
    if not key:
        return _Found(origin=origin, problem=f"{origin} is empty.")
    if len(key) > _MAX_BYTES or not key.isascii() or not key.isprintable() or " " in key:
        return _Found(origin=origin, problem=f"{origin} holds something other than a key on a line.")
    return _Found(key=key, origin=origin)


def _fingerprint(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:16] if key else ""
