"""`api_key_command`: a command that prints the API key on its first line, as password stores do."""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping

from daemon.api_key.found import MAX_BYTES, FoundKey, judged

COMMAND_SECONDS = 10.0
"""What the command gets before it and its children are killed."""

AGAIN_SECONDS = 60.0
"""How soon a command that gave no key is asked again."""

AGAIN_AFTER_REFUSAL_SECONDS = 10.0
"""How soon one whose key was refused is: a changed key counts within 15 s (CONTRACT: Attempts)."""

ORIGIN = "api_key_command"

_SHELL_WORDS = frozenset("|&;<>()$`\\\"'*?[]#~=%\n")
"""Characters by which a command may need a shell. Quotes alone do not, but a shell reads them the same."""


class KeyCommand:
    """Runs the command when it must and keeps its answer until that is doubted. One thread asks at a time."""

    def __init__(self, command: str, environ: Mapping[str, str], monotonic: Callable[[], float]) -> None:
        self._arguments = arguments(command)
        self._environ = dict(environ)
        self._monotonic = monotonic
        self._ran_at: float | None = None
        self._found = FoundKey()
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
        if self._ran_at is not None and self._monotonic() - self._ran_at >= AGAIN_AFTER_REFUSAL_SECONDS:
            self._ran_at = None

    def look(self) -> FoundKey:
        """Return the key in hand, or run the command for one."""
        age = None if self._ran_at is None else self._monotonic() - self._ran_at
        if age is None or (not self._found.key and age >= AGAIN_SECONDS):
            answer = self._run()
            # a key that was there is better than a password store that is locked at the moment
            if answer.key or not self._found.key:
                self._found = answer
            self._ran_at = self._monotonic()
        return self._found

    def _run(self) -> FoundKey:
        if self._closed:
            return FoundKey(origin=ORIGIN, problem=f"{ORIGIN} is not run any more.")
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
            why = f"{ORIGIN} cannot be run ({type(error).__name__}): name it absolutely."
            return FoundKey(origin=ORIGIN, problem=why)
        with process:
            self._running = process
            if self._closed:  # in the moment between
                _kill(process)
            try:
                line = _first_line(process)
            except TimeoutError:
                _kill(process)
                why = f"{ORIGIN} gave no answer within {COMMAND_SECONDS:g} s."
                return FoundKey(origin=ORIGIN, problem=why)
            finally:
                self._running = None
        if process.returncode:
            return FoundKey(origin=ORIGIN, problem=f"{ORIGIN} ended with exit code {process.returncode}.")
        return judged(line.decode(errors="replace"), ORIGIN)


def arguments(command: str) -> list[str]:
    """Return what to execute: the words themselves, or a shell where the command uses one."""
    return ["/bin/sh", "-c", command] if _SHELL_WORDS & set(command) else shlex.split(command)


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the command's first line once it has ended. Raises TimeoutError.

    Not to the end of its output: an agent it starts in the background keeps that open, and it may never end.
    """
    assert process.stdout is not None
    deadline = time.monotonic() + COMMAND_SECONDS
    poller = select.poll()
    poller.register(process.stdout, select.POLLIN)
    output = b""
    while b"\n" not in output and len(output) <= MAX_BYTES:
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        part = os.read(process.stdout.fileno(), MAX_BYTES)
        if not part:
            break
        output += part
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    return output.partition(b"\n")[0]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that was not waited for yet, and what it started: it leads a process group of its own."""
    if process.returncode is None:  # else its number may be another's by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
