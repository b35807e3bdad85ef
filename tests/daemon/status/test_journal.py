"""The last things that happened."""

import asyncio
import threading

from daemon.status.journal import KEPT, Journal
from memsyncd.clock import Clock


def test_ids_rise_and_a_reader_gets_what_is_new() -> None:
    """A reader that tells the last id it saw gets everything after it."""
    journal = Journal(Clock())
    journal.note("a", n=1)
    journal.note("b", n=2)
    assert [event["kind"] for event in journal.since(1)["events"]] == ["b"]
    assert journal.since(2) == {"events": [], "gap": False}


def test_a_gap_is_marked() -> None:
    """A reader that was away too long is told that events are missing."""
    journal = Journal(Clock())
    for number in range(KEPT + 5):
        journal.note("a", n=number)
    assert journal.since(0)["gap"]
    assert not journal.since(5)["gap"]


def test_an_id_of_an_earlier_daemon_is_a_gap() -> None:
    """A reader that followed a daemon that is no more is told so and gets what there is, instead of silence."""
    journal = Journal(Clock())
    journal.note("a")
    assert journal.since(0)["gap"] is False
    answer = journal.since(400)
    assert (answer["gap"], [event["id"] for event in answer["events"]]) == (True, [1])


def test_a_waiting_reader_is_told_from_another_thread() -> None:
    """The long poll ends with the first event, which a worker's thread notes."""
    journal = Journal(Clock())

    async def read() -> dict[str, object]:
        threading.Timer(0.05, journal.note, ("a",)).start()
        return await journal.following(0, 10.0)

    answer = asyncio.run(read())
    assert [event["kind"] for event in answer["events"]] == ["a"]  # type: ignore[index, attr-defined]


def test_a_wait_without_events_ends_empty() -> None:
    """The long poll gives an empty answer when its time is over, and leaves nobody waiting."""
    journal = Journal(Clock())
    assert asyncio.run(journal.following(0, 0.01)) == {"events": [], "gap": False}
    assert not journal._waiting
