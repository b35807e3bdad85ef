"""Several recorders, and a sender that takes the spool away under them: each event is somewhere, once and whole."""

import fcntl
import json
import os
from contextlib import ExitStack
from pathlib import Path

from memsyncd.telemetry.recorder import MAX_SPOOL_BYTES, dropped
from tests.memsyncd.telemetry.children import RECORDER, printed, race, release, start

RECORD = """
told = recorder(Path(sys.argv[1]))
print(*[int(told.record("flush", {"by": sys.argv[2], "number": number})) for number in range(int(sys.argv[3]))], sep="")
"""

THREADS = """
import threading
told = recorder(Path(sys.argv[1]))
def work(name):
    for number in range(100):
        assert told.record("flush", {"by": f"{sys.argv[2]}-{name}", "number": number})
threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def told_by(raw: bytes) -> list[tuple[str, int]]:
    """Return who told what, in the order of the lines; each line must be whole, or blank, which is none."""
    events = [json.loads(line)["properties"] for line in raw.splitlines() if line]
    return [(event["by"], event["number"]) for event in events]


def test_concurrent_recorders_lose_and_tear_nothing(tmp_path: Path) -> None:
    """Events of many processes and threads are all there, each line whole, each recorder's own in its order."""
    assert race(RECORDER, THREADS, [[tmp_path, name] for name in "abc"]) == [["done"]] * 3
    spooled = (tmp_path / "telemetry.jsonl").read_bytes()
    assert b"\n\n" not in spooled  # a line that is only being written is not taken for a torn one
    told = told_by(spooled)
    names = [f"{process}-{thread}" for process in "abc" for thread in range(4)]
    assert len(told) == 1_200
    for name in names:
        assert [number for by, number in told if by == name] == list(range(100))
    assert dropped(tmp_path) == 0


def test_concurrent_drops_are_all_counted(tmp_path: Path) -> None:
    """What does not fit is counted to the last event, whichever process dropped it."""
    (tmp_path / "telemetry.jsonl").write_bytes(b"{}\n" * (MAX_SPOOL_BYTES // 3 - 1_000))
    results = race(RECORDER, RECORD, [[tmp_path, name, 100] for name in "abcd"])
    refused = sum(line.count("0") for [line] in results)
    assert 0 < refused < 400
    assert dropped(tmp_path) == refused
    assert len((tmp_path / "telemetry.jsonl").read_bytes().splitlines()) == MAX_SPOOL_BYTES // 3 - 1_000 + 400 - refused


def test_a_sender_that_reads_and_removes_loses_nothing(tmp_path: Path) -> None:
    """While one process renames, locks, reads to the end and removes the spool as fast as it can, every event another
    says it recorded is in what was read or in what is left, and every other one is counted."""
    taken = b""
    with ExitStack() as stack:
        children = [start(stack, RECORDER, RECORD, tmp_path, name, 1_500) for name in "abc"]
        release(children)
        while any(child.poll() is None for child in children):
            taken += take(tmp_path)
        results = printed(children)
    taken += take(tmp_path)
    told = told_by(taken)
    expected = {(name, number) for name, [line] in zip("abc", results, strict=True) for number, said in enumerate(line) if said == "1"}  # fmt: skip
    assert len(told) == len(set(told))
    assert set(told) == expected
    assert dropped(tmp_path) == 4_500 - len(expected)


def take(spool: Path) -> bytes:
    """Do as a sender does: the claim, then the lock on it, then everything in it, then it is gone."""
    claim = spool / "telemetry-1-00000000-a0.sending"
    try:
        os.rename(spool / "telemetry.jsonl", claim)
    except FileNotFoundError:
        return b""
    with claim.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        content = file.read()
        claim.unlink()
    return content
