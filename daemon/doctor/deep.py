"""The deep checks: a marker is written, read back and deleted, where hooks write and where memories live (never-again
135, 138). The daemon sees nothing of it and is not needed.
"""

import contextlib
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from daemon.api_key.source import KeySource
from daemon.chosen_platform import platform_of, whose_memories
from daemon.doctor.account import REMEDIES
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.database_file import look
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from memsyncd.clock import Clock
from memsyncd.platforms.local import deleting, schema
from memsyncd.platforms.platform import (
    Batch,
    Extraction,
    ExtractionState,
    Memory,
    Message,
    Platform,
    PlatformError,
    Query,
)

DEEP_SECONDS = 60.0
"""What `doctor --deep` takes at most: a platform makes a memory in 10 to 30 s."""

EXTRACTION_SECONDS = 40.0
ASK_SECONDS = 1.0

APP = "memsyncd-doctor"
"""The project under which the marker is kept: no search of anybody's finds it there."""


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    hung = "The disk hangs: `df` shows which."
    directories = [examined.places.data, *(spool.pending for spool in examined.spools if spool.own)]
    written = [Probe(_name(path, examined), partial(_write, path, examined), hung) for path in directories]
    asked = "The platform takes long: `memsyncd status` shows whether deliveries get through."
    return [*written, Probe("memory", partial(_memory, examined), asked, seconds=DEEP_SECONDS - 5)]


def marker_file(name: str, directory: Path, content: bytes, monotonic: Callable[[], float]) -> Check:
    """Write a file as a hook does, read it back, delete it; `.tmp` is what no daemon reads."""
    begun = monotonic()
    path = directory / f"doctor-{os.getpid()}-{content[:8].hex()}.tmp"
    try:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            found = path.read_bytes()
        finally:
            path.unlink(missing_ok=True)
    except OSError as error:
        told = f"{directory}: {error.strerror or error}"
        return failed(name, told, f"`ls -ld {directory}` and `df -h {directory}` show why it cannot be written.")
    if found != content:
        return failed(name, f"{directory}: what was read back is not what was written", "Check the disk (`dmesg`).")
    took = (monotonic() - begun) * 1000
    return passed(name, f"{len(content)} bytes written to {directory}, read back and deleted in {took:.0f} ms")


def round_trip(
    platform: Platform,
    user: str,
    token: str,
    *,
    delete: Callable[[str], int],
    monotonic: Callable[[], float],
    wait: Callable[[float], None],
) -> Check:
    """Have the platform make a memory, find it by a search, and delete it by its id with `delete`, which tells whether
    there was one. `token` is a word that occurs nowhere else."""
    name = "memory"
    begun = monotonic()
    batch = _batch(user, token)
    try:
        extraction = _extracted(platform, batch, monotonic=monotonic, wait=wait)
        if extraction.state is not ExtractionState.SUCCEEDED:
            told = f"it took the marker, and its extraction is {extraction.state} after {monotonic() - begun:.0f} s"
            return failed(name, told, "`memsyncd status` shows whether deliveries are confirmed; try again later.")
        if not extraction.memories:
            return passed(name, "the platform took the marker and found nothing in it worth keeping; nothing is left")
        found = _found(platform, batch, token)
        ids = dict.fromkeys(memory.id for memory in (*found, *extraction.told))
        deleted = sum(delete(memory_id) for memory_id in ids)
    except PlatformError as error:
        remedy = next((words for kind, words in REMEDIES.items() if isinstance(error, kind)), "")
        return failed(name, error.message[:300], remedy or "`memsyncd status` says more.")
    took = monotonic() - begun
    if not found:
        told = f"the platform made {extraction.memories} of the marker, and a search does not find it"
        return failed(name, told, "Memories are kept and not found: see `memsyncd search` for one you know of.")
    return passed(name, f"a marker was kept, found by a search, and deleted ({deleted}) in {took:.1f} s")


def _batch(user: str, token: str) -> Batch:
    packet = _packet(token)
    return Batch(
        packet_id=packet,
        number=0,
        messages=[
            Message("user", f"Please remember: the marker of this project is always called {token}."),
            Message("assistant", f"Understood, the marker is always called {token}."),
        ],
        user_id=user,
        app_id=APP,
        agent_id=APP,
        run_id=packet,
        metadata={"source": APP, "author": user, "dirs": [], "memsyncd_packet": packet, "memsyncd_batch": 0},
    )


def _extracted(
    platform: Platform, batch: Batch, *, monotonic: Callable[[], float], wait: Callable[[float], None]
) -> Extraction:
    end = monotonic() + EXTRACTION_SECONDS
    accepted = platform.add(batch)
    if accepted.finished:
        return Extraction("", ExtractionState.SUCCEEDED, accepted.memories, told=accepted.told)
    while True:
        extraction = platform.extraction(accepted.event_id)
        if extraction.state.is_terminal or monotonic() >= end:
            return extraction
        wait(ASK_SECONDS)


def _found(platform: Platform, batch: Batch, token: str) -> list[Memory]:
    query = Query(f"What is the marker {token} called?", batch.user_id, batch.app_id, (batch.agent_id,), top_k=10)
    return [memory for memory in platform.search(query) if token in memory.memory]


def _unready(examined: Examination) -> str:
    """Return why the embedded platform's file is not written to: only the daemon makes it and brings it forward
    (never-again 53)."""
    path = examined.places.memory_file
    looked = look(
        path,
        lambda connection: {"memories": connection.execute("PRAGMA user_version").fetchone()[0]},
        is_served=examined.is_held,
        within=0.0,
        monotonic=examined.monotonic,
    )
    if not looked.exists:
        return f"there is no {path} yet: the daemon makes it"
    if looked.error or looked.unreadable:
        return f"{path}: {looked.error or looked.unreadable}"
    found = looked.versions.get("memories", 0)
    return "" if found == schema.VERSION else f"{path} is of version {found}: the daemon brings it forward"


def _delete_locally(memory_file: Path, token: str, _memory_id: str = "") -> int:
    """Delete what came of the marker, its packet included, so that nothing of it stays, not even that it was there."""
    return deleting.delete_late(memory_file, [_packet(token)], at="")


def _packet(token: str) -> str:
    return f"doctor-{token}"


def _name(path: Path, examined: Examination) -> str:
    return "write data" if path == examined.places.data else f"write {path.parent.name}"


def _write(path: Path, examined: Examination) -> Check:
    name = _name(path, examined)
    if examined.is_another_s:
        return unchecked(name, f"{path} is another user's")
    if not path.is_dir():
        return unchecked(name, f"there is no {path} yet")
    return marker_file(name, path, os.urandom(64), examined.monotonic)


def _memory(examined: Examination) -> Check:
    if examined.faults or examined.is_another_s:
        return unchecked("memory", "the configuration is wrong" if examined.faults else "it is another user's")
    kind, user = examined.settings.platform.kind, whose_memories(examined.settings, examined.environ)
    if kind == "local" and (why := _unready(examined)):
        return unchecked("memory", why)
    source = KeySource.from_settings(examined.settings, examined.environ)
    token = f"zq{os.urandom(6).hex()}"
    try:
        if examined.settings.queue.is_edge and kind == "mem0" and not source.current():
            return unchecked("memory", "there is no key on this edge; workers deliver with theirs")
        platform = platform_of(examined.places, examined.settings, source, Clock())
        try:
            delete = (
                partial(_delete_locally, examined.places.memory_file, token) if kind == "local" else platform.delete
            )
            return round_trip(platform, user, token, delete=delete, monotonic=examined.monotonic, wait=time.sleep)
        finally:
            platform.close()
            if kind == "local":
                with contextlib.suppress(PlatformError):
                    _delete_locally(examined.places.memory_file, token)
    finally:
        source.close()
