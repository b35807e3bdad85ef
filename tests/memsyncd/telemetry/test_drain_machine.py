"""Two senders, recorders, deaths between any two calls of the system, clock jumps and disk errors: every accepted
event is delivered, once, or lies in a kept file with its count; twice only if a sender died before it wrote it down."""

import itertools
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from memsyncd.clock import rfc3339
from memsyncd.counters import Counters
from memsyncd.platforms.platform import NotUnderstood, PlatformError, Rejected, Unreachable
from memsyncd.telemetry.claims import EXPIRED, REJECTED, SET_ASIDE
from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.emptying import Outlet
from memsyncd.telemetry.posthog import MAX_BATCH_BYTES, Unsendable, Wire
from memsyncd.telemetry.recorder import Recorder
from memsyncd.telemetry.salt import Salt
from tests.clocks import HandClock
from tests.memsyncd.telemetry.spooling import line, uuid_of
from tests.memsyncd.telemetry.stepping import EIO, ENOSPC, Leash, LeashedDisk, recording

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None

LARGE = bytes(MAX_BATCH_BYTES * 2 // 5)
"""What an event weighs on the wire here: two go in a batch."""

ANSWERS = st.sampled_from(["ok", "ok", "ok", "ok", "offline", "not-understood", "rejected"])
FAULTS = st.sampled_from([0, 0, 0, 0, 0, 0, EIO, ENOSPC])
SENDERS = st.integers(0, 1)
HOUR, DAY = 3600.0, 86400.0


def encode(text: bytes) -> Wire | Unsendable:
    try:
        document = json.loads(text)
    except ValueError:
        return Unsendable.CORRUPT
    return Wire(document["uuid"], document["timestamp"], LARGE)


def uuids(content: bytes) -> list[str]:
    found = (encode(text) for text in content.split(b"\n") if text.strip())
    return [event.uuid for event in found if isinstance(event, Wire)]


class Sender:
    """A process that drains the spool. It dies with all it has open and in mind, and comes back."""

    def __init__(self, machine: "DrainMachine") -> None:
        self.machine = machine
        self.answers: list[str] = []
        self.last: list[str] = []
        self.born()

    def born(self) -> None:
        self.leash = Leash()
        self.disk = LeashedDisk(self.leash, self.machine.unlinked)
        self.drain = Drain(clock=self.machine.hands.clock(), counters=self.machine.counters, disk=self.disk)

    def begin(self) -> None:
        outlet = Outlet(self.post, encode, has_answered=lambda: False)
        self.leash.start(lambda: self.drain.run(self.machine.directory, outlet))

    def post(self, batch: Sequence[Wire]) -> None:
        self.leash.before_call()
        answer = self.answers.pop(0) if self.answers else "ok"
        failures: dict[str, PlatformError] = {
            "offline": Unreachable("no connection"),
            "not-understood": NotUnderstood("a page"),
            "rejected": Rejected("refused", status=400),
        }
        if answer in failures:
            raise failures[answer]
        self.last = [event.uuid for event in batch]
        self.machine.delivered.update(self.last)

    def die(self) -> None:
        self.leash.kill()
        self.disk.die()
        waiting = self.machine.waiting()
        self.machine.doubted.update(uuid for uuid in self.last if uuid in waiting)
        self.machine.deaths += 1
        self.last = []
        self.born()


class DrainMachine(RuleBasedStateMachine):
    """A spool on a real file system, and what was accepted, delivered, and set aside."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="telemetry-", dir=MEMORY))
        self.hands = HandClock()
        self.counters = Counters()
        self.numbers = itertools.count()
        self.accepted: list[str] = []
        self.delivered: Counter[str] = Counter()
        self.doubted: Counter[str] = Counter()
        self.swept: set[str] = set()
        self.deaths = 0
        self.recordings: list[tuple[str, Generator[None, bool, bool]]] = []
        self.recorder = Recorder(
            self.directory,
            harness="codex",
            source="CODEX_PLUGIN",
            salt=Salt(self.directory / "salt"),
            redact=lambda text: text,
            clock=self.hands.clock(),
            new_uuid=self.new_uuid,
        )
        self.senders = [Sender(self), Sender(self)]

    def new_uuid(self) -> str:
        self.newest = uuid_of(next(self.numbers))
        return self.newest

    @property
    def live(self) -> Path:
        return self.directory / "telemetry.jsonl"

    def unlinked(self, path: str) -> None:
        if path.endswith(SET_ASIDE):
            self.swept.update(uuids(Path(path).read_bytes()))

    def files(self, *suffixes: str) -> list[Path]:
        return [path for path in self.directory.iterdir() if path.name.endswith(suffixes)]

    def waiting(self) -> set[str]:
        return {uuid for path in self.files(".jsonl", ".sending") for uuid in uuids(path.read_bytes())}

    @rule(count=st.integers(1, 5))
    def record(self, count: int) -> None:
        """Record between two calls of everybody else."""
        for _ in range(count):
            if self.recorder.record("used"):
                self.accepted.append(self.newest)

    @rule()
    def begin_recording(self) -> None:
        """Start a recorder that can be held up at each of its calls."""
        uuid = self.new_uuid()
        recorder = recording(str(self.live), line(uuid=uuid, timestamp=rfc3339(self.hands.wall_now)))
        next(recorder)
        self.recordings.append((uuid, recorder))

    @precondition(lambda self: self.recordings)
    @rule(which=st.integers(0, 9), steps=st.integers(1, 6), is_killed=st.booleans())
    def go_on_recording(self, which: int, steps: int, is_killed: bool) -> None:
        """Let a recorder go on; it may die in the middle of its line, whoever else is at the file."""
        uuid, recorder = self.recordings.pop(which % len(self.recordings))
        try:
            for _ in range(steps):
                recorder.send(is_killed)
        except StopIteration as end:
            self.accepted += [uuid] if end.value else []
        else:
            self.recordings.append((uuid, recorder))

    @rule(who=SENDERS, answers=st.lists(ANSWERS, max_size=4))
    def begin_sending(self, who: int, answers: list[str]) -> None:
        """Begin a run, unless that sender is at one."""
        sender = self.senders[who]
        if sender.leash.is_over:
            sender.answers = answers
            sender.begin()

    @rule(who=SENDERS, steps=st.integers(1, 12), fault=FAULTS)
    def go_on_sending(self, who: int, steps: int, fault: int) -> None:
        """Let a sender go on by some calls; the last may fail."""
        for _ in range(steps - 1):
            self.senders[who].leash.step()
        self.senders[who].leash.step(fault)

    @rule(who=SENDERS, steps=st.integers(0, 30))
    def die(self, who: int, steps: int) -> None:
        """Kill a sender between two calls; its successor knows nothing."""
        for _ in range(steps):
            self.senders[who].leash.step()
        self.senders[who].die()

    @rule(seconds=st.sampled_from([1.0, 61.0, 121.0, 130.0, HOUR, -1.0, -130.0, -HOUR, -8 * DAY, 8 * DAY]))
    def jump(self, seconds: float) -> None:
        """Move the wall clock, as time or somebody's hand does."""
        self.hands.wall_now += seconds

    def teardown(self) -> None:
        """All faults end and time goes by: then nothing is left to send, and the books are in order."""
        try:
            self._come_to_an_end()
            self._check()
        finally:
            for sender in self.senders:
                sender.die()
            for _, recorder in self.recordings:
                recorder.close()
            shutil.rmtree(self.directory)

    def _come_to_an_end(self) -> None:
        for sender in self.senders:
            while not sender.leash.is_over:
                sender.leash.step()
            sender.leash.is_free = True
            sender.answers = []
        for uuid, recorder in self.recordings:
            try:
                while True:
                    next(recorder)
            except StopIteration as end:
                self.accepted += [uuid] if end.value else []
        self.recordings = []
        for _ in range(100):
            if not self.files(".jsonl", ".sending"):
                return
            self.hands.move(121.0)
            for sender in self.senders:
                drained = sender.drain.run(self.directory, Outlet(sender.post, encode))
                assert not drained.trouble
        raise AssertionError(f"never sent: {sorted(os.listdir(self.directory))}")

    def _check(self) -> None:
        kept = Counter(uuid for path in self.files(*SET_ASIDE) for uuid in uuids(path.read_bytes()))
        for uuid in self.accepted:
            assert self.delivered[uuid] or uuid in kept or uuid in self.swept, "lost without a word"
            assert self.delivered[uuid] <= 1 + self.doubted[uuid], "delivered twice without a death to blame"
        assert set(self.delivered) <= set(self.accepted)
        counted = self.counters.snapshot()
        if not self.deaths:
            for suffix, name in ((EXPIRED, "telemetry_expired"), (REJECTED, "telemetry_rejected")):
                lines = [uuid for path in self.files(suffix) for uuid in uuids(path.read_bytes())]
                assert len(set(lines)) <= counted.get(name, 0)
            assert not self.swept or counted["telemetry_swept"]


SETTINGS = settings(max_examples=30, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))


def test_each_event_is_delivered_once_or_kept_whatever_happens() -> None:
    """Some dozens of lives of two senders."""
    run_state_machine_as_test(DrainMachine, settings=SETTINGS)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_same_for_thousands_of_lives() -> None:
    """The rare orders of events are found by number."""
    run_state_machine_as_test(DrainMachine, settings=settings(SETTINGS, max_examples=5_000))
