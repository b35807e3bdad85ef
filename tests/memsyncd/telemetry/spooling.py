"""Telemetry spools for tests: lines as recorders write them, and a drain with a hand clock over a real directory."""

import json
import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from memsyncd.counters import Counters
from memsyncd.platforms.platform import PlatformError
from memsyncd.telemetry.claims import KEPT_SECONDS
from memsyncd.telemetry.disk import Disk
from memsyncd.telemetry.drain import Drain, Drained
from memsyncd.telemetry.emptying import Outlet
from memsyncd.telemetry.posthog import Sender, Wire, wire
from tests.clocks import HandClock

SENDER = Sender("code-anon-0123")


def uuid_of(number: int) -> str:
    return str(uuid.UUID(int=number + 1))


def line(number: int = 0, **fields: Any) -> bytes:
    """Return the line of an event; a field that is None is left out."""
    document = {
        "event": "code.session_start",
        "uuid": uuid_of(number),
        "timestamp": "2027-01-15T07:00:00.000Z",
        "properties": {"number": number},
        **fields,
    }
    return json.dumps({name: value for name, value in document.items() if value is not None}).encode() + b"\n"


def lines(numbers: Iterable[int]) -> bytes:
    return b"".join(line(number) for number in numbers)


class Spooling:
    """A spool directory, a drain, and an endpoint that takes everything but where `answers` has an error for it."""

    def __init__(self, directory: Path, disk: Disk | None = None) -> None:
        self.directory = directory
        self.hands = HandClock()
        self.counters = Counters()
        self.disk = disk
        self.drain = self.new_drain()
        self.posted: list[list[str]] = []
        self.answers: list[PlatformError | None] = []
        self.on_post: Callable[[Sequence[Wire]], None] = lambda _: None
        self.answered = False
        self.is_stopping = False

    def new_drain(self, kept_seconds: float = KEPT_SECONDS) -> Drain:
        return Drain(clock=self.hands.clock(), counters=self.counters, disk=self.disk, kept_seconds=kept_seconds)

    def post(self, batch: Sequence[Wire]) -> None:
        self.on_post(batch)
        error = self.answers.pop(0) if self.answers else None
        if error is not None:
            raise error
        self.posted.append([event.uuid for event in batch])
        self.answered = True

    def outlet(self) -> Outlet:
        return Outlet(
            self.post,
            lambda text: wire(text, SENDER),
            has_answered=lambda: self.answered,
            is_stopping=lambda: self.is_stopping,
        )

    def run(self) -> Drained:
        self.answered = False
        return self.drain.run(self.directory, self.outlet())

    def record(self, content: bytes) -> Path:
        path = self.directory / "telemetry.jsonl"
        with path.open("ab") as file:
            file.write(content)
        return path

    def park(self, content: bytes, *, name: str = "telemetry-9-deadbeef-a0.sending", age: float = 200.0) -> Path:
        """Leave a claim, touched `age` seconds ago."""
        path = self.directory / name
        path.write_bytes(content)
        self.touch(path, age)
        return path

    def touch(self, path: Path, age: float) -> None:
        moment = self.hands.wall_now - age
        os.utime(path, (moment, moment))

    def files(self, suffix: str = "") -> list[str]:
        return sorted(name for name in os.listdir(self.directory) if name.endswith(suffix))

    def only(self, suffix: str) -> Path:
        (name,) = self.files(suffix)
        return self.directory / name

    def age(self, path: Path) -> float:
        return self.hands.wall_now - path.stat().st_mtime

    @property
    def delivered(self) -> list[str]:
        return [each for batch in self.posted for each in batch]

    def counted(self, name: str) -> int:
        return self.counters.snapshot().get(name, 0)
