"""The daemon from outside: its lock, its socket, and whether it gets on with its work. None of it needs a daemon."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from daemon import lock
from daemon.cli.wording import counted, span
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.intake.spool import age_at
from daemon.lock import Holder
from daemon.pausing import Pauses
from daemon.status.offline import unsent_evidence
from daemon.status.report import healthy
from daemon.status_socket import client
from daemon.status_socket.client import SocketClient, socket_of
from memsyncd.version import __version__

ANSWER_SECONDS = 3.0

LEFT_SECONDS = 60.0
"""A handoff that lies for longer than a start takes is left to nobody."""

START = "Start it with `memsyncd service start`, or `memsyncd run` in a terminal."
RESTART = "Restart it: `memsyncd service start`, or end `memsyncd run` and start it again."


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    return [Probe("lock", lambda: _lock(examined)), Probe("socket", lambda: _asked(examined))]


def lock_file(path: str, mode: int | None, holder: Holder | None, *, is_held: bool) -> Check:
    """Judge the lock; `mode` is the file's, None where there is none."""
    if mode is not None and not stat.S_ISREG(mode):
        return failed("lock", f"{path} is in the way of the lock, for it is no regular file", f"`mv {path} {path}.old`")
    if not is_held:
        return passed("lock", f"{path} is free: no daemon runs")
    who = f"pid {holder.pid}" if holder else "a process that did not say who it is"
    return passed("lock", f"{path} is held by {who}")


def socket(
    path: str, *, is_held: bool, mode: int | None, failure: client.ClientError | None, seconds: float, note: str = ""
) -> Check:
    """Judge the socket by how asking there ended; `mode` is of what lies at its path, None where nothing does."""
    name = "socket"
    if failure is None:
        return passed(name, f"{path} answers in {seconds * 1000:.0f} ms{note}")
    if isinstance(failure, client.NotRunning):
        if mode is not None and not stat.S_ISSOCK(mode):
            return failed(name, f"{path} is no socket, and no daemon can listen there", f"`mv {path} {path}.old`")
        if is_held:
            told = f"a daemon holds the lock, and nobody answers at {path}"
            return failed(name, told, f"Wait some seconds if it has just been started. {RESTART}")
        left = " (one of a daemon that has ended lies there; the next replaces it)" if mode is not None else ""
        return unchecked(name, f"no daemon runs{left}{note}")
    remedies = {
        client.TimedOut: RESTART,
        client.OtherProtocol: f"Daemon and command are of different versions. {RESTART}",
        client.NotOurs: f"`ls -ld {path} {Path(path).parent}` shows whose it is: type this as that user, or move it.",
    }
    remedy = next((words for kind, words in remedies.items() if isinstance(failure, kind)), RESTART)
    return failed(name, f"{path}: {failure}", remedy)


def progress(document: Mapping[str, Any]) -> Check:
    """Judge a running daemon by its own status: it is well when its work gets on (never-again 134)."""
    name = "daemon"
    version = str(document.get("version", ""))
    if version != __version__:
        return failed(name, f"version {version} runs, and {__version__} is installed", RESTART)
    is_healthy, reasons = healthy(document)
    summary = str(document.get("summary", ""))
    if is_healthy:
        return passed(name, f"{document.get('state')}: {summary}")
    problems = [each for each in document.get("problems") or () if each.get("degrades", True)]
    return failed(name, " ".join(reasons), str(problems[0].get("remedy", "")) if problems else RESTART)


def left_alone(pending: int, oldest_seconds: float, *, is_paused: bool, unsent: int = 0) -> Check:
    """Judge what waits while no daemon runs; `unsent` events are recorded and go out when their session ends."""
    name = "daemon"
    if pending and oldest_seconds > LEFT_SECONDS and not is_paused:
        told = counted(pending, "handoff waits", "handoffs wait")
        return failed(name, f"no daemon runs, and {told}, the oldest for {span(oldest_seconds)}", START)
    recorded = f" but {counted(unsent, 'recorded event', 'recorded events')}" if unsent else ""
    return unchecked(name, f"no daemon runs, and nothing waits for one{recorded}", START)


def _lock(examined: Examination) -> Check:
    path = examined.places.lock_file
    if examined.is_another_s:
        return unchecked("lock", f"{path} is another user's")
    return lock_file(str(path), _mode(path), lock.holder(path), is_held=examined.is_held)


def _asked(examined: Examination) -> list[Check]:
    places = examined.places
    if examined.is_another_s:
        why = "it answers its own user only, who is another"
        return [unchecked("socket", why), unchecked("daemon", why)]
    path = socket_of(places)
    note = f" (its own place, {places.wanted_socket}, is too long for a socket)" if places.socket_is_shortened else ""
    begun = examined.monotonic()
    document: Any = None
    failure: client.ClientError | None = None
    try:
        document = SocketClient(path, uid=examined.uid).get("/status", seconds=ANSWER_SECONDS)
    except client.ClientError as error:
        failure = error
    took = examined.monotonic() - begun
    found = socket(str(path), is_held=examined.is_held, mode=_mode(path), failure=failure, seconds=took, note=note)
    if isinstance(document, Mapping):
        return [found, progress(document)]
    if examined.is_held:
        return [found, unchecked("daemon", "it does not answer")]
    return [found, _waiting(examined)]


def _waiting(examined: Examination) -> Check:
    pending, oldest = 0, 0.0
    for spool in examined.spools:
        try:
            counts = spool.counts(age_at(examined.wall()))
        except OSError:
            continue
        if spool.own:
            pending += counts.pending + counts.running
            oldest = max(oldest, counts.oldest_pending_seconds)
    unsent = unsent_evidence(examined.spools).unsent_events
    return left_alone(pending, oldest, is_paused=Pauses(examined.places.data).is_paused, unsent=unsent)


def _mode(path: Path) -> int | None:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return None
