"""Dead handoffs beside the queue's dead jobs."""

import os
from pathlib import Path

import pytest

from daemon.intake.spool import Spool
from daemon.status.dead_handoffs import change_handoff, dead_handoffs

OLD = 1_000_000_000.0


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """Make a spool with two dead handoffs: one expired, one kept for a job."""
    made = Spool(tmp_path / "codex", "codex", own=True)
    made.prepare()
    for stem, reason in (("expired-one", "expired"), ("of-a-job", "status 422")):
        (made.pending / f"{stem}.running").write_text("{}")
        made.bury(stem, reason)
        os.utime(made.dead / f"{stem}.json", (OLD, OLD))
    return made


def test_those_of_jobs_are_the_jobs(spool: Spool) -> None:
    """A handoff kept for a dead job is not listed twice; the other has a job's shape and its reason."""
    jobs = [
        {"id": "checkpoint:1", "payload": {"spool": "codex", "handoff": "of-a-job"}},
        {"id": "odd", "payload": None},
    ]
    [letter] = dead_handoffs([spool], jobs)
    assert (letter["id"], letter["state"], letter["reason"]) == ("handoff:codex/expired-one", "dead", "expired")
    assert set(letter) >= {"kind", "lane", "not_before", "attempts", "crashes", "errors"}
    assert len(dead_handoffs([spool], ())) == 2


def test_retry_makes_it_wait_again_and_young(spool: Spool) -> None:
    """A retried handoff waits in `pending/`, its age begun anew so that it does not expire at once."""
    assert change_handoff([spool], "retry", "handoff:codex/expired-one") == ""
    assert (spool.pending / "expired-one.json").stat().st_mtime > OLD
    assert sorted(path.name for path in spool.dead.iterdir()) == ["of-a-job.json", "of-a-job.reason.json"]


def test_discard_deletes_it_with_its_reason(spool: Spool) -> None:
    """A discarded handoff goes for good, and its reason with it."""
    assert change_handoff([spool], "discard", "handoff:codex/of-a-job") == ""
    assert sorted(path.name for path in spool.dead.iterdir()) == ["expired-one.json", "expired-one.reason.json"]


@pytest.mark.parametrize("verb", ["retry", "discard"])
@pytest.mark.parametrize("name", ["codex/none", "other/expired-one", "codex/", "codex/../pending/x", "codex"])
def test_what_is_not_there_is_refused(spool: Spool, verb: str, name: str) -> None:
    """An unknown spool or name, and one that would lead out of `dead/`, is refused with a sentence."""
    (spool.pending / "x.json").write_text("{}")
    assert change_handoff([spool], verb, f"handoff:{name}") == "there is no such handoff"
    assert (spool.pending / "x.json").exists()


def test_an_unreadable_spool_hides_no_other(spool: Spool, tmp_path: Path) -> None:
    """A file where `dead/` should be is passed over."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/dead").write_text("in the way")
    assert len(dead_handoffs([Spool(tmp_path / "bad", "bad", own=True), spool], ())) == 2
