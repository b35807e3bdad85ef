"""Memories that a platform elsewhere told a moment ago, and that are not in any file yet when their project is forgotten."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.forgetting.forgetting import Forgetting
from daemon.forgetting.target import Target
from jobs.queue.claims import JobContext
from memsyncd.evidence.event import Packet
from memsyncd.platforms.local import deleting
from memsyncd.platforms.local.deleting import Whose
from memsyncd.platforms.platform import Memory
from tests.daemon.composed import SCOPE, Composed, composed

TOLD = Memory("m1", "The package manager is pnpm.", "project_knowledge", 0.9, "2026-01-02T03:04:05Z", {})


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path, MEM0_API_KEY="m0-" + "test", MEM0_API_URL="http://127.0.0.1:9") as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def test_what_was_heard_before_is_deleted_with_the_rest(home: Composed) -> None:
    """It would be kept a second later otherwise, and found."""
    heard(home, packet(home))
    answer = forget(home)
    assert (answer["status"], answer["deleted"].get("memories")) == ("deleted", 1)
    home.upkeep.tick()
    assert left(home) == 0


def test_what_is_heard_afterwards_is_deleted_by_its_packet(home: Composed) -> None:
    """The job that looks for late memories knows the packets that were under way."""
    under_way = packet(home)
    forget(home)
    heard(home, under_way)
    (job,) = home.jobs("forget")
    home.parts.handlers["forget"](JobContext(job, threading.Event()))
    home.upkeep.tick()
    assert left(home) == 0


def packet(home: Composed) -> Packet:
    """Return a session's packet, which is open."""
    home.record("s1", "Which package manager?")
    reserved = home.parts.served.store("claude-code").prepare("s1", "manual", tuple)
    assert reserved is not None
    return reserved


def forget(home: Composed) -> dict[str, Any]:
    """Forget the project here; return the answer."""
    target = Target("k", home.parts.clock.wall(), repo_id=SCOPE.repo_id, app_id=SCOPE.app_id)
    return Forgetting(home.parts).forget(target)


def heard(home: Composed, packet: Packet) -> None:
    home.parts.delivery.on_memories(packet, SCOPE, [TOLD])


def left(home: Composed) -> int:
    return deleting.count(home.places.memory_file, Whose(app_id=SCOPE.app_id))
