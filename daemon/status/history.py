"""The last day, a sample a minute: in memory, and in a file of fixed size so that a restart keeps it.

A sample has its own place in a ring, by its minute, and its own checksum. One that a crash or a full disk left torn,
or that another version wrote, is no sample. Nothing waits for the disk: a power cut takes a few minutes of a chart.
"""

import contextlib
import os
import stat
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from memsyncd.clock import rfc3339

NAME = "history.ring"
"""In the data directory."""

MINUTES = 1_440
MINUTE_SECONDS = 60

_VALUES = struct.Struct("<11I3f")
_SUM = struct.Struct("<I")
_PLACE_BYTES = _VALUES.size + _SUM.size
RING_BYTES = MINUTES * _PLACE_BYTES
_LARGEST = 2**32 - 1

_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Sample:
    """One minute. `minute` is Unix seconds divided by 60, rounded down.

    As they stood at its end: `pending` handoffs in the spools, `queued` jobs that wait (without the daemon's own
    timers), `running` and `dead` jobs, `open` extractions. Counted within it: handoffs `taken` in, packets
    `delivered` and `refused`, `recalls`, and `recall_milliseconds` in all of them together. Longest in it:
    `waited_seconds` of a job that was ready, `run_seconds` of a job's run, `delivery_seconds` from a packet's begin
    to its confirmation.
    """

    minute: int
    pending: int = 0
    queued: int = 0
    running: int = 0
    dead: int = 0
    open: int = 0
    taken: int = 0
    delivered: int = 0
    refused: int = 0
    recalls: int = 0
    recall_milliseconds: int = 0
    waited_seconds: float = 0.0
    run_seconds: float = 0.0
    delivery_seconds: float = 0.0


_COUNTED = ("taken", "delivered", "refused", "recalls", "recall_milliseconds")
_LONGEST = ("waited_seconds", "run_seconds", "delivery_seconds")
_WHOLE = tuple(each.name for each in fields(Sample) if each.name not in _LONGEST)


class History:
    """Safe from any thread. What an earlier run has left in the file is taken up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._ring = _read(path)
        self._longest_run = 0.0
        self._longest_delivery = 0.0

    def ran(self, seconds: float) -> None:
        """Note how long a job's run took."""
        with self._lock:
            self._longest_run = max(self._longest_run, seconds)

    def delivered(self, seconds: float) -> None:
        """Note how long a packet's delivery took, from its begin to its confirmation."""
        with self._lock:
            self._longest_delivery = max(self._longest_delivery, seconds)

    def keep(self, sample: Sample) -> None:
        """Keep a minute, with the longest times noted since the last. Raises OSError; memory has it then all the same.

        A minute that is there already, from before a restart, is joined with it.
        """
        with self._lock:
            sample = replace(
                sample,
                run_seconds=max(sample.run_seconds, self._longest_run),
                delivery_seconds=max(sample.delivery_seconds, self._longest_delivery),
            )
            self._longest_run = self._longest_delivery = 0.0
            place = sample.minute % MINUTES * _PLACE_BYTES
            before = _unpacked(self._ring, place)
            if before is not None and before.minute == sample.minute:
                sample = joined(before, sample)
            packed = _packed(sample)
            self._ring[place : place + _PLACE_BYTES] = packed
            _write(self._path, place, packed)

    def last(self, minutes: int, now: float) -> Sequence[Sample]:
        """Return the samples of the last `minutes` before `now` (Unix seconds), oldest first."""
        with self._lock:
            ring = bytes(self._ring)
        return _last(ring, minutes, now)


def joined(before: Sample, after: Sample) -> Sample:
    """Return two halves of one minute as a whole: counts added, the longest times, and how it stood at the end."""
    return replace(
        after,
        **{name: getattr(before, name) + getattr(after, name) for name in _COUNTED},
        **{name: max(getattr(before, name), getattr(after, name)) for name in _LONGEST},
    )


def from_file(path: Path, minutes: int, now: float) -> Sequence[Sample]:
    """Return the samples a daemon has left, oldest first; none where there is no file that can be read."""
    return _last(_read(path), minutes, now)


def history_document(samples: Sequence[Sample], now: float) -> dict[str, Any]:
    """Return the JSON of `GET /history`. A minute without a daemon has no sample."""
    told = []
    for sample in samples:
        values = asdict(sample)
        at = rfc3339(values.pop("minute") * MINUTE_SECONDS)
        told.append({"at": at, **{name: round(value, 3) for name, value in values.items()}})
    return {"at": rfc3339(now), "minute_seconds": MINUTE_SECONDS, "samples": told}


def _last(ring: bytes | bytearray, minutes: int, now: float) -> Sequence[Sample]:
    present = int(now // MINUTE_SECONDS)
    found = [sample for sample in _samples(ring) if present - minutes <= sample.minute <= present]
    return sorted(found, key=lambda sample: sample.minute)


def _samples(ring: bytes | bytearray) -> Iterator[Sample]:
    for place in range(0, RING_BYTES, _PLACE_BYTES):
        sample = _unpacked(ring, place)
        if sample is not None:
            yield sample


def _packed(sample: Sample) -> bytes:
    whole = (min(max(getattr(sample, name), 0), _LARGEST) for name in _WHOLE)
    values = _VALUES.pack(*whole, *(getattr(sample, name) for name in _LONGEST))
    return values + _SUM.pack(zlib.crc32(values))


def _unpacked(ring: bytes | bytearray, place: int) -> Sample | None:
    (checksum,) = _SUM.unpack_from(ring, place + _VALUES.size)
    if not checksum or checksum != zlib.crc32(ring[place : place + _VALUES.size]):
        return None
    return Sample(*_VALUES.unpack_from(ring, place))


def _read(path: Path) -> bytearray:
    """Return the file's bytes, filled up or cut to a ring's; an empty ring where it cannot be read."""
    found = b""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | _OPEN)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                found = os.read(descriptor, RING_BYTES)
        finally:
            os.close(descriptor)
    return bytearray(found.ljust(RING_BYTES, b"\0"))


def _write(path: Path, place: int, packed: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | _OPEN, 0o600)
    try:
        os.pwrite(descriptor, packed, place)
    finally:
        os.close(descriptor)
