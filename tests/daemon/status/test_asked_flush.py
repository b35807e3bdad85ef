"""A flush that somebody asks for, and what it is told."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.status.asked_flush import AskedFlush, _is_in
from jobs.checkpoint import BEING_DELIVERED
from jobs.delivery import FLUSH, checkpoint_job, lane
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from memsyncd.evidence.event import Scope
from tests.daemon.composed import SCOPE, Composed, composed, finish

DESTINATION = "somewhere"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def flush_of(home: Composed) -> AskedFlush:
    """Return one whose scans have nothing to take in."""
    return AskedFlush(home.parts, lambda _: True)


def asked(home: Composed, outcome: Outcome | None, flush: Outcome | None = None) -> dict[str, str]:
    """Return a flush's answer where its checkpoint and the flush of its packet ended like this."""
    checkpoint = checkpoint_job("claude-code", "s", key="k", reason="manual")
    if isinstance(outcome, Snooze) and outcome.why == BEING_DELIVERED:
        outcome = Snooze(outcome.delay, outcome.why, {**checkpoint.payload, "packets": ["p"]})
    finish(home, checkpoint, outcome)
    if flush is not None:
        finish(home, NewJob("f", FLUSH, lane=lane("claude-code", "s"), destination=DESTINATION), flush)
    return flush_of(home).outcome([checkpoint.id])


UNDER_WAY = Snooze(900.0, BEING_DELIVERED)


@pytest.mark.parametrize(
    ("checkpoint", "flush", "outcome", "reason"),
    [
        (None, None, "waiting", ""),
        (UNDER_WAY, None, "waiting", ""),
        (UNDER_WAY, Snooze(120.0, EXTRACTION_OPEN), "waiting", ""),
        (UNDER_WAY, Snooze(5.0, ABOUT_TO_LOOK), "waiting", ""),
        (UNDER_WAY, Done("delivered: 1 memories made"), "waiting", ""),
        (UNDER_WAY, Snooze(60.0, "paused"), "put-off", "paused"),
        (UNDER_WAY, Snooze(10.0, "evidence.sqlite3 is locked"), "put-off", "evidence.sqlite3 is locked"),
        (UNDER_WAY, Retry("refused (400)"), "put-off", "refused (400)"),
        (UNDER_WAY, Cool(DESTINATION, "busy (503)", "busy"), "put-off", "held: busy (503)"),
        (Snooze(60.0, "its project is excluded"), None, "put-off", "its project is excluded"),
        (Snooze(60.0, "its evidence store is read-only"), None, "put-off", "its evidence store is read-only"),
        (
            GiveUp("wildcard-scope: the user id is a wildcard"),
            None,
            "refused",
            "wildcard-scope: the user id is a wildcard",
        ),
        (Done("nothing to deliver"), None, "nothing", ""),
    ],
)
def test_what_a_flush_answers(
    home: Composed, checkpoint: Outcome | None, flush: Outcome | None, outcome: str, reason: str
) -> None:
    """Put off is what time alone does not bring soon; an open extraction is waited for."""
    answer = asked(home, checkpoint, flush)
    assert (answer["outcome"], answer["reason"]) == (outcome, reason)


def test_a_delivered_flush_says_how_many_packets(home: Composed) -> None:
    """The count is of packets, the word is `delivered`."""
    job = checkpoint_job("claude-code", "s", key="k", reason="manual")
    finish(home, job, Snooze(900.0, BEING_DELIVERED, {**job.payload, "packets": ["p1", "p2"]}))
    home.parts.queue.wake(job.id)
    finish(home, job, Done("delivered 2 packets"))
    assert flush_of(home).outcome([job.id]) == {"outcome": "delivered", "packets": 2, "reason": ""}


def test_nothing_asked_is_nothing(home: Composed) -> None:
    """A flush with no session to send for ends at once."""
    answer = asyncio.run(flush_of(home).ask("unheard-of", None, 5.0))
    assert answer["outcome"] == "nothing"


def test_a_session_or_a_directory_is_chosen(home: Composed) -> None:
    """Only what belongs to it is asked for; a sibling whose name begins alike does not."""
    home.record("s1", "a")
    home.record("s2", "b")
    assert len(flush_of(home).queued("s1", None)) == 1
    assert len(flush_of(home).queued(None, "/w/tool/src")) == 2
    assert flush_of(home).queued(None, "/w/tool-2") == []


def test_one_store_that_cannot_be_read_hides_no_other(home: Composed) -> None:
    """A flush asks for what can be read."""
    home.spool("codex")
    home.upkeep.maintain()
    home.record("s", "a", spool="codex")
    home.parts.served.store("claude-code").close()
    assert len(flush_of(home).queued(None, None)) == 1


@pytest.mark.parametrize("root", ["", "relative", "C:\\work"])
def test_a_root_that_is_no_path_here_is_in_no_directory(home: Composed, root: str) -> None:
    """A plugin's store may hold anything; the flush of a directory answers all the same."""
    scope = Scope("r", "a", root=root)
    assert not _is_in(scope, "/w/tool")
    assert not _is_in(SCOPE, "/w/\0")
    assert _is_in(SCOPE, "/w/tool/src")


def test_asking_for_a_flush_again_piles_nothing_up(home: Composed) -> None:
    """While an earlier asking is still to come, the next one waits for the same job."""
    home.record("s1", "one")
    first = flush_of(home).queued(None, None)
    assert flush_of(home).queued(None, None) == first
    assert len(home.jobs("checkpoint")) == 1
