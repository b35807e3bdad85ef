"""A spool's directories and the renames in them."""

import errno
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from daemon.intake.spool import EXPIRY_SECONDS, STALE_CLAIM_SECONDS, Spool, age_at
from tests.clocks import HandClock
from tests.unprivileged import unprivileged


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "claude-code", "claude-code", own=True)
    spool.prepare()
    return spool


def drop(spool: Spool, stem: str, content: bytes = b"{}", *, age: float = 0.0, suffix: str = ".json") -> Path:
    path = spool.pending / (stem + suffix)
    path.write_bytes(content)
    if age:
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    return path


def test_directories_are_private_whatever_the_umask(tmp_path: Path) -> None:
    """Every directory of a spool of ours is 0700 from the moment it exists."""
    before = os.umask(0)
    try:
        spool = Spool(tmp_path / "codex", "codex", own=True)
        spool.prepare()
    finally:
        os.umask(before)
    for directory in (spool.path, spool.pending, spool.dead, spool.corrupt):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_waiting_files_come_in_name_order(spool: Spool) -> None:
    """Handoffs are taken in the order of their names, and only regular .json files are handoffs."""
    for stem in ("b", "a", "c"):
        drop(spool, stem)
    drop(spool, "d", suffix=".tmp")
    (spool.pending / "e.json").mkdir()
    (spool.pending / "f.json").symlink_to(spool.pending / "a.json")
    assert [waiting.stem for waiting in spool.waiting()] == ["a", "b", "c"]
    assert sorted(spool.oddities()) == ["e.json", "f.json"]


def test_a_claim_has_one_winner(spool: Spool) -> None:
    """The second to claim a handoff is told it is too late."""
    drop(spool, "a")
    assert spool.claim("a")
    assert not spool.claim("a")


def test_a_link_put_in_place_of_a_claim_is_not_followed(spool: Spool, tmp_path: Path) -> None:
    """Reading a claimed handoff never reads another file."""
    (tmp_path / "other").write_text("private")
    (spool.pending / "a.running").symlink_to(tmp_path / "other")
    with pytest.raises(OSError):
        spool.read("a")


def test_a_buried_handoff_is_whole_with_its_reason_and_can_be_revived(spool: Spool) -> None:
    """Giving up keeps the bytes and says why; a person can bring them back."""
    drop(spool, "a", b'{"x": 1}')
    spool.claim("a")
    spool.bury("a", "given-up", "refused five times")
    assert (spool.dead / "a.json").read_bytes() == b'{"x": 1}'
    assert json.loads((spool.dead / "a.reason.json").read_text())["detail"] == "refused five times"
    assert spool.dead_letters() == {"a": "given-up"}
    assert spool.counts(age_at(0.0)).dead == 1
    assert spool.revive("a")
    assert [waiting.stem for waiting in spool.waiting()] == ["a"]
    assert spool.dead_letters() == {}


def test_in_our_own_spool_every_claim_is_void_at_start(spool: Spool) -> None:
    """Only this daemon claims there, so a claim found at start is of a run that is over."""
    drop(spool, "a", suffix=".running")
    now = (spool.pending / "a.running").stat().st_mtime
    assert spool.stale_claims(age_at(now), at_start=True) == ["a"]
    assert spool.stale_claims(age_at(now), at_start=False) == []


def test_in_a_plugins_spool_a_fresh_claim_is_anothers(tmp_path: Path) -> None:
    """Until its heart has not beaten for 300 s a claim belongs to the plugin's worker."""
    spool = Spool(tmp_path / "codex-plugin", "codex", own=False)
    spool.pending.mkdir(parents=True)
    drop(spool, "fresh", suffix=".running")
    drop(spool, "stale", suffix=".running", age=STALE_CLAIM_SECONDS + 5)
    now = (spool.pending / "fresh.running").stat().st_mtime
    assert spool.stale_claims(age_at(now), at_start=True) == ["stale"]


def test_a_plugins_worker_that_slept_along_keeps_its_claim(tmp_path: Path) -> None:
    """It could not beat while the machine slept; its 300 s are of the time awake (never-again 152)."""
    spool = Spool(tmp_path / "codex-plugin", "codex", own=False)
    spool.pending.mkdir(parents=True)
    hands = HandClock(drop(spool, "a", suffix=".running").stat().st_mtime)
    clock = hands.clock()
    assert spool.stale_claims(clock.age, at_start=False) == []
    hands.sleep(28_800.0)
    assert spool.stale_claims(clock.age, at_start=False) == []
    hands.move(STALE_CLAIM_SECONDS + 1)
    assert spool.stale_claims(clock.age, at_start=False) == ["a"]


def test_a_claim_from_the_future_does_not_live_until_then(tmp_path: Path) -> None:
    """The clock was set back while no daemon ran: the claim's 300 s begin when it is seen (never-again 151)."""
    spool = Spool(tmp_path / "codex-plugin", "codex", own=False)
    spool.pending.mkdir(parents=True)
    path = drop(spool, "a", suffix=".running")
    now = path.stat().st_mtime
    os.utime(path, (now + 7_200.0, now + 7_200.0))
    assert spool.stale_claims(age_at(now), at_start=False) == []
    assert spool.stale_claims(age_at(path.stat().st_mtime + STALE_CLAIM_SECONDS + 1), at_start=False) == ["a"]
    assert path.stat().st_mtime < now + 3_600.0


def test_a_pause_makes_everything_young_again(spool: Spool) -> None:
    """What waits through a pause does not expire in it."""
    path = drop(spool, "a", age=EXPIRY_SECONDS + 10)
    before = path.stat().st_mtime
    spool.refresh()
    assert path.stat().st_mtime > before + EXPIRY_SECONDS


def test_only_abandoned_temporary_files_are_swept(spool: Spool) -> None:
    """A writer has a day before its temporary file goes."""
    fresh = drop(spool, "new", suffix=".tmp")
    old = drop(spool, "old", suffix=".tmp", age=25 * 3600)
    assert spool.sweep(age_at(fresh.stat().st_mtime)) == 1
    assert fresh.exists() and not old.exists()


def test_counts_tell_each_kind_and_the_oldest(spool: Spool) -> None:
    """Status shows what waits, runs, was given up and was no handoff."""
    drop(spool, "a", age=60)
    drop(spool, "b")
    drop(spool, "c", suffix=".running")
    drop(spool, "d")
    spool.claim("d")
    spool.quarantine("d", "not JSON")
    now = (spool.pending / "b.json").stat().st_mtime
    counts = spool.counts(age_at(now))
    assert (counts.pending, counts.running, counts.dead, counts.corrupt) == (2, 1, 0, 1)
    assert 59 <= counts.oldest_pending_seconds <= 62


def test_what_is_no_regular_file_is_no_handoff_that_waits(spool: Spool) -> None:
    """Neither a directory nor a link nor a pipe is counted, given back as a claim, or what waits longest."""
    for suffix in (".json", ".running"):
        (spool.pending / f"directory{suffix}").mkdir()
        (spool.pending / f"link{suffix}").symlink_to("/etc/hostname")
        os.mkfifo(spool.pending / f"pipe{suffix}")
    counts = spool.counts(age_at(1e10))
    assert (counts.pending, counts.running, counts.oldest_pending_seconds) == (0, 0, 0.0)
    assert spool.stale_claims(age_at(1e10), at_start=True) == []
    assert len(spool.oddities()) == 6


def test_a_spool_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """Looking at a directory that a user deleted is no error."""
    spool = Spool(tmp_path / "none", "codex", own=True)
    assert spool.waiting() == []
    assert spool.counts(age_at(0.0)).pending == 0


def test_a_plugins_spool_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Two spools of one harness are told apart in job ids, and the name does not tell the path."""
    ours = Spool(tmp_path / "codex", "codex", own=True)
    theirs = Spool(tmp_path / "codex-plugin", "codex", own=False)
    assert ours.name == "codex" and theirs.name.startswith("codex@") and str(tmp_path) not in theirs.name


def test_a_sweep_goes_on_past_what_it_cannot_delete(spool: Spool) -> None:
    """A directory and a link named like temporary files stay, and cost the others nothing."""
    old = drop(spool, "z", suffix=".tmp", age=25 * 3600)
    (spool.pending / "a.tmp").mkdir()
    (spool.pending / "b.tmp").symlink_to(spool.pending)
    now = old.stat().st_mtime + 50 * 3600
    assert spool.sweep(age_at(now)) == 1
    assert sorted(path.name for path in spool.pending.iterdir()) == ["a.tmp", "b.tmp"]


def test_a_directory_in_place_of_a_claim_leaks_no_descriptor(spool: Spool) -> None:
    """What cannot be read is closed again, however often it is tried."""
    (spool.pending / "a.running").mkdir()
    for _ in range(3):
        with pytest.raises(IsADirectoryError):
            spool.read("a")
    assert not is_open(spool.pending / "a.running")


def is_open(path: Path) -> bool:
    """Whether this process has it open; other threads may open and close other files meanwhile."""
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if os.path.samestat(os.fstat(int(name)), path.stat()):
                return True
    return False


@pytest.mark.parametrize(
    ("number", "is_one_files"),
    [(errno.ENAMETOOLONG, True), (errno.EISDIR, True), (errno.ELOOP, True), (errno.EACCES, True), (errno.EPERM, True),
     (errno.EIO, False), (errno.ENOSPC, False), (errno.EROFS, False), (errno.EMFILE, False)],
)  # fmt: skip
def test_whose_an_error_is(spool: Spool, number: int, is_one_files: bool) -> None:
    """A file's own fault costs it alone; the disk's or the process's is the spool's, and so is a refusal where nothing
    in the directory may be moved."""
    assert spool.is_of_one_file(OSError(number, "")) is is_one_files
    spool.pending.rmdir()
    assert not spool.is_of_one_file(PermissionError(errno.EACCES, ""))


def test_a_spool_that_cannot_be_written_is_told_though_nothing_waits(tmp_path: Path) -> None:
    """Hooks would lose what they want to leave there, and nothing would ever show it."""
    spool = Spool(tmp_path / "codex", "codex", own=True)
    spool.check_writable()  # there is none yet
    spool.prepare()
    with unprivileged():
        spool.check_writable()
        spool.pending.chmod(0o500)
        assert spool.waiting() == []
        with pytest.raises(PermissionError):
            spool.check_writable()
        spool.pending.chmod(0o700)
