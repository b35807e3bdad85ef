"""What was given up is counted once, and what else stands still is told: paused projects, requests to forget."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from daemon.status.given_up import LOOKED_AT, given_up, sorted_out
from daemon.status.offline import offline_parts
from daemon.status.parts import GivenUp, SpoolPart, StatusParts
from daemon.status.problems import problems
from daemon.status.report import status_document
from jobs.delivery import CHECKPOINT, FLUSH, flush_job_id
from jobs.forgetting import FORGET
from jobs.job import Job, JobState, NewJob
from jobs.outcomes import GiveUp
from jobs.queue.contract import QueueCounts
from tests.daemon.composed import Composed, composed

SPOOL = "codex"
PATHS = {SPOOL: "/s/codex"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        yield made


def job(kind: str, identity: str, **payload: Any) -> Job:
    return Job(
        id=identity, kind=kind, lane="", destination="", state=JobState.DEAD, priority=0, payload=payload,
        not_before=None, attempts=0, crashes=0, reason="", errors=(), created_at=0.0, updated_at=0.0,
    )  # fmt: skip


def flush(packet: str) -> Job:
    return job(FLUSH, flush_job_id(SPOOL, packet), spool=SPOOL, packet=packet)


def checkpoint(identity: str, *packets: str, handoff: str = "") -> Job:
    return job(CHECKPOINT, identity, spool=SPOOL, packets=list(packets), handoff=handoff)


@pytest.mark.parametrize(
    ("dead", "packets", "jobs", "kept"),
    [
        ([], 0, 0, {}),
        ([flush("p")], 1, 0, {}),
        ([flush("p"), checkpoint("c", "p")], 1, 0, {}),
        ([flush("p"), checkpoint("c", "p", handoff="h")], 1, 0, {"/s/codex": 1}),
        ([flush("p"), checkpoint("c", "q", handoff="h")], 1, 1, {"/s/codex": 1}),
        ([checkpoint("c")], 0, 1, {}),
        ([job(FORGET, "forget:1")], 0, 1, {}),
        ([job(FLUSH, "f"), job("of-tomorrow", "x", handoff="h", spool="unserved")], 1, 1, {"": 1}),
    ],
)
def test_each_loss_once(dead: list[Job], packets: int, jobs: int, kept: Mapping[str, int]) -> None:
    """A packet's checkpoint and handoff are no further losses; a checkpoint that was given up by itself is one."""
    assert sorted_out(dead, PATHS) == GivenUp(packets, jobs, kept)


@pytest.mark.parametrize(
    ("found", "handoffs", "messages"),
    [
        (GivenUp(packets=1, kept={"/s/codex": 1}), 1, ["1 packet was given up."]),
        (GivenUp(packets=2, jobs=1), 0, ["2 packets and 1 job were given up."]),
        (GivenUp(jobs=1, kept={"/s/codex": 1}), 3, ["1 job was given up.", "2 handoffs of codex were given up."]),
        (None, 1, ["2 jobs were given up.", "1 handoff of codex was given up."]),
    ],
)
def test_what_the_problems_say(found: GivenUp | None, handoffs: int, messages: list[str]) -> None:
    """The sentences name packets, jobs, and those handoffs that no dead job keeps."""
    counts = QueueCounts(ready=0, waiting=0, claimed=0, done=0, dead=2, cancelled=0, oldest_ready_seconds=0.0)
    parts = StatusParts(
        "1", 1.8e9, spools=(SpoolPart("codex", "/s/codex", dead=handoffs),), jobs=counts, given_up=found
    )
    assert [problem.message for problem in problems(parts)] == messages


def test_too_many_are_only_counted() -> None:
    """Of more dead jobs than are looked at one by one, the number is told, and nothing is read."""
    assert given_up(lambda **_: pytest.fail("it looked"), LOOKED_AT + 1, ()) == GivenUp(jobs=LOOKED_AT + 1)


def test_the_daemon_and_the_files_tell_the_same(home: Composed, tmp_path: Path) -> None:
    """A paused project, a request to forget that still looks, and a lost packet are told alike by both."""
    parts = home.parts
    parts.gate.pauses.pause_project("repo", "/w/tool", 900.0)
    parts.queue.enqueue(NewJob(id="flush:codex:p", kind=FLUSH))
    claim = parts.queue.claim()
    assert claim is not None
    parts.queue.finish(claim, GiveUp("refused"))
    parts.queue.enqueue(NewJob(id="forget:1", kind=FORGET, delay=60.0))
    live = home.view.status()
    down = status_document(offline_parts(parts.places, {}, now=parts.clock.wall()))
    for told in (live, down):
        assert [each["root"] for each in told["paused_projects"]] == ["/w/tool"]
        assert told["paused_projects"][0]["until"] is not None
        assert (told["paused"], told["paused_until"]) == (False, None)
        assert (told["forgetting"], told["backlog"]) == (1, 1)
        assert "1 packet was given up." in [problem["message"] for problem in told["problems"]]
