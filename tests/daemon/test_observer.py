"""What is told of every run of a job."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.observer import Observer
from jobs.delivery import CHECKPOINT, FLUSH, checkpoint_job
from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.poll import POLL
from memsyncd.platforms.platform import Extraction, ExtractionState
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def run(home: Composed, observer: Observer, new: NewJob, outcome: Outcome) -> Job:
    """Run one job to an outcome and tell the observer."""
    queue = home.parts.queue
    queue.enqueue(new)
    claim = queue.claim()
    assert claim is not None and claim.job.id == new.id
    observer.started(claim.job)
    job = queue.finish(claim, outcome)
    assert job is not None
    observer.finished(job, outcome, 0.01)
    return job


def counters(home: Composed) -> dict[str, int]:
    return dict(home.parts.counters.snapshot())


@pytest.mark.parametrize(
    ("outcome", "counter"),
    [
        (Done("delivered: 1 memories made"), "jobs_done"),
        (Snooze(5.0, "not yet"), "jobs_snoozed"),
        (Retry("refused"), "jobs_retried"),
        (Cool("local", "busy", "busy"), "jobs_cooled"),
        (GiveUp("refused"), "jobs_given_up"),
    ],
)
def test_each_outcome_has_its_own_counter(home: Composed, outcome: Outcome, counter: str) -> None:
    """Distinct words for distinct ends (never-again 143)."""
    run(home, Observer(home.parts), NewJob("f", FLUSH, destination="local"), outcome)
    assert counters(home)[counter] == 1


def test_progress_is_work_and_not_its_absence(home: Composed) -> None:
    """A question that brought nothing and a failing destination move nothing (never-again 134, 139)."""
    observer = Observer(home.parts)
    moved: list[int] = []
    observer.on_progress = lambda: moved.append(1)
    run(home, observer, NewJob("p", POLL, destination="a"), Snooze(3_600.0, "nothing open"))
    run(home, observer, NewJob("c", FLUSH, destination="b"), Cool("b", "busy", "busy"))
    assert moved == []
    run(home, observer, NewJob("d", FLUSH), Done("delivered: nothing new"))
    assert moved == [1]


def test_packets_are_counted_by_their_end(home: Composed) -> None:
    """Delivered, empty and refused are three things."""
    observer = Observer(home.parts)
    run(home, observer, NewJob("a", FLUSH), Done("delivered: 2 memories made"))
    run(home, observer, NewJob("b", FLUSH), Done("nothing to deliver: no dialogue in it"))
    run(home, observer, NewJob("c", FLUSH), GiveUp("refused"))
    found = counters(home)
    assert [found[f"packets_{end}"] for end in ("delivered", "empty", "refused")] == [1, 1, 1]
    assert observer.given_up == {FLUSH: (1, "refused")}


def test_the_end_of_a_checkpoint_lets_its_handoff_go(home: Composed) -> None:
    """Unlinked when done, kept with its reason when dead."""
    observer = Observer(home.parts)
    spool = home.parts.served.spool("claude-code")
    for stem, outcome in (("good", Done("delivered")), ("bad", GiveUp("refused (400)"))):
        (spool.pending / f"{stem}.running").write_text("{}")
        new = checkpoint_job("claude-code", stem, key=stem, reason="manual", handoff=stem)
        home.parts.ingest.requests.held[new.id] = (spool, stem)
        run(home, observer, new, outcome)
    assert list(spool.pending.iterdir()) == []
    assert spool.dead_letters() == {"bad": "refused (400)"}


def test_a_flush_that_died_wakes_what_waits_behind_it(home: Composed) -> None:
    """One that crashed its workers tells nobody itself; newer evidence must not wait for a second look."""
    observer = Observer(home.parts)
    waiting = NewJob("waiting", CHECKPOINT, lane="claude-code/s")
    run(home, observer, waiting, Snooze(900.0, "its packet is being delivered"))
    run(home, observer, NewJob("f", FLUSH, lane="claude-code/s"), GiveUp("crashed the worker"))
    job = home.parts.queue.get("waiting")
    assert job is not None and job.state is JobState.READY


def test_a_verdict_that_met_its_job_awake_wakes_it_after_its_run(home: Composed) -> None:
    """Between the look and the sleep a verdict would else be overheard."""
    observer = Observer(home.parts)
    home.parts.extractions.register("e", "f")
    home.parts.extractions.told(Extraction("e", ExtractionState.SUCCEEDED, 1))
    job = run(home, observer, NewJob("f", FLUSH), Snooze(120.0, "its extraction is open"))
    assert job.state is JobState.WAITING
    woken = home.parts.queue.get("f")
    assert woken is not None and woken.state is JobState.READY


def test_a_sending_of_telemetry_is_no_progress_and_no_line(home: Composed) -> None:
    """Whether it succeeds or fails: nobody's work has moved (never-again 76)."""
    observer = Observer(home.parts)
    moved: list[int] = []
    observer.on_progress = lambda: moved.append(1)
    before = home.parts.journal.since(0)
    run(home, observer, NewJob("t", "telemetry"), Cool("telemetry:http://h", "busy", "busy"))
    run(home, observer, NewJob("u", "telemetry"), Snooze(300.0, ""))
    assert moved == []
    assert home.parts.journal.since(0) == before
