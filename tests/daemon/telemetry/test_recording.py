"""What the daemon tells of its work."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daemon.telemetry.recording import failure_label
from jobs.delivery import FLUSH, checkpoint_job, flush_job
from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Done, GiveUp, Outcome
from jobs.recovery import session_over
from memsyncd.evidence.event import NewEvent
from tests.daemon.composed import SCOPE, Composed, composed
from tests.daemon.telemetry.switched_on import ON


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path, **ON) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def told(place: Path) -> list[Mapping[str, Any]]:
    file = place / "telemetry.jsonl"
    return [json.loads(each) for each in file.read_bytes().splitlines()] if file.exists() else []


def over(home: Composed, new: NewJob, outcome: Outcome) -> Job:
    """Run a job to its end and let telemetry know."""
    home.parts.queue.enqueue(new)
    claim = home.parts.queue.claim()
    assert claim is not None and claim.job.id == new.id
    job = home.parts.queue.finish(claim, outcome)
    assert job is not None and home.parts.telemetry is not None
    home.parts.telemetry.recording.job_over(job)
    return job


def packet(home: Composed, slots: int) -> NewJob:
    """Reserve what a session has as one packet, with so many batches posted."""
    home.record("s", "a")
    store = home.parts.served.store("claude-code")
    found = store.prepare("s", "session-end", list)
    assert found is not None
    for number in range(slots):
        store.begin_post(found.packet_id, number, 1.0)
        store.accept_post(found.packet_id, number, f"e{number}", batches=slots, at=2.0)
    return flush_job("claude-code", found, "local")


@pytest.mark.parametrize(
    ("why", "label"),
    [
        ("refused (400: messages too strange)", "bad-request"),
        ("refused (422)", "bad-request"),
        ("refused (409)", "other"),
        ("the extraction took longer than its wait", "timeout"),
        ("extraction failed: out of cheese", "extraction-failed"),
        ("extraction missing", "extraction-missing"),
        ("crashed the worker", "crashed"),
        ("the platform's answer named no extraction event", "other"),
        ("", "other"),
    ],
)
def test_a_failure_is_a_label_never_its_words(why: str, label: str) -> None:
    """Facts 12.9."""
    assert failure_label(why) == label


def test_a_session_begins_once_it_is_stored(home: Composed) -> None:
    """With the agent's name, and repository and session as hashes."""
    telemetry = home.parts.telemetry
    assert telemetry is not None
    spool = home.parts.served.spool("claude-code")
    start = NewEvent("s", "session_start", {"source": "startup"}, "2026-01-01T00:00:00Z", "h", SCOPE)
    telemetry.recording.stored(spool, [start, replace(start, kind="user_prompt")])
    (event,) = told(spool.path)
    assert event["event"] == "code.session_started"
    assert event["properties"]["harness"] == "claude-code"
    assert len(event["properties"]["session_hash"]) == len(event["properties"]["repository_hash"]) == 16
    assert SCOPE.repo_id not in json.dumps(event)


def test_the_end_of_a_session_is_told_and_of_no_other_checkpoint(home: Composed) -> None:
    """A periodic one is nobody's end."""
    over(home, checkpoint_job("claude-code", "s", key="a", reason="periodic"), Done("nothing"))
    over(home, checkpoint_job("claude-code", "s", key="b", reason="session-end"), Done("delivered"))
    over(home, checkpoint_job("gone", "s", key="c", reason="session-end"), Done("delivered"))
    (event,) = told(home.places.spools / "claude-code")
    assert event["event"] == "code.session_ended"
    assert (event["properties"]["reason"], event["properties"]["packets"]) == ("session-end", 0)


@pytest.mark.parametrize("reasons", [("session-end", "session-end"), ("idle", "session-end")])
def test_one_end_is_told_once_and_that_of_a_resumed_session_again(home: Composed, reasons: tuple[str, str]) -> None:
    """A hook tells it, and the agent's process is found gone after it, or nothing came for a while before it."""
    first, second = reasons
    over(home, checkpoint_job("claude-code", "s", key="a", reason=first, until=3), Done("delivered"))
    over(home, checkpoint_job("claude-code", "other", key="b", reason=second, until=3), Done("delivered"))
    over(home, checkpoint_job("claude-code", "s", key="c", reason=second, until=3), Done("delivered"))
    assert len(told(home.places.spools / "claude-code")) == 2
    over(home, checkpoint_job("claude-code", "s", key="d", reason="periodic", until=5), Done("delivered"))
    over(home, checkpoint_job("claude-code", "s", key="e", reason=second, until=5), Done("delivered"))
    over(home, checkpoint_job("claude-code", "s", key="f", reason=second, until=5), Done("delivered"))
    assert len(told(home.places.spools / "claude-code")) == 3


def test_the_end_that_a_hook_told_is_not_told_again_when_the_process_is_gone(home: Composed) -> None:
    """Both ask for a checkpoint, up to the same event."""
    home.record("s", "a")
    end = {"v": 1, "id": "e", "action": "flush", "reason": "session-end", "hook_input": {"session_id": "s"}}
    (home.spool() / "pending" / "e.json").write_text(json.dumps(end))
    home.parts.ingest.scan()
    for _ in range(2):
        claim = home.parts.queue.claim()
        assert claim is not None and home.parts.telemetry is not None
        job = home.parts.queue.finish(claim, Done("delivered"))
        assert job is not None
        home.parts.telemetry.recording.job_over(job)
        session_over("claude-code", "s", "process-gone", home.parts.delivery)
    assert home.parts.queue.claim() is None
    assert [event["event"] for event in told(home.places.spools / "claude-code")] == ["code.session_ended"]


@pytest.mark.parametrize(
    ("outcome", "slots", "name", "told_of"),
    [
        (Done("delivered: 2 memories made"), 2, "code.flush_delivered", {"batches": 2}),
        (GiveUp("refused (400: odd)"), 0, "code.flush_refused", {"failure": "bad-request"}),
        (Done("nothing to deliver: no dialogue in it"), 0, "", {}),
    ],
)
def test_a_packet_is_delivered_or_refused(
    home: Composed, outcome: Outcome, slots: int, name: str, told_of: Mapping[str, Any]
) -> None:
    """With how many batches and seconds, or the failure's label; what held nothing is not told of."""
    over(home, packet(home, slots), outcome)
    events = told(home.places.spools / "claude-code")
    assert [event["event"] for event in events] == ([name] if name else [])
    for event in events:
        assert event["properties"] | told_of == event["properties"]
        assert event["properties"]["seconds"] >= 0


def test_what_is_about_another_programs_spool_lies_in_the_data_directory(tmp_path: Path) -> None:
    """So that all that was recorded here can be discarded."""
    (tmp_path / "elsewhere").mkdir()
    with composed(tmp_path, **ON, MEMSYNCD_SPOOLS=str(tmp_path / "elsewhere")) as home:
        home.upkeep.maintain()
        (spool,) = home.parts.served.spools()
        assert not spool.own
        over(home, checkpoint_job(spool.name, "s", key="b", reason="idle"), Done("delivered"))
        assert told(spool.path) == []
        (event,) = told(home.places.data)
        assert event["properties"]["harness"] == "elsewhere"


def test_nothing_is_recorded_after_a_no(home: Composed) -> None:
    """Neither an event nor a count of it."""
    telemetry = home.parts.telemetry
    assert telemetry is not None
    telemetry.recording.is_refused = True
    over(home, checkpoint_job("claude-code", "s", key="b", reason="session-end"), Done("delivered"))
    telemetry.started()
    assert not list(home.places.data.rglob("telemetry*"))


def test_a_job_that_goes_on_is_no_end(home: Composed) -> None:
    """Only what is done or dead is told of."""
    assert home.parts.telemetry is not None
    job = over(home, NewJob("f", FLUSH, {"spool": "claude-code", "packet": "none"}), Done())
    home.parts.telemetry.recording.job_over(replace(job, state=JobState.WAITING))
    assert told(home.places.spools / "claude-code") == []
