"""After an answer that never came: wait, look, and only then send again (CONTRACT "Delivered once")."""

from collections.abc import Iterator

import pytest

from jobs.delivery import LOOK_AFTER_SECONDS
from memsyncd.evidence.event import PacketStatus
from memsyncd.platforms.platform import Cancelled, NoAnswer
from tests.fakes.scripted_platform import Add
from tests.jobs.delivering import Crash, Delivering, fresh


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


@pytest.mark.parametrize("add", [Add.COMMIT_UNHEARD, Add.COMMIT_502, Add.LOST, Add.BUSY_503, Add.ODD])
def test_after_an_unclear_end_it_waits_looks_and_only_then_sends(delivering: Delivering, add: Add) -> None:
    """The look comes five seconds after the request, and a batch that is there is not sent again (CONTRACT)."""
    delivering.platform.adds.append(add)
    delivering.exchange()
    delivering.ask()
    delivering.run(4.0)
    assert delivering.platform.count("find") == 0
    delivering.run(120.0)
    assert delivering.platform.count("find") == 1
    assert delivering.platform.count("add") == (1 if add in (Add.COMMIT_UNHEARD, Add.COMMIT_502) else 2)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]
    assert delivering.packet().attempts == 0


def test_after_a_crash_the_look_waits_its_five_seconds(delivering: Delivering) -> None:
    """A request that was in the air when the process died gets the time to be carried out before it is looked for."""

    def die() -> None:
        delivering.platform.on_commit = lambda: None
        raise Crash

    delivering.platform.on_commit = die
    delivering.exchange()
    delivering.ask()
    with pytest.raises(Crash):
        delivering.run(1.0)
    delivering.restart()
    delivering.run(LOOK_AFTER_SECONDS - 0.5)
    assert delivering.platform.count("find") == 0
    delivering.run(3.0)
    assert (delivering.platform.count("add"), delivering.platform.count("find")) == (1, 1)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


@pytest.mark.parametrize("add", [Add.BUSY_429, Add.OFFLINE, Add.KEY])
def test_what_certainly_did_not_arrive_is_sent_again_without_a_look(delivering: Delivering, add: Add) -> None:
    """No search for what was never taken; no attempt is used."""
    delivering.platform.adds.append(add)
    delivering.exchange()
    delivering.ask()
    delivering.run(2_000.0)
    assert delivering.platform.count("find") == 0
    assert delivering.platform.count("add") == 2
    assert delivering.packet().attempts == 0
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_a_batch_found_by_its_memories_alone_counts_as_delivered(delivering: Delivering) -> None:
    """Memories that carry the packet's mark prove the delivery where no event tells of it."""
    delivering.platform.adds.append(Add.COMMIT_UNHEARD)
    delivering.platform.on_commit = lambda: setattr(delivering.platform.committed[-1], "has_event", False)
    delivering.exchange()
    delivering.ask()
    delivering.run(120.0)
    assert delivering.platform.count("add") == 1
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_a_look_that_fails_is_repeated_before_anything_is_sent(delivering: Delivering) -> None:
    """While the platform cannot be asked, nothing is sent twice on suspicion."""
    delivering.platform.adds.append(Add.COMMIT_UNHEARD)
    delivering.platform.finds.append(NoAnswer("no answer came"))
    delivering.exchange()
    delivering.ask()
    delivering.run(300.0)
    assert (delivering.platform.count("add"), delivering.platform.count("find")) == (1, 2)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_our_own_stop_uses_no_attempt_and_is_looked_for(delivering: Delivering) -> None:
    """A call cancelled by the daemon's stop may have arrived all the same."""

    def cancelled(_: str) -> None:
        delivering.platform.on_call = lambda _: None
        raise Cancelled("stopping")

    delivering.platform.on_call = cancelled
    delivering.exchange()
    delivering.ask()
    delivering.run(1.0)
    delivering.restart()
    delivering.run(60.0)
    assert delivering.platform.count("find") == 1
    assert delivering.packet().attempts == 0
    assert delivering.platform.delivered() == ["question 1", "answer 1"]
