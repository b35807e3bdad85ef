"""The probes, over real files: what is damaged, another's, open to others, or hangs is found; nothing is changed."""

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from daemon.doctor import account, configuration, databases, directories, project, running
from daemon.doctor.check import failed, passed
from daemon.doctor.doctor import checks, probes
from daemon.doctor.examining import Probe, examine
from tests.daemon.composed import composed
from tests.daemon.doctor.examined import examine_home, found
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.unprivileged import unprivileged

SECRET = "m0-" + "not-a-real-key-" * 2


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Give a home whose daemon has recorded something and ended."""
    with composed(tmp_path) as home:
        home.spool()
        home.upkeep.refresh()
        home.record("s", "one")
        home.parts.platform.ping()
        home.parts.close()
        for path in home.places.data.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        yield tmp_path


def bytes_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (root / "m").rglob("*") if path.is_file()}


def test_a_well_home_passes_and_is_not_changed_by_looking(root: Path) -> None:
    """Without a daemon everything that can be measured is well, and no byte and no file is another afterwards."""
    before = bytes_of(root)
    all_checks = list(checks(examine_home(root)))
    assert [check for check in all_checks if not check.ok] == []
    assert bytes_of(root) == before
    names = [check.name for check in all_checks]
    assert len(names) == len(set(names))
    assert all(check.message for check in all_checks)


def test_an_empty_home_is_no_fault_and_stays_empty(tmp_path: Path) -> None:
    """Before the first start there is nothing to find wrong, and looking makes nothing."""
    assert [check for check in checks(examine_home(tmp_path)) if not check.ok] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("queue.sqlite3", "database queue"),
        ("memory.sqlite3", "database memory"),
        ("spools/claude-code/evidence.sqlite3", "database evidence claude-code"),
    ],
)
def test_a_damaged_or_newer_database_is_named(root: Path, file: str, name: str) -> None:
    """No database at all, a torn page, and a newer version: each fails by name and is left byte-equal."""
    path = root / "m" / file
    whole = path.read_bytes()
    newer = root / "newer"
    shutil.copy(path, newer)
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
    for content in (b"this is no database" * 500, whole[:4096] + os.urandom(8192) + whole[12288:], newer.read_bytes()):
        path.write_bytes(content)
        told = found(databases.probes(examine_home(root)))[name]
        assert not told.ok, content[:20]
        assert told.remedy
        assert path.read_bytes() == content


def test_a_served_database_is_looked_at_through_its_locks(tmp_path: Path) -> None:
    """While it is open, with a log, it is whole, and the log is not folded in by looking."""
    with composed(tmp_path) as home:
        home.spool()
        home.upkeep.refresh()
        home.record("s", "one")
        log = Path(f"{home.parts.served.store('claude-code').path}-wal")
        size = log.stat().st_size
        assert size
        told = found(databases.probes(examine_home(tmp_path)))
        assert told["database evidence claude-code"].message.startswith("whole")
        assert log.stat().st_size == size


def test_a_database_too_large_for_the_time_is_no_fault(root: Path) -> None:
    """What could not be looked at in time says so."""
    from daemon.doctor.database_file import look

    ticks = iter(range(10**6))
    looked = look(
        root / "m" / "queue.sqlite3", lambda _: {}, is_served=False, within=0.0, monotonic=lambda: float(next(ticks))
    )
    told = databases.database("database queue", "queue", looked)
    assert told.ok


def test_another_user_is_told_whose_it_is(root: Path) -> None:
    """Asked by somebody else, root too, nothing is opened, and the remedy names the owner."""
    examined = examine_home(root, uid=os.getuid() + 1)
    before = bytes_of(root)
    told = {check.name: check for check in checks(examined)}
    assert not told["directories"].ok
    assert "belongs to" in told["directories"].message
    assert "sudo -iu" in told["directories"].remedy
    assert not told["database queue"].ran
    assert not told["socket"].ran
    assert bytes_of(root) == before


def test_where_the_data_cannot_even_be_looked_at_nothing_is_said_of_it(tmp_path: Path) -> None:
    """Below a directory that is closed the lock is not called free, and no daemon said not to run."""
    root = tmp_path / "home"
    (root / "m").mkdir(parents=True)
    root.chmod(0)
    with unprivileged():
        told = {check.name: check for check in checks(examine_home(root))}
    root.chmod(0o700)
    assert not told["directories"].ok
    assert not any(told[name].ran for name in ("database queue", "lock", "socket", "daemon"))


def test_what_others_can_get_at_is_named(root: Path) -> None:
    """A directory others may enter, a file others may read, a handoff too."""
    for path, mode in ((root / "m" / "spools", 0o755), (root / "m" / "queue.sqlite3", 0o644)):
        before = path.stat().st_mode
        path.chmod(mode)
        told = found(directories.probes(examine_home(root)))["modes"]
        assert str(path) in told.message
        assert f"chmod {'700' if path.is_dir() else '600'} {path}" in told.remedy
        path.chmod(before)


def test_a_wrong_configuration_is_told_and_the_rest_looked_at(root: Path) -> None:
    """A key nobody knows fails one check; the others are made with the defaults."""
    file = root / "m" / "config.toml"
    file.write_text("[platfrom]\nkind = 'mem0'\n")
    file.chmod(0o600)
    told = {check.name: check for check in checks(examine_home(root))}
    assert not told["configuration"].ok
    assert "platfrom" in told["configuration"].message
    assert told["database queue"].ok
    assert found(configuration.probes(examine_home(root)))["configuration"].remedy


def test_something_in_the_socket_s_or_lock_s_place_is_told(root: Path) -> None:
    """A file that is no socket, a link for a lock: no daemon could start, and both are named."""
    (root / "m" / "run").mkdir(exist_ok=True, mode=0o700)
    (root / "m" / "run" / "status.sock").write_text("x")
    (root / "m" / "daemon.lock").unlink(missing_ok=True)
    (root / "m" / "daemon.lock").symlink_to("/nowhere")
    told = found(running.probes(examine_home(root)))
    assert not told["socket"].ok
    assert not told["lock"].ok


def test_a_broken_repository_is_told(root: Path) -> None:
    """A `.git` without a HEAD makes the directory a project by itself, which nobody wants; a remote's password is not
    shown."""
    work = root / "work"
    (work / ".git").mkdir(parents=True)
    assert not found(project.probes(examine_home(root, cwd=str(work))))["repository"].ok
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (work / ".git" / "objects").mkdir()
    (work / ".git" / "refs").mkdir()
    (work / ".git" / "config").write_text('[remote "origin"]\n\turl = https://bob:hunter2@git.example.org/a/b.git\n')
    told = found(project.probes(examine_home(root, cwd=str(work))))["repository"]
    assert told.ok
    assert "git.example.org/a/b" in told.message
    assert "hunter2" not in told.message


def test_what_run_would_refuse_of_a_fleet_is_told(root: Path) -> None:
    """Its settings are right one by one, and a file they name is not."""
    fleet = {"MEMSYNCD_QUEUE_URL": "postgresql://h/q", "MEMSYNCD_PLATFORM_KIND": "mem0"}
    assert found(configuration.probes(examine_home(root, **fleet)))["configuration"].ok
    fleet["MEMSYNCD_QUEUE_PAYLOAD_KEY_FILE"] = str(root / "gone")
    told = found(configuration.probes(examine_home(root, **fleet)))["configuration"]
    assert not told.ok
    assert "queue.payload_key_file" in told.message


def test_a_real_round_trip_with_the_key(root: Path) -> None:
    """The right key passes, a wrong one fails with the platform's word, and neither is ever shown."""
    with FakeMem0() as api:
        for key, ok in ((KEY, True), (SECRET, False)):
            told = found(account.probes(examine_home(root, MEM0_API_URL=api.url, MEM0_API_KEY=key)))
            assert told["authentication"].ok is ok
            assert "MEM0_API_KEY" in told["key"].message
            assert key not in repr(told)
    told = found(account.probes(examine_home(root, MEM0_API_URL="http://127.0.0.1:1", MEM0_API_KEY=SECRET)))
    assert "no connection" in told["authentication"].message


def test_a_key_s_file_is_judged(root: Path) -> None:
    """One that others can read fails; one that is missing fails and no round trip is tried."""
    file = root / "key"
    file.write_text(SECRET)
    file.chmod(0o644)
    environ = {"MEMSYNCD_PLATFORM_API_KEY_FILE": str(file), "MEM0_API_URL": "http://127.0.0.1:1"}
    told = found(account.probes(examine_home(root, **environ)))["key"]
    assert not told.ok
    assert SECRET not in repr(told)
    file.unlink()
    missing = found(account.probes(examine_home(root, **environ)))
    assert not missing["key"].ok
    assert not missing["authentication"].ran


def test_a_check_that_hangs_fails_and_holds_up_nobody() -> None:
    """What does not answer in its time is told so; the others are told all the same, in order."""
    forever = threading.Event()
    made = [
        Probe("a", lambda: passed("a", "x")),
        Probe("b", lambda: passed("b", str(forever.wait(60))), "Kick it.", seconds=0.2),
        Probe("c", lambda: [passed("c", "x"), failed("d", "x", "y")]),
    ]
    begun = time.monotonic()
    told = list(examine(made, monotonic=time.monotonic))
    forever.set()
    assert time.monotonic() - begun < 30
    assert [(check.name, check.ok) for check in told] == [("a", True), ("b", False), ("c", True), ("d", False)]
    assert (told[1].message, told[1].remedy) == ("no answer within 0.2 s", "Kick it.")


def test_all_together_are_bounded() -> None:
    """However long each may take, the whole has its end."""
    forever = threading.Event()
    made = [Probe(str(n), lambda: passed("x", str(forever.wait(60))), seconds=60) for n in range(3)]
    begun = time.monotonic()
    told = list(examine(made, monotonic=time.monotonic, all_seconds=0.2))
    forever.set()
    assert time.monotonic() - begun < 30
    assert not any(check.ok for check in told)


@pytest.mark.parametrize("error", [OSError(13, "Permission denied", "/x"), ValueError("odd")])
def test_a_check_that_breaks_is_no_failure_of_its_own(error: Exception) -> None:
    """It says that it could not be made, and why."""

    def run() -> None:
        raise error

    [told] = examine([Probe("a", run)], monotonic=time.monotonic)  # type: ignore[arg-type]
    assert (told.ok, told.ran) == (True, False)
    assert told.message.startswith("not checked: ")


def test_each_probe_has_its_own_name(root: Path) -> None:
    """So that a program can tell them apart."""
    names = [probe.name for probe in probes(examine_home(root), is_deep=True)]
    assert len(names) == len(set(names))
