"""Ingest: from waiting files to committed evidence and jobs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.intake.ingest import BATCH
from jobs.job import JobState
from memsyncd.hooks.record import UNKNOWN_SESSION
from tests.daemon.intake.ingesting import Ingesting


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def test_records_become_evidence_in_name_order_and_are_unlinked(at: Ingesting) -> None:
    """Names tell the order, whatever the order of writing; nothing is left behind."""
    at.answer("second", name="b")
    at.prompt("first", name="a")
    assert at.scan() == 2
    assert at.events() == [("user_prompt", "first"), ("assistant_stop", "second")]
    assert at.pending() == []


def test_more_than_one_batch_in_one_scan(at: Ingesting) -> None:
    """A backlog is taken whole, batch after batch, in order."""
    for number in range(BATCH * 2 + 5):
        at.prompt(f"p{number}")
    assert at.scan() == BATCH * 2 + 5
    assert at.texts() == [f"p{number}" for number in range(BATCH * 2 + 5)]


def test_a_flush_stays_claimed_until_its_job_is_over(at: Ingesting) -> None:
    """The handoff is the proof that something is still to be done; its job's end unlinks it."""
    at.prompt("q")
    stem = at.end()
    at.scan()
    assert at.pending() == [f"{stem}.running"]
    (job,) = at.jobs(JobState.READY)
    assert (job.payload["reason"], job.payload["session"], job.payload["handoff"]) == ("session-end", "s", stem)
    at.ingest.requests.over(job.id, JobState.DONE, "")
    assert at.pending() == []


def test_a_flush_whose_job_died_is_kept_with_its_reason(at: Ingesting) -> None:
    """What was given up lies in `dead/` whole, and a person's retry that succeeds clears it."""
    stem = at.end()
    at.scan()
    at.ingest.requests.over(at.jobs()[0].id, JobState.DEAD, "refused (400)")
    assert at.set_aside("dead") == {f"{stem}.json": "refused (400)"}


def test_a_clean_stop_gives_back_what_is_held(at: Ingesting) -> None:
    """Nothing of ours is left claimed for a plugin or a later daemon to wait for."""
    stem = at.end()
    at.scan()
    at.ingest.requests.give_back()
    assert at.pending() == [f"{stem}.json"]


def test_a_handoff_taken_again_finds_its_job(at: Ingesting) -> None:
    """After a crash the same handoff makes no second job; one that is over lets it go."""
    at.end()
    at.scan()
    at.restart()
    at.scan()
    (job,) = at.jobs()
    assert at.queue.cancel(job.id, "test")
    at.restart()
    at.scan()
    assert at.pending() == []
    assert len(at.jobs()) == 1


@pytest.mark.parametrize("same", [True, False])
def test_one_event_told_twice_by_its_id(at: Ingesting, same: bool) -> None:
    """The same turn's prompt is one event; another turn's, with the same words, is another (CONTRACT)."""
    at.prompt("again", prompt_id="t1")
    at.prompt("again", prompt_id="t1" if same else "t2")
    at.scan()
    assert len(at.texts()) == (1 if same else 2)


@pytest.mark.parametrize(("apart", "stored"), [(0.05, 1), (1.9, 1), (2.5, 2)])
@pytest.mark.parametrize("crash", [False, True])
def test_the_same_content_without_an_id_within_two_seconds(
    at: Ingesting, apart: float, stored: int, crash: bool
) -> None:
    """A hook that runs twice is one event, also where the daemon died between the two; a prompt repeated later is new."""
    began = at.hands.wall_now
    at.prompt("yes", captured=began)
    if crash:
        at.scan()
        at.restart()
    at.prompt("yes", captured=began + apart)
    at.scan()
    assert at.texts() == ["yes"] * stored


def test_a_crash_between_commit_and_unlink_stores_nothing_twice(at: Ingesting) -> None:
    """The same file once more is known by its id, and goes away."""
    stem = at.prompt("once")
    content = (at.spool_path / "pending" / f"{stem}.json").read_bytes()
    at.scan()
    at.put(stem, content)
    at.restart()
    at.scan()
    assert at.texts() == ["once"]
    assert at.pending() == []


def test_two_ends_of_one_turn_with_different_answers_are_two(at: Ingesting) -> None:
    """An agent that is sent on after its answer answers again in the same turn; a repeated hook says the same."""
    at.prompt("do it", prompt_id="t1")
    for text in ("half done", "half done", "done"):
        at.answer(text, prompt_id="t1")
    at.scan()
    assert at.texts() == ["do it", "half done", "done"]


def test_the_final_answer_in_a_session_end_is_recorded_once(at: Ingesting) -> None:
    """An end that brings the answer before its stop, or after it, adds one record (facts 1.26, 1.27)."""
    at.prompt("q")
    at.end(last_assistant_message="the answer")
    at.answer("the answer")
    at.scan()
    assert at.texts() == ["q", "the answer"]


def test_answers_bring_a_checkpoint_when_one_is_due(at: Ingesting) -> None:
    """The fifth answer makes one periodic job, the sixth none beside it (facts 1.23)."""
    for number in range(4):
        at.prompt(f"q{number}")
        at.answer(f"a{number}")
    at.scan()
    assert at.jobs() == []
    for number in range(4, 6):
        at.prompt(f"q{number}")
        at.answer(f"a{number}")
        at.scan()
    assert [job.payload["reason"] for job in at.jobs()] == ["periodic"]


def test_an_excluded_project_leaves_nothing(tmp_path: Path) -> None:
    """No event of it is stored, its handoffs go, and a path that no file can have harms nobody."""
    at = Ingesting(tmp_path, exclude=("/w/secret/**",))
    at.prompt("hidden", cwd="/w/secret/deep")
    at.prompt("odd", cwd="/w/\0/x")
    at.prompt("seen", cwd="/w/other")
    at.scan()
    assert at.texts() == ["odd", "seen"]
    assert at.counters.snapshot()["events_excluded"] == 1
    assert at.pending() == []
    at.close()


def test_a_hook_without_a_session_is_recorded_and_its_silence_calls_for_nothing(at: Ingesting) -> None:
    """The placeholder is nobody's session: no end of it is told, so no dead letter comes of it (facts 2.14)."""
    at.prompt("from nowhere", session="")
    at.scan()
    with at.served.store("claude-code")._database.reading() as connection:
        assert connection.execute("SELECT session_id FROM events").fetchall() == [(UNKNOWN_SESSION,)]
    assert at.sessions.over(at.hands.monotonic_now + 1e6) == []


def idle(at: Ingesting, delay: float, **more: object) -> str:
    return at.drop("flush", envelope={"reason": "idle", "delay_seconds": delay}, **more)  # type: ignore[arg-type]


def test_an_idle_handoff_waits_its_delay_without_a_worker(at: Ingesting) -> None:
    """It is a row with a time; what it waited as a file counts."""
    idle(at, 300.0, age=100.0)
    at.scan()
    (job,) = at.jobs(JobState.WAITING)
    assert job.not_before == pytest.approx(at.hands.wall_now + 200.0, abs=0.01)


def test_a_delay_is_not_slept_again_after_a_crash(at: Ingesting) -> None:
    """The job's time stands, whatever the heartbeat made of the file's age (facts 1.17)."""
    idle(at, 300.0)
    at.scan()
    due = at.jobs()[0].not_before
    at.hands.move(250.0)
    at.ingest.requests.beat()
    at.restart()
    at.scan()
    assert at.jobs()[0].not_before == due


@pytest.mark.parametrize("together", [True, False])
def test_a_newer_idle_handoff_takes_the_place_of_an_older_one(at: Ingesting, together: bool) -> None:
    """Also where both wait already and their names tell no order (facts 1.20)."""
    older = idle(at, 300.0, name="idle-z", age=20.0)
    if not together:
        at.scan()
    newer = idle(at, 300.0, name="idle-a")
    at.scan()
    (waiting,) = at.jobs(JobState.WAITING)
    assert waiting.payload["handoff"] == newer
    assert at.pending() == [f"{newer}.running"]
    assert older not in {stem for _, stem in at.ingest.requests.held.values()}


def test_idle_handoffs_of_other_sessions_are_left_alone(at: Ingesting) -> None:
    """Replacing is within a session."""
    idle(at, 300.0, session="a")
    idle(at, 300.0, session="b")
    at.scan()
    assert len(at.jobs(JobState.WAITING)) == 2


def test_a_withdrawn_idle_handoff_ends_its_job(at: Ingesting) -> None:
    """A plugin withdraws a timer by deleting its file (facts 1.19)."""
    stem = idle(at, 300.0)
    at.scan()
    (at.spool_path / "pending" / f"{stem}.running").unlink()
    at.ingest.requests.beat()
    assert at.jobs()[0].state is JobState.CANCELLED
    assert at.ingest.requests.held == {}


def test_a_heartbeat_keeps_held_claims_young(at: Ingesting) -> None:
    """A plugin takes back what was untouched for 300 s."""
    import os

    stem = at.end()
    at.scan()
    path = at.spool_path / "pending" / f"{stem}.running"
    os.utime(path, (1.0, 1.0))
    at.ingest.requests.beat()
    assert path.stat().st_mtime > 1e9


def test_wait_for_inflight_is_passed_on(at: Ingesting) -> None:
    """The job knows that its handoff asked to wait."""
    at.end(envelope={"wait_for_inflight": True})
    at.scan()
    assert at.jobs()[0].payload["wait_for_inflight"] is True


CHILD = """
import os, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.daemon.intake.ingesting import Ingesting
import daemon.intake.spool as spool
at = Ingesting.__new__(Ingesting)
at.root, at.exclude, at.discover = Path(sys.argv[1]), (), False
import itertools, time
from tests.clocks import HandClock
at.hands, at.numbers = HandClock(time.time()), itertools.count(1)
at.spool_path = at.root / "spools" / "claude-code"
finish, left = spool.Spool.finish, [int(sys.argv[3])]
def dying(self, stem):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), 9)
    return finish(self, stem)
spool.Spool.finish = dying
at.start()
at.scan()
"""


def test_killed_between_commit_and_unlink(at: Ingesting) -> None:
    """A process that is killed while it unlinks leaves nothing that is stored twice or lost."""
    for number in range(6):
        at.prompt(f"p{number}")
    root = str(Path(__file__).parents[3])
    child = subprocess.run([sys.executable, "-c", CHILD, str(at.root), root, "3"], check=False, capture_output=True)
    assert child.returncode == -9, child.stderr
    assert len(at.pending()) == 3
    at.restart()
    at.scan()
    assert at.texts() == [f"p{number}" for number in range(6)]
    assert at.pending() == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ACTIONS = st.sampled_from(
    ["session-start", "user-prompt", "post-tool", "post-tool-failure", "stop", "subagent-start", "subagent-stop",
     "flush", "notify", "\0", "x" * 500]
)  # fmt: skip
FIELDS = ("session_id", "cwd", "prompt", "prompt_id", "last_assistant_message", "tool_name", "tool_input",
          "tool_response", "tool_use_id", "agent_id", "agent_type", "transcript_path")  # fmt: skip
HANDOFFS = st.fixed_dictionaries(
    {"action": ACTIONS | JSON, "hook_input": st.dictionaries(st.sampled_from(FIELDS) | st.text(), JSON, max_size=6)},
    optional={"captured_at": JSON, "reason": JSON, "delay_seconds": JSON, "process": JSON, "harness": JSON},
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(documents=st.lists(HANDOFFS, min_size=1, max_size=6))
def test_no_handoff_whatever_it_holds_stops_its_neighbours(at: Ingesting, documents: list[dict[str, object]]) -> None:
    """Every file is recorded, queued or set aside, and what comes after it is taken in."""
    for document in documents:
        at.put(f"{next(at.numbers):06}", json.dumps(document).encode())
    marker = f"marker {next(at.numbers)}"
    at.prompt(marker)
    at.scan()
    assert marker in at.texts()
    assert not [name for name in at.pending() if name.endswith(".json")]


@pytest.mark.parametrize("depth", [200, 900, 3_000, 100_000])
def test_deep_nesting_stops_nobody(at: Ingesting, depth: int) -> None:
    """A document nested beyond all measure is recorded cut, or set aside after its grace; the next is taken in."""
    deep = b'{"action": "post-tool", "hook_input": {"session_id": "s", "tool_name": "T", "tool_input": '
    at.put("a", deep + b'{"a":' * depth + b"1" + b"}" * depth + b"}}")
    at.put("b", b'{"action": "unheard-of", "hook_input": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}")
    at.prompt("after")
    at.scan()
    assert "after" in at.texts()


def test_a_claim_that_a_plugin_gave_back_is_no_withdrawal(at: Ingesting) -> None:
    """After a sleep our claim looks stale and goes back: it is claimed again and its job goes on (facts 1.12)."""
    stem = at.end()
    at.scan()
    pending = at.spool_path / "pending"
    (pending / f"{stem}.running").rename(pending / f"{stem}.json")
    at.ingest.requests.beat()
    assert at.jobs()[0].state is JobState.READY
    at.scan()
    assert at.pending() == [f"{stem}.running"]


def test_a_spool_that_is_away_withdraws_nothing(at: Ingesting) -> None:
    """A disk that is unmounted for a while takes no handoff's job with it."""
    stem = idle(at, 300.0)
    at.scan()
    away = at.spool_path.rename(at.root / "away")
    at.spool_path.mkdir()
    at.ingest.requests.beat()
    assert at.jobs()[0].state is JobState.WAITING
    at.spool_path.rmdir()
    away.rename(at.spool_path)
    at.ingest.requests.beat()
    assert list(at.ingest.requests.held.values()) == [(at.spool, stem)]


def test_a_withdrawn_handoff_that_comes_back_is_asked_for_again(at: Ingesting) -> None:
    """Its job is made ready anew; the file is not let go of undelivered."""
    stem = at.end()
    at.scan()
    claimed = at.spool_path / "pending" / f"{stem}.running"
    kept = claimed.rename(at.root / "kept")
    at.ingest.requests.beat()
    assert at.jobs()[0].state is JobState.CANCELLED
    kept.rename(claimed.with_suffix(".json"))
    at.scan()
    assert at.jobs()[0].state is JobState.READY
    assert at.pending() == [f"{stem}.running"]
