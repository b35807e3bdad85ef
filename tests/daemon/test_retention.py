"""What has had its days goes, in small steps; what was not delivered stays, however old."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.clock_trust import NAME, ClockTrust
from daemon.retention import Retention
from jobs.job import NewJob
from jobs.outcomes import Done, GiveUp
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import PacketStatus
from memsyncd.evidence.operations import Operation
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed, finish

DAY = 86_400.0


class Aged:
    """A home whose clock is moved by hand."""

    def __init__(self, home: Composed) -> None:
        self.home = home
        self.hands = HandClock(home.parts.clock.wall())
        object.__setattr__(home.parts, "clock", self.hands.clock())
        home.spool()
        home.upkeep.refresh()
        self.store = home.parts.served.store("claude-code")
        self.retention = Retention(home.parts)

    def packet(self, session: str, status: PacketStatus | None, days: float, events: int = 2) -> str:
        """Record a session of some exchanges, in a packet that got `status` so many days ago."""
        at = self.hands.wall_now - days * DAY
        self.home.record(session, *(f"{session} {number}" for number in range(events // 2)), at=at)
        made = self.store.prepare(session, "session-end", list)
        assert made is not None
        if status is not None:
            self.store.close_packet(made.packet_id, status)
        self.sql("UPDATE flushes SET updated_at = ? WHERE packet_id = ?", rfc3339(at), made.packet_id)
        return made.packet_id

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.store.path, isolation_level=None)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def sessions(self) -> set[object]:
        return {name for (name,) in self.sql("SELECT DISTINCT session_id FROM events")}

    def round(self) -> None:
        self.retention.begin()
        self.retention.look()  # its clock stands still, so that one look is a whole round


@pytest.fixture
def aged(tmp_path: Path) -> Iterator[Aged]:
    with composed(tmp_path) as home:
        yield Aged(home)


def test_only_what_was_confirmed_long_ago_goes(aged: Aged) -> None:
    """Ninety days after its delivery a packet and its events go; open, given up, unsent and younger ones stay."""
    aged.packet("old", PacketStatus.SUCCEEDED, 91)
    aged.packet("explicit", PacketStatus.EXPLICITLY_STORED, 91)
    aged.packet("young", PacketStatus.SUCCEEDED, 89)
    aged.packet("open", None, 400)
    aged.packet("queued", PacketStatus.QUEUED, 400)
    aged.packet("given up", PacketStatus.GAVE_UP, 400)
    aged.home.record("unsent", "never asked for", at=aged.hands.wall_now - 400 * DAY)
    aged.round()
    assert aged.sessions() == {"young", "open", "queued", "given up", "unsent"}
    assert aged.home.parts.counters.snapshot()["evidence_retired"] == 4
    assert aged.store.scope("old") is not None  # forgetting a project still finds what came of it


def test_zero_days_keep_for_ever(tmp_path: Path) -> None:
    """With 0 nothing is deleted, be it ever so old."""
    with composed(tmp_path, MEMSYNCD_RETENTION_EVIDENCE_DAYS="0", MEMSYNCD_RETENTION_DEAD_DAYS="0") as home:
        aged = Aged(home)
        aged.packet("old", PacketStatus.SUCCEEDED, 30_000)
        letter = dead_letter(aged, 30_000)
        aged.round()
        assert aged.sessions() == {"old"}
        assert letter.exists()


def test_the_space_goes_back(aged: Aged) -> None:
    """After a large part of the evidence went, the file is smaller, not only emptier."""
    for number in range(5):
        aged.packet(f"{number}" * 20_000, PacketStatus.SUCCEEDED, 100)
    aged.store.checkpoint()
    before = aged.store.path.stat().st_size
    aged.round()
    assert aged.sessions() == set()
    assert aged.store.path.stat().st_size < before / 2


def test_recalls_and_operations_have_the_same_days(aged: Aged) -> None:
    """The log of what was done and shown does not outgrow the evidence."""
    aged.store.record_operation(Operation("flush", "s"))
    aged.sql("UPDATE operations SET created_at = ?", rfc3339(aged.hands.wall_now - 91 * DAY))
    aged.store.record_operation(Operation("flush", "s"))
    aged.round()
    assert len(aged.sql("SELECT 1 FROM operations")) == 1


def dead_letter(aged: Aged, days: float, *, name: str = "x", directory: str = "dead") -> Path:
    """Set a handoff aside so many days ago; the handoff itself is older still."""
    path = aged.home.spool() / directory / f"{name}.json"
    path.write_text("{}")
    reason = path.with_name(f"{name}.reason.json")
    reason.write_text(json.dumps({"reason": "expired"}))
    at = aged.hands.wall_now - days * DAY
    os.utime(path, (at - 8 * DAY, at - 8 * DAY))
    os.utime(reason, (at, at))
    return path


@pytest.mark.parametrize("directory", ["dead", "corrupt"])
def test_what_was_set_aside_goes_with_its_reason_and_by_the_time_of_that(aged: Aged, directory: str) -> None:
    """Its days begin when it was set aside: a person has had all of them to look at it."""
    gone, kept = dead_letter(aged, 91, directory=directory), dead_letter(aged, 89, name="y", directory=directory)
    aged.round()
    assert sorted(path.name for path in kept.parent.iterdir()) == ["y.json", "y.reason.json"]
    assert not gone.exists()
    name = "dead_letters_expired" if directory == "dead" else "corrupt_expired"
    assert aged.home.parts.counters.snapshot()[name] == 1


def test_a_link_and_a_directory_are_left(aged: Aged) -> None:
    """What is no regular file was not set aside by us."""
    dead = aged.home.spool() / "dead"
    (dead / "d.json").mkdir()
    (dead / "l.json").symlink_to("/etc/hostname")
    for path in dead.iterdir():
        os.utime(path, (0, 0), follow_symlinks=False)
    aged.round()
    assert sorted(path.name for path in dead.iterdir()) == ["d.json", "l.json"]


@pytest.mark.parametrize("of_queue", [False, True], ids=["evidence", "queue"])
def test_damaged_copies_go_by_the_time_in_their_name(aged: Aged, of_queue: bool) -> None:
    """A damaged queue is kept as long as a dead letter; evidence, which may hold what was never sent, for ever."""
    store = aged.home.places.queue_file if of_queue else aged.store.path
    old, young = (store.with_name(f"{store.name}.corrupt-{int(aged.hands.wall_now - d * DAY)}") for d in (91, 89))
    for path in (old, young):
        path.write_bytes(b"x")
        Path(f"{path}-wal").write_bytes(b"x")
    aged.round()
    assert [old.exists(), Path(f"{old}-wal").exists()] == [not of_queue] * 2
    assert young.exists()


def test_dead_jobs_have_the_days_of_dead_letters(aged: Aged) -> None:
    """A job that was given up stays for a person to look at, longer than one that is done, and not for ever."""
    queue = aged.home.parts.queue
    queue.enqueue(NewJob("lost", "flush"))
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, GiveUp("refused"))
    aged.hands.move(89 * DAY)
    aged.round()
    assert queue.get("lost") is not None
    aged.hands.move(2 * DAY)
    aged.round()
    assert queue.get("lost") is None
    assert aged.home.parts.counters.snapshot()["dead_jobs_expired"] == 1


def test_one_look_holds_nobody_up(aged: Aged) -> None:
    """A round of many packets is spread over looks, and each packet is one short transaction."""
    for number in range(6):
        aged.packet(f"s{number}", PacketStatus.SUCCEEDED, 100)
    plain = aged.hands.clock().monotonic
    ticking = iter(range(10_000))
    clock = aged.home.parts.clock
    object.__setattr__(aged.home.parts, "clock", type(clock)(clock.wall, lambda: plain() + next(ticking) * 0.15))
    aged.retention.begin()
    aged.retention.look()
    assert aged.sessions()
    looks = 1
    while aged.sessions():
        aged.retention.look()
        looks += 1
    assert looks >= 3


def test_a_spool_that_cannot_be_read_costs_the_others_nothing(aged: Aged) -> None:
    """The error is told at the end of the round, and what could be done was."""
    aged.packet("old", PacketStatus.SUCCEEDED, 91)
    letter = dead_letter(aged, 91)
    other = aged.home.spool("aaa")
    aged.home.upkeep.refresh()
    (other / "dead").rmdir()
    (other / "dead").write_text("in the way")
    with pytest.raises(OSError):
        aged.round()
    assert not letter.exists()
    assert aged.sessions() == set()


def test_a_clock_ten_years_ahead_deletes_nothing(aged: Aged) -> None:
    """Everything seems to have had its days: nothing goes while the clock is doubted, `status` says why and what to do,
    and with the right time all is as it was (what had its days then goes)."""
    trust = ClockTrust(aged.home.places.data / NAME, aged.hands.clock())
    object.__setattr__(aged.home.parts, "clock_trust", trust)
    aged.packet("old", PacketStatus.SUCCEEDED, 91)
    aged.packet("young", PacketStatus.SUCCEEDED, 1)
    letters = dead_letter(aged, 91), dead_letter(aged, 1, name="y")
    finish(aged.home, NewJob("done", "flush"), Done("delivered"))
    aged.hands.wall_now += 3_652 * DAY
    aged.home.upkeep.tick()
    aged.round()
    assert aged.sessions() == {"old", "young"}
    assert all(letter.exists() for letter in letters)
    assert aged.home.parts.queue.get("done") is not None
    (problem,) = [each for each in aged.home.view.status()["problems"] if each["code"] == "clock-doubted"]
    assert "3,652 days" in problem["message"] and "timedatectl" in problem["remedy"] and not problem["degrades"]
    aged.hands.wall_now -= 3_652 * DAY
    aged.home.upkeep.tick()
    aged.round()
    assert aged.sessions() == {"young"}
    assert [letter.exists() for letter in letters] == [False, True]
    assert "clock-doubted" not in aged.home.codes()


def test_a_clock_that_is_set_within_a_round_changes_nothing_about_it(aged: Aged) -> None:
    """A round goes by the time it began at."""
    aged.packet("young", PacketStatus.SUCCEEDED, 1)
    aged.retention.begin()
    aged.hands.wall_now += 3_652 * DAY
    aged.retention.look()
    assert aged.sessions() == {"young"}
