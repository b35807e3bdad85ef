"""An edge puts packets into the shared queue whole, lets go of them, and learns their end."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from jobs.delivery import FLUSH
from jobs.fleet.ends import NO_MORE
from jobs.fleet.share import ELSEWHERE, IN_SHARED_QUEUE
from jobs.flush import flush as plain_flush
from jobs.job import JobState
from jobs.recovery import reconcile, retry_by_person
from memsyncd.evidence.event import PacketStatus
from memsyncd.platforms.platform import ExtractionState
from tests.fakes.scripted_platform import Add
from tests.jobs.delivering import SPOOL
from tests.jobs.fleet.sharing import EDGE, Sharing, sharing
from tests.jobs.test_checkpoint_of_plugins import PLUGIN_TABLES

LONG = "x" * 50_000


@pytest.fixture
def fleet() -> Iterator[Sharing]:
    with sharing() as made:
        yield made


@pytest.fixture
def plugins(tmp_path: Path) -> Iterator[Sharing]:
    """Give a fleet whose edge serves a plugin's evidence."""
    with closing(sqlite3.connect(tmp_path / "evidence.sqlite3")) as connection:
        connection.executescript(PLUGIN_TABLES)
    sharing = Sharing(tmp_path, own=False)
    try:
        yield sharing
    finally:
        sharing.close()


def test_what_was_asked_for_is_over_when_the_shared_queue_has_the_packet(fleet: Sharing) -> None:
    """The checkpoint is done, so its handoff goes, though nothing is delivered yet; the packet says where it is."""
    fleet.edge.exchange()
    asked = fleet.edge.ask()
    fleet.edge.run()
    job = fleet.edge.job(asked)
    assert (job.state, job.reason) == (JobState.DONE, IN_SHARED_QUEUE)
    assert fleet.edge.packet().status == PacketStatus.SHARED
    assert fleet.platform.count("add") == 0
    (shared,) = fleet.jobs()
    assert shared.id.startswith(f"deliver:{EDGE}:")
    assert [each["content"] for each in shared.payload["batch"]["messages"]] == ["question 1", "answer 1"]


def test_the_edge_learns_that_it_was_delivered(fleet: Sharing) -> None:
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.work(30.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert [end.status for _, end in fleet.ends] == [PacketStatus.SUCCEEDED]
    assert fleet.platform.count("add") == 1


def test_nothing_of_what_was_said_stays_in_the_queue_once_it_is_delivered(fleet: Sharing) -> None:
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.work(30.0)
    (job,) = fleet.jobs()
    assert job.state is JobState.DONE
    assert job.payload.keys() == {"memories"}


def test_the_edge_learns_that_it_was_given_up_and_why(fleet: Sharing) -> None:
    fleet.platform.adds.extend([Add.REJECT] * 5)
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.work(30_000.0)
    packet = fleet.edge.packet()
    assert (packet.status, packet.error) == (PacketStatus.GAVE_UP, "refused (400)")
    fleet.edge.exchange(2)
    fleet.edge.ask()
    fleet.work(120.0)
    assert fleet.edge.packet(1).status == PacketStatus.SUCCEEDED


def test_every_batch_is_a_job_of_the_sessions_lane_in_order(fleet: Sharing) -> None:
    fleet.edge.say("user_prompt", prompt=f"first {LONG}")
    fleet.edge.say("assistant_stop", text=f"second {LONG}")
    fleet.edge.ask()
    fleet.edge.run()
    first, second = sorted(fleet.jobs(), key=lambda job: job.id)
    assert first.lane == second.lane
    assert [first.id[-2:], second.id[-2:]] == [":0", ":1"]
    fleet.work(60.0)
    assert [number for name, number in fleet.platform.calls if name == "add"] == [0, 1]
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED


def test_a_shared_queue_that_is_away_costs_a_wait_and_loses_nothing(fleet: Sharing) -> None:
    fleet.is_away = True
    fleet.edge.exchange()
    asked = fleet.edge.ask()
    fleet.edge.run(60.0)
    assert fleet.edge.job(asked).state is JobState.WAITING
    assert fleet.edge.packet().is_open
    assert fleet.jobs() == []
    fleet.is_away = False
    fleet.work(60.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED


def test_a_commit_whose_answer_was_lost_puts_nothing_in_twice(fleet: Sharing) -> None:
    """The edge dies between the shared queue's commit and its own: the same jobs are put in again, and are known."""
    fleet.edge.exchange()
    fleet.edge.ask()
    closing = fleet.edge.evidence.close_packet

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    fleet.edge.evidence.close_packet = dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        fleet.edge.run()
    fleet.edge.evidence.close_packet = closing  # type: ignore[method-assign]
    assert len(fleet.jobs()) == 1
    fleet.edge.queue.void_claims()
    fleet.work(60.0)
    assert fleet.platform.count("add") == 1
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED


def test_a_job_that_was_pruned_before_its_end_was_learned_was_delivered(fleet: Sharing) -> None:
    """Only what is over is pruned so soon; that nobody saw it is kept with the packet."""
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.edge.run()
    while fleet.work_once() or fleet.shared.seconds_to_next() is not None:
        fleet.edge.hands.move(2.0)
    fleet.edge.hands.move(86_400.0)
    fleet.shared.prune(finished_before=fleet.edge.hands.wall_now + 1)
    fleet.edge.run(120.0)
    packet = fleet.edge.packet()
    assert (packet.status, packet.error) == (PacketStatus.SUCCEEDED, NO_MORE)


@pytest.mark.parametrize("is_delivered", [True, False])
def test_what_the_database_lost_is_put_in_again_and_looked_for_first(fleet: Sharing, is_delivered: bool) -> None:
    """It was restored from an older copy, or its standby had not all: the edge has the packet still. Whether it had been
    delivered nobody knows any more; it is on the platform once."""
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.edge.run()
    if is_delivered:
        assert fleet.work_once()
    for job in fleet.jobs():
        fleet.shared.erase(job.lane)
    assert fleet.jobs() == []
    fleet.edge.run(30.0)
    assert fleet.edge.packet().is_open
    reconcile(SPOOL, fleet.edge.evidence, fleet.edge.delivery)
    fleet.work(300.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert len(fleet.platform.committed) == 1


def test_what_is_held_is_not_put_in(fleet: Sharing) -> None:
    fleet.edge.held = "its project is paused"
    fleet.edge.exchange()
    fleet.edge.ask()
    fleet.edge.run(1.0)
    assert fleet.jobs() == []


def test_a_plugins_packet_is_open_until_its_end_is_known(plugins: Sharing) -> None:
    """Its own workers know no such state, so its packet stays in flight and its handoff waits."""
    fleet = plugins
    asked = fleet.edge.ask(handoff="h")
    fleet.edge.run(1.0)
    assert fleet.edge.packet().is_open
    assert len(fleet.jobs()) == 1
    fleet.work(60.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert fleet.edge.job(asked).state is JobState.DONE


def test_what_this_machine_had_sent_before_it_shared_a_queue_is_not_sent_again(fleet: Sharing) -> None:
    """A packet that was under way when `queue.url` was set: its accepted batch is asked for, its unanswered one looked
    for, the third alone is sent."""
    for number in range(3):
        fleet.edge.say("user_prompt", prompt=f"{number} {LONG}")
    fleet.edge.ask()
    flush = fleet.edge.handlers[FLUSH]
    fleet.edge.handlers = {**fleet.edge.handlers, FLUSH: partial(plain_flush, delivery=fleet.edge.delivery)}
    fleet.platform.adds.extend([Add.ACCEPT, Add.COMMIT_UNHEARD])
    fleet.platform.fates.append(ExtractionState.RUNNING)
    fleet.edge.run(1.0)
    assert fleet.platform.count("add") == 2
    fleet.edge.handlers = {**fleet.edge.handlers, FLUSH: flush}
    fleet.work(60.0)
    fleet.platform.end()
    fleet.work(300.0)
    assert [number for name, number in fleet.platform.calls if name == "add"] == [0, 1, 2]
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED


def test_a_packet_given_up_before_is_put_in_at_a_persons_word(fleet: Sharing) -> None:
    """It died when the queue was this machine's own; whoever tries it again has it delivered, not closed."""
    fleet.edge.exchange()
    asked = fleet.edge.ask()
    flush = fleet.edge.handlers[FLUSH]
    fleet.edge.handlers = {**fleet.edge.handlers, FLUSH: partial(plain_flush, delivery=fleet.edge.delivery)}
    fleet.platform.adds.extend([Add.REJECT] * 5)
    fleet.edge.run(30_000.0)
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP
    fleet.edge.handlers = {**fleet.edge.handlers, FLUSH: flush}
    assert retry_by_person(fleet.edge.queue, asked)
    fleet.work(120.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert len(fleet.platform.committed) == 1


def test_a_dead_batch_is_known_though_an_earlier_one_was_pruned(fleet: Sharing) -> None:
    """What was delivered is pruned sooner than a dead letter; the edge was away for all of it."""
    fleet.edge.say("user_prompt", prompt=f"first {LONG}")
    fleet.edge.say("assistant_stop", text=f"second {LONG}")
    fleet.edge.ask()
    fleet.edge.run()
    fleet.platform.adds.extend([Add.ACCEPT, *[Add.REJECT] * 5])
    for _ in range(200):
        if not fleet.work_once():
            fleet.edge.hands.move(30.0)
    assert {job.state for job in fleet.jobs()} == {JobState.DONE, JobState.DEAD}
    fleet.shared.prune(finished_before=fleet.edge.hands.wall_now + 1)
    fleet.edge.run(120.0)
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP


def test_a_plugins_packet_that_was_delivered_and_pruned_is_not_sent_again(plugins: Sharing) -> None:
    """The edge was away for longer than jobs are kept: it puts the batch in again, which is found on the platform."""
    fleet = plugins
    fleet.edge.ask(handoff="h")
    fleet.edge.run(1.0)
    while fleet.work_once() or fleet.shared.seconds_to_next() is not None:
        fleet.edge.hands.move(2.0)
    fleet.shared.prune(finished_before=fleet.edge.hands.wall_now + 1)
    assert fleet.jobs() == []
    fleet.work(120.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert fleet.platform.count("add") == 1


def test_a_plugins_packet_that_lies_in_another_queue_is_not_put_in_again(plugins: Sharing) -> None:
    """Both queues' workers would deliver it."""
    fleet = plugins
    fleet.edge.ask(handoff="h")
    fleet.edge.run(1.0)
    first, fleet.shared = fleet.shared, fleet.opened("other.sqlite3")
    fleet.shared.identity = "two"
    fleet.edge.run(600.0)
    assert fleet.jobs() == []
    assert [job.reason for job in fleet.edge.queue.jobs(kind=FLUSH)] == [ELSEWHERE]
    fleet.shared.close()
    fleet.shared = first
    fleet.work(120.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert fleet.platform.count("add") == 1
