"""Recording: one line more in the spool, or one more in the counter; nothing raised, nothing waited for."""

import fcntl
import itertools
import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memsyncd.clock import Clock
from memsyncd.redaction import redact
from memsyncd.telemetry import recorder as recording
from memsyncd.telemetry.cleaning import clean
from memsyncd.telemetry.recorder import MAX_DROPPED, MAX_LINE_BYTES, MAX_SPOOL_BYTES, Recorder, dropped
from memsyncd.telemetry.salt import Salt
from tests import uncounted
from tests.memsyncd.telemetry.children import RECORDER, REPOSITORY

NOW = 1_796_000_000.25


def recorder(spool: Path, **different: Any) -> Recorder:
    numbers = itertools.count(1)
    usual: dict[str, Any] = {
        "harness": "codex",
        "source": "CODEX_PLUGIN",
        "salt": Salt(spool / "telemetry-salt"),
        "redact": redact,
        "clock": Clock(wall=lambda: NOW),
        "new_uuid": lambda: f"00000000-0000-4000-8000-{next(numbers):012}",
        "version": "1.2.3",
    }
    return Recorder(spool, **(usual | different))


def lines(spool: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (spool / "telemetry.jsonl").read_bytes().splitlines()]


def test_an_event_is_one_line(tmp_path: Path) -> None:
    """Name with its prefix, its own UUID, the time, properties without nulls, stamped with harness and source (12.4, 12.8)."""
    told = recorder(tmp_path)
    assert told.record("flush", {"batches": 3, "reason": None})
    assert told.record("code.recall")
    stamps = {"harness": "codex", "source": "CODEX_PLUGIN", "version": "1.2.3"}
    common = {"timestamp": "2026-11-30T00:53:20.250Z"}
    assert lines(tmp_path) == [
        {"event": "code.flush", "uuid": "00000000-0000-4000-8000-000000000001", **common, "properties": {"batches": 3, **stamps}},
        {"event": "code.recall", "uuid": "00000000-0000-4000-8000-000000000002", **common, "properties": stamps},
    ]  # fmt: skip


def test_an_alias_is_an_event_of_the_endpoints_own(tmp_path: Path) -> None:
    """It goes under the account, names the machine's id until now, and is as safe to record (12.25)."""
    assert recorder(tmp_path).record_alias("code-anon-1", "ada@example.org")
    [event] = lines(tmp_path)
    assert (event["event"], event["distinct_id"]) == ("$create_alias", "ada@example.org")
    assert event["properties"]["alias"] == "code-anon-1"
    assert not recorder(tmp_path, clock=Clock(wall=fails)).record_alias("code-anon-1", "ada@example.org")
    assert dropped(tmp_path) == 1


def test_what_is_recorded_passes_the_senders_cleaning(tmp_path: Path) -> None:
    """A sender cleans once more: hashes, ids and labels are no secrets to it."""
    for number in range(50):
        assert recorder(tmp_path).record("flush", {"n": number}, repo_id=f"r-{number}", session_id=f"s-{number}")
        assert recorder(tmp_path).record_alias(f"code-anon-{uuid.uuid4().hex}", "ada@example.org")
    for event in lines(tmp_path):
        assert clean(event["properties"], redact) == event["properties"]


def test_nobody_else_labels_an_event(tmp_path: Path) -> None:
    """The recorder's labels win over properties of the same name, hashes included (12.8, 20.11)."""
    forged = {"harness": "generic", "source": "OTHER", "version": "0", "session_hash": "not salted"}
    assert recorder(tmp_path).record("flush", forged, session_id="s-1")
    [event] = lines(tmp_path)
    assert event["properties"] == {
        "harness": "codex",
        "source": "CODEX_PLUGIN",
        "version": "1.2.3",
        "session_hash": Salt(tmp_path / "telemetry-salt").hash("s-1"),
    }


def test_properties_are_cleaned(tmp_path: Path) -> None:
    """Private keys and secrets are gone before the line touches the disk (12.5)."""
    token = "ghp_" + "a1B2" * 9
    assert recorder(tmp_path).record("flush", {"prompt": "words", "list": [{"cwd": "/x", "label": token}]})
    text = (tmp_path / "telemetry.jsonl").read_text()
    assert "words" not in text and "/x" not in text and token not in text


def test_repository_and_session_are_hashes(tmp_path: Path) -> None:
    """They appear as 16 hex digits only (12.6)."""
    assert recorder(tmp_path).record("flush", repo_id="https://git.example.org/team/tool", session_id="s-1")
    [event] = lines(tmp_path)
    salt = Salt(tmp_path / "telemetry-salt")
    assert event["properties"]["repository_hash"] == salt.hash("https://git.example.org/team/tool")
    assert event["properties"]["session_hash"] == salt.hash("s-1")
    assert "s-1" not in (tmp_path / "telemetry.jsonl").read_text()


def test_without_a_salt_they_are_left_out(tmp_path: Path) -> None:
    """No salt: the property is omitted, never unsalted or empty (12.6), and the event is recorded all the same."""
    (tmp_path / "telemetry-salt").mkdir()
    told = recorder(tmp_path)
    assert told.record("flush", {"repository_hash": "x", "session_hash": "y"}, repo_id="r", session_id="s-1")
    assert set(lines(tmp_path)[0]["properties"]) == {"harness", "source", "version"}


def test_the_spool_is_private(tmp_path: Path) -> None:
    """The spool and the counter are 0600 from the moment they exist, whatever the umask."""
    before = os.umask(0)
    try:
        told = recorder(tmp_path)
        told.record("flush")
        told.record("x" * MAX_LINE_BYTES)
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "telemetry.jsonl": 0o600,
        "telemetry-dropped": 0o600,
    }


def test_once_the_spool_is_larger_events_are_dropped_and_counted(tmp_path: Path) -> None:
    """Over 256 KiB nothing is added and nothing trimmed; each event is counted, for every process (12.3)."""
    spool = tmp_path / "telemetry.jsonl"
    spool.write_bytes(b"x" * (MAX_SPOOL_BYTES - 1) + b"\n")
    assert recorder(tmp_path).record("flush")
    size = spool.stat().st_size
    assert not recorder(tmp_path).record("flush")
    assert not recorder(tmp_path).record("flush")
    assert spool.stat().st_size == size
    assert dropped(tmp_path) == 2


def test_the_counter_is_bounded(tmp_path: Path) -> None:
    """It stops at a megabyte, however many are dropped."""
    assert dropped(tmp_path) == 0
    (tmp_path / "telemetry-dropped").write_bytes(b"." * (MAX_DROPPED - 1))
    told = recorder(tmp_path)
    for _ in range(3):
        assert not told.record("x" * MAX_LINE_BYTES)
    assert dropped(tmp_path) == (tmp_path / "telemetry-dropped").stat().st_size == MAX_DROPPED
    assert told.uncounted == 0


def test_an_event_too_long_for_a_line_is_dropped(tmp_path: Path) -> None:
    """A spool holds many events: none may take it up alone."""
    astral = {f"k{number}": "\U0001f600" * 200 for number in range(100)}
    assert not recorder(tmp_path).record("flush", astral)
    assert not (tmp_path / "telemetry.jsonl").exists()
    assert dropped(tmp_path) == 1


def test_a_torn_line_does_not_take_the_next_one_along(tmp_path: Path) -> None:
    """After a crash in the middle of a line the next event begins on a line of its own."""
    (tmp_path / "telemetry.jsonl").write_bytes(b'{"event": "code.torn')
    told = recorder(tmp_path)
    assert told.record("one")
    assert told.record("two")
    torn, *whole = (tmp_path / "telemetry.jsonl").read_bytes().splitlines()
    assert torn == b'{"event": "code.torn'
    assert [json.loads(line)["event"] for line in whole] == ["code.one", "code.two"]


def fails(*_: object) -> Any:
    raise RuntimeError("private words")


class Moody(dict[str, Any]):
    """A mapping that cannot be read."""

    def items(self) -> Any:
        raise RuntimeError("private words")


@pytest.mark.parametrize(
    "broken",
    [
        {"redact": fails},
        {"new_uuid": fails},
        {"clock": Clock(wall=fails)},
        {"clock": Clock(wall=lambda: 1e300)},
        {"clock": Clock(wall=lambda: float("nan"))},
    ],
    ids=["redaction", "chance", "clock", "year", "no time"],
)
def test_whatever_breaks_is_counted_and_not_raised(tmp_path: Path, broken: dict[str, Any]) -> None:
    """Recording never raises (12.2): the event is dropped, and counted."""
    assert not recorder(tmp_path, **broken).record("flush", {"label": "x"})
    assert dropped(tmp_path) == 1


@pytest.mark.parametrize("properties", [Moody(), None, 3, [1]], ids=["moody", "none", "number", "list"])
def test_odd_properties_are_counted_and_not_raised(tmp_path: Path, properties: Any) -> None:
    """The same for a caller's mistake."""
    assert not recorder(tmp_path).record("flush", properties)
    assert dropped(tmp_path) == 1


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    (path.parent / "target").touch()
    path.symlink_to(path.parent / "target")


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def a_device(path: Path) -> None:
    path.symlink_to("/dev/full")


@pytest.mark.parametrize("obstacle", [a_directory, a_link, a_dangling_link, os.mkfifo, a_device])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, obstacle: Callable[[Path], object]) -> None:
    """A link, FIFO, directory or device in the spool's place gets nothing, makes nobody wait, and is left as it is."""
    obstacle(tmp_path / "telemetry.jsonl")
    before = os.lstat(tmp_path / "telemetry.jsonl")
    assert not recorder(tmp_path).record("flush")
    assert os.lstat(tmp_path / "telemetry.jsonl").st_ino == before.st_ino
    assert dropped(tmp_path) == 1
    target = tmp_path / "target"
    assert not target.exists() or not target.read_bytes()
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("obstacle", [a_directory, a_link, os.mkfifo])
def test_what_cannot_be_counted_is_owed(tmp_path: Path, obstacle: Callable[[Path], object]) -> None:
    """With something in the counter's place too the count is kept in memory, and told as soon as it can be."""
    for name in ("telemetry.jsonl", "telemetry-dropped"):
        obstacle(tmp_path / name)
        (tmp_path / "target").unlink(missing_ok=True)
    told = recorder(tmp_path)
    assert not told.record("one")
    assert not told.record("two")
    assert (told.uncounted, dropped(tmp_path)) == (2, 0)
    for name in ("telemetry.jsonl", "telemetry-dropped"):
        (tmp_path / name).rmdir() if (tmp_path / name).is_dir() else (tmp_path / name).unlink()
    assert told.record("three")
    assert (told.uncounted, dropped(tmp_path)) == (0, 2)


def test_a_spool_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A recorder writes into a spool, it makes none; the count is owed until there is one."""
    told = recorder(tmp_path / "spool")
    assert not told.record("flush")
    assert not list(tmp_path.iterdir())
    (tmp_path / "spool").mkdir()
    assert told.record("flush")
    assert dropped(tmp_path / "spool") == 1


IN_A_CHILD = """
import json
spool = Path(sys.argv[1])
told = recorder(spool)
results = []
"""

FULL_DISK = """
import resource
told.record("before")
size = (spool / "telemetry.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
results += [told.record("torn"), told.record("refused")]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
results.append(told.record("after"))
print(json.dumps([results, told.uncounted]))
"""

NOTHING_LEFT = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
results += [told.record("one"), told.record("two"), told.uncounted]
resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
results += [told.record("three"), told.uncounted]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
results.append(told.record("after"))
print(json.dumps([results, told.uncounted]))
"""

NO_RIGHT = """
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
results.append(told.record("flush"))
print(json.dumps([results, told.uncounted]))
"""


def run(body: str, spool: Path) -> Any:
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RECORDER + IN_A_CHILD + body, str(spool)],
        cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=60, env=uncounted.environment(),
    )  # fmt: skip
    assert child.stderr == ""
    return json.loads(child.stdout)


def test_a_disk_that_fills_up_costs_the_event_and_no_other(tmp_path: Path) -> None:
    """A line of which only a part fits is dropped and counted; what comes after it, once there is room, is whole."""
    assert run(FULL_DISK, tmp_path) == [[False, False, True], 0]
    before, _torn, after = (tmp_path / "telemetry.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["event"] for line in (before, after)] == ["code.before", "code.after"]
    assert dropped(tmp_path) == 2


def test_a_disk_without_room_for_the_count_is_remembered(tmp_path: Path) -> None:
    """Where not even a byte fits, the drops are counted as soon as one does, each for the byte that fits."""
    assert run(NOTHING_LEFT, tmp_path) == [[False, False, 2, False, 2, True], 0]
    assert dropped(tmp_path) == 3


def test_a_spool_without_the_right_to_write_costs_only_the_event(tmp_path: Path) -> None:
    """No permission is no error of the caller's."""
    tmp_path.chmod(0o500)
    try:
        assert run(NO_RIGHT, tmp_path) == [[False], 1]
    finally:
        tmp_path.chmod(0o700)


@pytest.fixture(name="locked")
def locked_fixture(tmp_path: Path) -> Iterator[int]:
    """Give out a spool file that a sender has locked for itself."""
    file = os.open(tmp_path / "telemetry.jsonl", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    yield file
    os.close(file)


def test_a_sender_at_the_file_is_not_waited_for(tmp_path: Path, locked: int) -> None:
    """A lock on the live spool that never ends costs the event, a count and an instant."""
    assert not recorder(tmp_path).record("flush")
    assert os.fstat(locked).st_size == 0
    assert dropped(tmp_path) == 1


def test_a_file_claimed_and_locked_gets_nothing_more(tmp_path: Path, locked: int) -> None:
    """Once a sender has renamed and locked it, events go into a new file."""
    (tmp_path / "telemetry.jsonl").rename(tmp_path / "telemetry-1-00000000-a0.sending")
    assert recorder(tmp_path).record("flush")
    assert os.fstat(locked).st_size == 0
    assert len(lines(tmp_path)) == 1


FORKS = """
import fcntl, threading
gate, opener = os.pipe()
children = []
def forks():
    for _ in range(40):
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.read(gate, 1)  # until the parent is done
            os._exit(0)
        children.append(child)
thread = threading.Thread(target=forks)
thread.start()
while thread.is_alive():
    results.append(told.record("flush"))
thread.join()
with (spool / "telemetry.jsonl").open("rb") as file:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(opener)
for child in children:
    os.waitpid(child, 0)
print(json.dumps([sorted(set(results)), told.uncounted]))
"""


def test_a_fork_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A sender gets the file for itself once nobody records, whatever the recorder's process forked meanwhile."""
    assert run(FORKS, tmp_path) == [[True], 0]


def test_a_spool_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    """Whoever made the file, with whatever mode."""
    (tmp_path / "telemetry.jsonl").touch(mode=0o644)
    (tmp_path / "telemetry.jsonl").chmod(0o644)
    assert recorder(tmp_path).record("flush")
    assert (tmp_path / "telemetry.jsonl").stat().st_mode & 0o777 == 0o600


def test_another_recorder_at_the_file_is_let_finish(
    tmp_path: Path, locked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line is written at a time: the event waits the instant another takes, and stands on a line of its own though
    that one was cut short."""
    monkeypatch.setattr(recording, "_ATTEMPTS", 100_000)  # an instant of a busy machine
    os.write(locked, b'{"event": "code.torn')
    release = threading.Timer(0.005, fcntl.flock, (locked, fcntl.LOCK_UN))
    release.start()
    assert recorder(tmp_path).record("flush")
    release.join()
    torn, whole = (tmp_path / "telemetry.jsonl").read_bytes().splitlines()
    assert (torn, json.loads(whole)["event"]) == (b'{"event": "code.torn', "code.flush")
