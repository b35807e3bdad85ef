"""A disk that fails: nothing is lost, nothing sent twice, and it is said."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memsyncd.platforms.platform import Rejected
from memsyncd.telemetry.disk import Disk
from memsyncd.telemetry.posthog import Wire
from tests.memsyncd.telemetry.spooling import Spooling, lines, uuid_of


class FailingDisk(Disk):
    """The real one, but for the calls that are to fail."""

    def __init__(self) -> None:
        self.failing: dict[str, int] = {}
        self.before: dict[str, Callable[[], object]] = {}

    def _check(self, call: str) -> None:
        if call in self.before:
            self.before.pop(call)()
        if call in self.failing:
            raise OSError(self.failing[call], os.strerror(self.failing[call]))

    def lock(self, descriptor: int) -> bool:
        self._check("lock")
        return super().lock(descriptor)

    def write(self, descriptor: int, content: bytes) -> None:
        self._check("write")
        super().write(descriptor, content)

    def read(self, descriptor: int, size: int) -> bytes:
        self._check("read")
        return super().read(descriptor, size)

    def rename(self, old: str, new: str) -> None:
        self._check("rename")
        super().rename(old, new)

    def unlink(self, path: str) -> None:
        self._check("unlink")
        super().unlink(path)

    def close(self, descriptor: int) -> None:
        super().close(descriptor)
        self._check("close")


@pytest.fixture
def disk() -> FailingDisk:
    return FailingDisk()


@pytest.fixture
def spool(tmp_path: Path, disk: FailingDisk) -> Spooling:
    return Spooling(tmp_path, disk)


def test_a_run_ends_when_its_progress_cannot_be_saved(spool: Spooling, disk: FailingDisk) -> None:
    """100 of 250 are delivered, and none of them again: they are written down before anything else is sent (12.14)."""
    spool.record(lines(range(250)))
    disk.failing["write"] = errno.ENOSPC
    drained = spool.run()
    assert (drained.delivered, drained.failure) == (100, None)
    assert "No space left" in drained.trouble
    assert spool.run().trouble
    assert spool.only(".sending").read_bytes() == lines(range(250))
    disk.failing.clear()
    for _ in range(2):
        spool.hands.move(121.0)
        spool.run()
    assert spool.delivered == [uuid_of(number) for number in range(250)]
    assert spool.files() == []


def test_what_is_delivered_and_not_saved_is_no_other_senders(spool: Spooling, disk: FailingDisk) -> None:
    """It stays locked for as long as this process lives; after that it is sent again, with the same ids."""
    spool.record(lines(range(2)))
    disk.failing["unlink"] = errno.EIO
    spool.run()
    disk.failing.clear()
    spool.hands.move(1000.0)
    other = spool.new_drain()
    assert other.run(spool.directory, spool.outlet()).delivered == 0
    spool.drain.close()
    assert other.run(spool.directory, spool.outlet()).delivered == 2


def test_a_refused_batch_leaves_its_claim_only_when_it_is_kept(spool: Spooling, disk: FailingDisk) -> None:
    """A full disk is no reason to lose it."""
    spool.record(lines(range(3)))
    spool.answers = [Rejected("refused (400)", status=400)]
    disk.failing["write"] = errno.ENOSPC
    spool.run()
    assert spool.only(".sending").read_bytes() == lines(range(3))
    disk.failing.clear()
    spool.run()
    assert spool.only(".rejected").read_bytes().strip() == lines(range(3)).strip()
    assert spool.files(".sending") == []
    assert spool.delivered == []


def test_a_file_that_cannot_be_read_is_kept(spool: Spooling, disk: FailingDisk) -> None:
    """It is no corrupt one, and not delivered (facts 12.19, 20.7)."""
    spool.record(lines(range(3)))
    disk.failing["read"] = errno.EIO
    assert spool.run().trouble
    assert spool.only(".sending").read_bytes() == lines(range(3))
    disk.failing.clear()
    assert spool.run().delivered == 3


def test_a_spool_that_cannot_be_claimed_stays(spool: Spooling, disk: FailingDisk) -> None:
    """Nothing is sent without a claim."""
    spool.record(lines(range(3)))
    disk.failing["rename"] = errno.EROFS
    assert spool.run().trouble
    assert spool.posted == []
    assert spool.files() == ["telemetry.jsonl"]


def test_a_failing_close_undoes_nothing(spool: Spooling, disk: FailingDisk) -> None:
    """What was saved is saved, and is not taken for unsaved."""
    spool.record(lines(range(150)))
    disk.failing["close"] = errno.EIO
    spool.run()
    disk.failing.clear()
    spool.run()
    assert sorted(spool.delivered) == sorted(uuid_of(number) for number in range(150))


@pytest.mark.parametrize("call", ["lock", "write"])
def test_what_is_being_set_aside_is_not_swept(spool: Spooling, disk: FailingDisk, call: str) -> None:
    """A second sender that comes in between, with the clock a month on, removes nothing that is still written to."""
    spool.record(lines(range(3)))
    spool.answers = [Rejected("refused (400)", status=400)]

    def come_between() -> None:
        spool.hands.move(30 * 86400.0)
        other = Spooling(spool.directory)
        other.hands = spool.hands
        other.drain = other.new_drain()
        assert other.run().delivered == 0

    def arm(_: Sequence[Wire]) -> None:
        disk.before[call] = come_between

    spool.on_post = arm
    for _ in range(2):
        spool.run()
    assert spool.only(".rejected").read_bytes().strip() == lines(range(3)).strip()
    assert spool.files(".sending") == []
