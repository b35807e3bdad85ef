"""Claims of another program in a plugin's spool."""

import json
import os
from pathlib import Path

import pytest

from daemon.intake.foreign_claims import is_claimed_elsewhere
from daemon.intake.spool import STALE_CLAIM_SECONDS, Age, Spool, age_at


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(tmp_path / "codex-plugin", "codex", own=False)
    made.pending.mkdir(parents=True)
    return made


def claimed(spool: Spool, session: str, *, age: float = 0.0, stem: str = "a") -> Age:
    """Leave a claim of the plugin's; return what tells ages as it is looked at."""
    path = spool.pending / f"{stem}.running"
    path.write_text(json.dumps({"hook_input": {"session_id": session}, "reason": "idle"}))
    then = path.stat().st_mtime
    os.utime(path, (then - age, then - age))
    return age_at(then)


def test_a_living_claim_for_the_session_is_anothers(spool: Spool) -> None:
    """The plugin's worker is at it: we keep out."""
    assert is_claimed_elsewhere(spool, "s", (), claimed(spool, "s"))


def test_claims_that_do_not_matter(spool: Spool) -> None:
    """One of another session, one that we hold, and one whose heart has stopped are nobody's reason to wait."""
    assert not is_claimed_elsewhere(spool, "s", (), claimed(spool, "other"))
    assert not is_claimed_elsewhere(spool, "s", {"b"}, claimed(spool, "s", stem="b"))
    assert not is_claimed_elsewhere(spool, "s", {"b"}, claimed(spool, "s", stem="c", age=STALE_CLAIM_SECONDS + 1))


def test_a_claim_that_cannot_be_read_may_be_for_anybody(spool: Spool) -> None:
    """What names no session is taken for ours to respect."""
    now = claimed(spool, "s")
    (spool.pending / "a.running").write_bytes(b"\x00torn")
    assert is_claimed_elsewhere(spool, "s", (), now)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("kind", ["pipe", "endless device", "directory"])
def test_what_no_plugin_makes_is_no_claim_and_is_not_waited_for(spool: Spool, kind: str) -> None:
    """A worker that opened a pipe, or read a device without an end, would never come back."""
    path = spool.pending / "x.running"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case _:
            path.symlink_to("/dev/zero")
    assert not is_claimed_elsewhere(spool, "s", (), age_at(path.lstat().st_mtime))


def test_in_our_own_spool_nobody_else_claims(tmp_path: Path) -> None:
    """There every claim is this daemon's."""
    ours = Spool(tmp_path / "codex", "codex", own=True)
    ours.prepare()
    assert not is_claimed_elsewhere(ours, "s", (), claimed(ours, "s"))
