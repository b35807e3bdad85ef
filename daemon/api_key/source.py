"""The platform's API key, from wherever it comes, read again when it changes, and never shown.

Order: environment (MEM0_API_KEY, or a plugin's option), `api_key_file`, systemd's credential `mem0_api_key`,
`api_key_command`; the first that has one counts. The environment is first as it is for every setting.
"""

import hashlib
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from daemon.api_key.command import KeyCommand
from daemon.api_key.found import MAX_BYTES, FoundKey, judged
from daemon.settings import Settings
from daemon.settings.environment import API_KEY_VARIABLES, first_set
from daemon.settings.load import CREDENTIAL
from memsyncd import regular_file
from memsyncd.clock import Clock


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
        self._environment = judged(environment_key, environment_name) if environment_key.strip() else None
        self._files = [
            _File(path, origin) for path, origin in ((file, "api_key_file"), (credential, "credential")) if path
        ]
        self._command = (
            KeyCommand(command, command_environment or {}, (clock or Clock()).monotonic) if command else None
        )
        self._lock = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings, environ: Mapping[str, str], clock: Clock | None = None) -> Self:
        """Return the source that settings and environment name."""
        variable = first_set(environ, API_KEY_VARIABLES)
        credential = Path(environ.get("CREDENTIALS_DIRECTORY") or "/nowhere", CREDENTIAL)
        file = settings.platform.api_key_file
        return cls(
            environment_key=environ.get(variable, ""),
            environment_name=variable,
            file=Path(file) if file else None,
            credential=credential if credential.is_file() else None,  # they do not change while a service runs
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

    def doubt(self) -> None:
        """Have the command run again at the next look, at most every 10 s: to be called while its key is refused."""
        with self._lock:
            if self._command is not None:
                self._command.doubt()

    def close(self) -> None:
        """Kill the command if it runs; for a stop within its deadline. No key comes from it any more."""
        if self._command is not None:
            self._command.close()

    def _found(self) -> FoundKey:
        with self._lock:
            looked = self._look()
        return looked[-1] if looked and looked[-1].key else FoundKey()

    def _look(self) -> list[FoundKey]:
        """Look at one source after another until one has a key."""
        looked: list[FoundKey] = []
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
        self._found = FoundKey()

    def look(self) -> FoundKey:
        try:
            found = self._path.stat()
            seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if seen != self._seen:
                self._found, self._seen = self._read(found), seen
        except OSError as error:
            self._seen = ()
            self._found = FoundKey(origin=self._origin, problem=f"{self._origin} cannot be read: {error.strerror}.")
        return self._found

    def _read(self, found: os.stat_result) -> FoundKey:
        if not stat.S_ISREG(found.st_mode):
            return FoundKey(origin=self._origin, problem=f"{self._origin} is no regular file.")
        content = regular_file.content(self._path, MAX_BYTES + 1)
        warning = ""
        if found.st_mode & 0o077 and self._origin.startswith("api_key_file"):
            warning = f"{self._origin} can be read by other users: `chmod 600 {self._path}`."
        return judged(content.decode("utf-8-sig", errors="replace"), self._origin, warning)


def _fingerprint(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:16] if key else ""
