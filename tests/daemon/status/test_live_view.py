"""The running daemon as its status socket sees it."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.checkpoint import BEING_DELIVERED
from jobs.delivery import FLUSH, checkpoint_job, lane
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from memsyncd.evidence.event import Scope
from tests.daemon.composed import SCOPE, Composed, composed

DESTINATION = "somewhere"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def finish(home: Composed, new: NewJob, outcome: Outcome | None) -> None:
    home.parts.queue.enqueue(new)
    if outcome is None:
        return
    claim = home.parts.queue.claim()
    assert claim is not None and claim.job.id == new.id
    home.parts.queue.finish(claim, outcome)


def asked(home: Composed, outcome: Outcome | None, flush: Outcome | None = None) -> dict[str, str]:
    """Return a flush's answer where its checkpoint and the flush of its packet ended like this."""
    checkpoint = checkpoint_job("claude-code", "s", key="k", reason="manual")
    if isinstance(outcome, Snooze) and outcome.why == BEING_DELIVERED:
        outcome = Snooze(outcome.delay, outcome.why, {**checkpoint.payload, "packets": ["p"]})
    finish(home, checkpoint, outcome)
    if flush is not None:
        finish(home, NewJob("f", FLUSH, lane=lane("claude-code", "s"), destination=DESTINATION), flush)
    return home.view._outcome([checkpoint.id])


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
    assert home.view._outcome([job.id]) == {"outcome": "delivered", "packets": 2, "reason": ""}


def test_nothing_asked_is_nothing(home: Composed) -> None:
    """A flush with no session to send for ends at once."""
    home.view.ingest_thread.scan_now = lambda _: True  # type: ignore[method-assign,assignment]
    answer = asyncio.run(home.view.flush("unheard-of", None, 5.0))
    assert answer["outcome"] == "nothing"


def test_a_session_or_a_directory_is_chosen(home: Composed) -> None:
    """Only what belongs to it is asked for; a sibling whose name begins alike does not."""
    home.record("s1", "a")
    home.record("s2", "b")
    assert len(home.view._ask("s1", None)) == 1
    assert len(home.view._ask(None, "/w/tool/src")) == 2
    assert home.view._ask(None, "/w/tool-2") == []


def test_one_store_that_cannot_be_read_hides_no_other(home: Composed) -> None:
    """A flush asks for what can be read."""
    home.spool("codex")
    home.upkeep.maintain()
    home.record("s", "a", spool="codex")
    home.parts.served.store("claude-code").close()
    assert len(home.view._ask(None, None)) == 1


def test_status_answers_whatever_became_of_a_spool(home: Composed) -> None:
    """A spool that is a file now has no counts; the status with the rest of them comes all the same."""
    home.spool("codex")
    home.upkeep.maintain()
    shutil.rmtree(home.places.spools / "claude-code")
    (home.places.spools / "claude-code").write_text("in the way")
    status = home.view.status()
    assert [spool["harness"] for spool in status["spools"]] == ["claude-code", "codex"]


def test_status_counts_what_lies_in_each_spool(home: Composed) -> None:
    """Waiting, claimed, given up and corrupt files, and a pause, as they are on disk."""
    spool = home.parts.served.spool("claude-code")
    for name in ("a.json", "b.json", "c.running", "d.running", "e.running"):
        (spool.pending / name).write_text("{}")
    spool.bury("d", "refused")
    spool.quarantine("e", "torn")
    (shown,) = home.view.status()["spools"]
    assert [shown[key] for key in ("pending", "running", "dead", "corrupt")] == [2, 1, 1, 1]


@pytest.mark.parametrize("root", ["", "relative", "C:\\work"])
def test_a_root_that_is_no_path_here_is_in_no_directory(home: Composed, root: str) -> None:
    """A plugin's store may hold anything; the flush of a directory answers all the same."""
    scope = Scope("r", "a", root=root)
    assert not home.view._is_in(scope, "/w/tool")
    assert not home.view._is_in(SCOPE, "/w/\0")
    assert home.view._is_in(SCOPE, "/w/tool/src")


def test_a_dead_letter_of_a_spool_that_is_gone_is_retried_and_discarded(home: Composed) -> None:
    """The job is there all the same; only its file cannot be brought back."""
    for key in ("a", "b"):
        finish(home, checkpoint_job("gone", "s", key=key, reason="manual", handoff="h"), GiveUp("refused"))
    assert home.view.retry("checkpoint:gone:a") == "done"
    assert home.view.discard("checkpoint:gone:b") == "done"


def test_a_retry_brings_the_handoff_back(home: Composed) -> None:
    """The dead letter's file waits again, and a discard deletes it."""
    spool = home.parts.served.spool("claude-code")
    for stem in ("a", "b"):
        (spool.pending / f"{stem}.running").write_text('{"hook_input": {}}')
        spool.bury(stem, "refused")
        finish(home, checkpoint_job("claude-code", "s", key=stem, reason="manual", handoff=stem), GiveUp("refused"))
    assert home.view.retry("checkpoint:claude-code:a") == "done"
    assert [waiting.stem for waiting in spool.waiting()] == ["a"]
    assert home.view.discard("checkpoint:claude-code:b") == "done"
    assert spool.dead_letters() == {}
    assert home.view.retry("unheard-of") == "unknown"
    assert home.view.discard("checkpoint:claude-code:b") == "already so"


def test_an_answer_tells_done_from_already_so_and_from_cannot(home: Composed) -> None:
    """A job that is over is neither retried nor discarded, and the answer says in which state it is."""
    finish(home, NewJob("over", FLUSH), Done("delivered"))
    assert home.view.retry("over") == "it is done"
    assert home.view.discard("over") == "it is done"
    home.parts.queue.enqueue(NewJob("ready", FLUSH))
    assert home.view.retry("ready") == "already so"


def test_recorded_evidence_is_not_passed_over(home: Composed) -> None:
    """What is recorded and goes out only when its session ends is counted and named in the sentence (never-again 143)."""
    home.record("s1", "one", "two")
    home.record("s2", "three")
    status = home.view.status()
    assert status["evidence"] == {"unsent_events": 6, "unsent_sessions": 2}
    assert "6 recorded events of 2 sessions" in status["summary"]


def test_asking_for_a_flush_again_piles_nothing_up(home: Composed) -> None:
    """While an earlier asking is still to come, the next one waits for the same job."""
    home.record("s1", "one")
    first = home.view._ask(None, None)
    assert home.view._ask(None, None) == first
    assert len(home.jobs("checkpoint")) == 1
