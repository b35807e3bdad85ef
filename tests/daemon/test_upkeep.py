"""What is looked after on timers."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from daemon.forgetting.target import Target
from daemon.once_summary import summary
from jobs.job import JobState
from jobs.outcomes import GiveUp
from jobs.recovery import session_over
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def reopened(tmp_path: Path, home: Composed) -> Composed:
    home.parts.close()
    made = Composed(tmp_path)
    made.upkeep.maintain()
    return made


def test_a_periodic_checkpoint_lost_in_a_crash_is_queued_at_start(home: Composed, tmp_path: Path) -> None:
    """The daemon died between the commit of the fifth answer and the job that it called for."""
    home.record("s", *"abcde")
    assert home.jobs("checkpoint") == []
    later = reopened(tmp_path, home)
    try:
        (job,) = later.jobs("checkpoint")
        assert job.payload["reason"] == "periodic"
    finally:
        later.parts.close()


def test_sessions_of_an_earlier_run_are_watched(home: Composed, tmp_path: Path) -> None:
    """Unsent evidence of a session that nobody ended is delivered after its silence."""
    home.record("s", "a")
    later = reopened(tmp_path, home)
    try:
        assert later.parts.sessions.count() == 1
        assert [ended.session_id for ended in later.parts.sessions.over(later.parts.clock.monotonic() + 301)] == ["s"]
    finally:
        later.parts.close()


def test_an_odd_file_is_told_of_until_it_is_gone(home: Composed) -> None:
    """A directory named like a handoff is named with its place, and forgotten with it."""
    odd = home.spool() / "pending" / "x.json"
    odd.mkdir()
    home.upkeep.maintain()
    assert home.codes() == {"odd-file": str(odd)}
    odd.rmdir()
    home.upkeep.maintain()
    assert home.codes() == {}


def test_evidence_that_was_damaged_is_told_of_until_its_copy_is_gone(home: Composed, tmp_path: Path) -> None:
    """By the status of this run and of the next; the log has one line a run, and a `run --once` names it at its end."""
    home.record("s", "a")
    home.parts.close()
    evidence = home.spool() / "evidence.sqlite3"
    evidence.write_bytes(b"no database " * 500)
    for name in (Path(f"{evidence}-wal"), Path(f"{evidence}-shm")):
        name.unlink(missing_ok=True)
    for counted in (1, None):
        later = reopened(tmp_path, home)
        try:
            [copy] = later.spool().glob("*.corrupt-*")
            with capture_logs() as lines:
                later.upkeep.log_kept_copies()  # a second time, after that of `maintain`
            assert lines == []
            [problem] = [each for each in later.view.status()["problems"] if each["code"] == "evidence-renewed"]
            assert not problem["degrades"]
            assert f"`rm {copy}*`" in problem["remedy"]
            assert problem["message"] in summary(later.parts, {})
            assert later.parts.counters.snapshot().get("evidence_stores_set_aside") == counted
        finally:
            later.parts.close()
    copy.rename(tmp_path / "elsewhere")
    later = reopened(tmp_path, home)
    try:
        assert "evidence-renewed" not in {each["code"] for each in later.view.status()["problems"]}
        assert summary(later.parts, {}) == "Nothing was due."
    finally:
        later.parts.close()


def test_a_damaged_copy_that_makes_room_is_told(home: Composed, tmp_path: Path) -> None:
    """Three are kept; what goes for a fourth has its line in the log, and its count."""
    home.parts.close()
    evidence = home.spool() / "evidence.sqlite3"
    for epoch in (1, 2, 3):
        evidence.with_name(f"{evidence.name}.corrupt-{epoch}").write_bytes(b"x")
    evidence.write_bytes(b"no database " * 500)
    for name in (Path(f"{evidence}-wal"), Path(f"{evidence}-shm")):
        name.unlink(missing_ok=True)
    with capture_logs() as lines:
        later = reopened(tmp_path, home)
    try:
        assert {"event": "damaged-copies-dropped", "copies": 1, "log_level": "warning"} in lines
        assert not evidence.with_name(f"{evidence.name}.corrupt-1").exists()
        with capture_logs() as lines:
            later.upkeep.log_kept_copies()
        assert lines == []
    finally:
        later.parts.close()


def test_abandoned_writes_are_swept_and_counted(home: Composed) -> None:
    """A temporary file without a writer goes after a day, wherever one is made; one that is still written stays."""
    spool = home.spool()
    made = [spool / "pending" / "x.tmp", spool / "dead" / "y.7.tmp", spool / "corrupt" / "z.7.tmp"]
    made += [spool / ".paused.7.8.tmp", home.places.data / ".forgotten.json.7.tmp"]
    home.upkeep.maintain()
    fresh = home.places.data / ".pauses.json.7.8.tmp"
    for path in (*made, fresh):
        path.touch()
    for path in made:
        os.utime(path, (1.0, 1.0))
    home.upkeep.maintain()
    assert not [path for path in made if path.exists()]
    assert fresh.exists()
    assert home.parts.counters.snapshot()["temporary_files_swept"] == len(made)


def test_a_store_that_cannot_be_read_costs_no_other_its_upkeep(home: Composed) -> None:
    """The failure is named with its spool and goes away with its cause."""
    home.spool("codex")
    home.upkeep.maintain()
    home.parts.served.store("claude-code").close()
    home.record("s", "a", spool="codex")
    home.parts.served.store("codex").prepare("s", "manual", list)
    home.upkeep.maintain()
    where = [finding.where for finding in home.parts.findings.all()]
    assert where == ["packets claude-code", "sessions claude-code"]
    assert [job.payload["spool"] for job in home.jobs("flush")] == ["codex"]


def test_new_spools_that_cannot_be_read_stop_nobody(home: Composed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked store at the moment its spool appears is told, and looked at again, by the thread that goes on."""
    monkeypatch.setattr("memsyncd.evidence.opening.BUSY_SECONDS", 0.01)
    path = home.spool("codex")
    with closing(sqlite3.connect(path / "evidence.sqlite3", isolation_level=None)) as other:
        other.execute("CREATE TABLE t(a)")
        other.execute("BEGIN EXCLUSIVE")
        home.upkeep.refresh()
        assert home.codes()
        other.execute("ROLLBACK")
    home.upkeep.maintain()
    assert home.codes() == {}
    assert home.parts.served.store("codex").counts()["events"] == 0


def test_sessions_that_cannot_be_read_stop_nobody(home: Composed) -> None:
    """A store that fails just after it was opened is told, and looked at again, by the thread that goes on."""
    home.spool("codex")
    home.parts.served.refresh(home.parts.findings)
    home.parts.served.store("codex").close()
    home.upkeep.maintain()
    assert home.codes() == {"upkeep-failed": "sessions codex"}
    shutil.rmtree(home.places.spools / "codex")
    home.upkeep.maintain()
    assert home.codes() == {}


def test_a_spool_made_again_is_watched_anew(home: Composed) -> None:
    """The owner of the watcher is told that the directories are others."""
    home.upkeep.spools_changed = False
    home.upkeep.maintain()
    assert not home.upkeep.spools_changed
    shutil.rmtree(home.places.spools / "claude-code")
    home.spool()
    assert home.upkeep.has_new_spools()
    home.upkeep.refresh()
    assert home.upkeep.spools_changed
    assert str(home.spool() / "pending") in home.upkeep.directories()


def test_claims_of_an_earlier_run_are_void_at_start_but_not_later(home: Composed) -> None:
    """In our own spool only this daemon claims."""
    claim = home.spool() / "pending" / "x.running"
    claim.touch()
    home.upkeep.take_back_claims()
    assert claim.exists()
    home.upkeep.take_back_claims(at_start=True)
    assert not claim.exists()
    assert claim.with_suffix(".json").exists()


def test_what_is_held_is_not_taken_back(home: Composed) -> None:
    """However old its heartbeat looks."""
    claim = home.spool() / "pending" / "x.running"
    claim.touch()
    os.utime(claim, (1.0, 1.0))
    home.parts.ingest.requests.held["job"] = (home.parts.served.spool("claude-code"), "x")
    home.upkeep.take_back_claims()
    assert claim.exists()


@pytest.mark.parametrize("auto", [True, False])
def test_the_end_of_a_session_is_delivered_unless_told_otherwise(tmp_path: Path, auto: bool) -> None:
    """`MEM0_CODE_AUTO_FLUSH=false` leaves ends alone."""
    environ = {} if auto else {"MEM0_CODE_AUTO_FLUSH": "false"}
    with composed(tmp_path, **environ) as home:
        home.spool()
        home.upkeep.maintain()
        home.record("s", "a")
        home.parts.sessions.moved("claude-code", "s", "e1", at=home.parts.clock.monotonic() - 301)
        home.upkeep.tick()
        assert [job.payload["reason"] for job in home.jobs("checkpoint")] == (["idle"] if auto else [])


def test_run_once_is_over_when_only_timers_and_delays_are_left(home: Composed) -> None:
    """An idle handoff whose time has not come is put off, not waited for."""
    from jobs.delivery import checkpoint_job

    assert home.upkeep.is_all_done(lambda: 0)
    assert not home.upkeep.is_all_done(lambda: 1), "a job that is done has not been told of yet"
    home.parts.queue.enqueue(checkpoint_job("claude-code", "s", key="later", reason="idle", delay=100.0, why="not yet"))
    assert home.upkeep.is_all_done(lambda: 0)
    home.parts.queue.enqueue(checkpoint_job("claude-code", "s", key="now", reason="manual"))
    assert not home.upkeep.is_all_done(lambda: 0)
    assert home.parts.queue.counts().ready == 1


def test_an_end_is_forgotten_only_once_it_is_queued(home: Composed) -> None:
    """A store that cannot be read at that moment costs no session its end."""
    home.record("s", "a")
    home.parts.sessions.moved("claude-code", "s", "e1", at=home.parts.clock.monotonic() - 301)
    store = home.parts.served.store("claude-code")
    store.close()
    home.upkeep.tick()
    assert home.codes() == {"upkeep-failed": "ends claude-code"}
    assert home.parts.sessions.knows("claude-code", "s")


def test_a_session_nothing_sees_to_is_watched_again(home: Composed) -> None:
    """A scan is the truth: an end that was told and whose job is gone is found anew, one with a job is left to it."""
    home.record("s", "a")
    home.upkeep.maintain()
    assert home.parts.sessions.knows("claude-code", "s")
    (ended,) = home.parts.sessions.over(home.parts.clock.monotonic() + 400)
    home.parts.sessions.told(ended)
    home.upkeep.maintain()
    (ended,) = home.parts.sessions.over(home.parts.clock.monotonic() + 400)
    assert session_over("claude-code", "s", "idle", home.parts.delivery)
    home.parts.sessions.told(ended)
    home.upkeep.maintain()
    assert home.parts.sessions.count() == 0


def test_after_the_first_scan_a_session_is_as_old_as_its_events(home: Composed) -> None:
    """Its handoffs may have waited for days; its agent's process is remembered."""
    home.record("s", "a", at=home.parts.clock.wall() - 400)
    home.parts.sessions.moved("claude-code", "s", "e", at=home.parts.clock.monotonic())
    home.upkeep.tick()
    assert home.jobs("checkpoint") == []
    home.upkeep.age_sessions()
    home.upkeep.tick()
    assert [job.payload["reason"] for job in home.jobs("checkpoint")] == ["idle"]


def test_claims_that_cannot_be_given_back_cost_no_other_spool_its_own(home: Composed) -> None:
    """Each part is guarded for each spool."""
    pending = home.spool() / "pending"
    shutil.rmtree(pending)
    pending.write_text("in the way")
    claim = home.spool("zed") / "pending" / "x.running"
    claim.touch()
    home.upkeep.take_back_claims(at_start=True)
    assert claim.with_suffix(".json").exists()
    assert "claims claude-code" in {finding.where for finding in home.parts.findings.all()}


def test_a_poll_job_that_died_is_revived_at_start(home: Composed) -> None:
    """Else no extraction would be asked for ever again."""
    home.upkeep.start()
    claim = home.parts.queue.claim()
    assert claim is not None and claim.job.kind == "poll"
    home.parts.queue.finish(claim, GiveUp("crashed the worker"))
    home.upkeep.start()
    (poll,) = home.jobs("poll")
    assert poll.state is JobState.READY


@pytest.mark.parametrize(("seconds_ago", "is_done"), [(61.0, True), (5.0, False)])
def test_what_could_not_be_forgotten_is_tried_again_while_the_daemon_runs(
    home: Composed, seconds_ago: float, is_done: bool
) -> None:
    """A disk that was full at that moment keeps nothing until the next start; a request that is being carried out is
    left to those who do."""
    home.record("s", "a")
    home.parts.tombstones.add(Target("k", home.parts.clock.wall() - seconds_ago, session_id="s"))
    home.upkeep.maintain()
    assert (not home.parts.tombstones.unfinished()) is is_done
    store = home.parts.served.store("claude-code")
    assert (store.scope("s") is None) is is_done
