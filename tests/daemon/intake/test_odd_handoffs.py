"""Handoffs and files that some part of the way cannot digest: each costs only itself, and none ends the thread."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.intake.grace import GRACE_SECONDS
from jobs.job import JobState, NewJob
from memsyncd.evidence.event import Scope
from memsyncd.scope.resolve import ScopeResolver
from tests.daemon.intake.ingesting import Ingesting


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def odd_files(at: Ingesting) -> list[str]:
    return [Path(finding.where).name for finding in at.findings.all() if finding.code == "odd-file"]


def reasons(at: Ingesting) -> dict[str, str]:
    return {
        path.name: json.loads(path.read_text())["detail"] for path in (at.spool_path / "corrupt").glob("*.reason.json")
    }


@pytest.mark.parametrize(
    "envelope",
    [
        {"captured_at": "9999-12-31T23:59:59-12:00"},
        {"captured_at": "0001-01-01T00:00:00+12:00"},
        {"delay_seconds": 10**400},
        {"delay_seconds": -(10**400)},
        {"process": {"pid": 10**400, "started": 10**400}},
    ],
)
@pytest.mark.parametrize("action", ["user-prompt", "flush"])
def test_an_odd_number_or_time_is_read_as_absent(at: Ingesting, action: str, envelope: dict[str, Any]) -> None:
    """The handoff is taken in like any other, and its neighbours with it."""
    at.drop(action, name="a", prompt="odd", envelope=envelope)
    at.prompt("good", name="z")
    at.scan()
    assert at.texts() == (["odd", "good"] if action == "user-prompt" else ["good"])


def test_a_number_of_more_digits_than_python_reads_costs_no_handoff(at: Ingesting) -> None:
    """It is kept as text."""
    at.put(
        "a", b'{"action": "user-prompt", "hook_input": {"session_id": "s", "prompt": "p", "n": ' + b"9" * 5000 + b"}}"
    )
    at.scan()
    assert at.texts() == ["p"]


class Resolving:
    """Resolves every directory but one, at which it fails as no part of the ingest foresees."""

    def __init__(self, root: Path, error: Exception) -> None:
        self.resolver = ScopeResolver(root, {})
        self.error = error

    def __call__(self, directory: str) -> Scope:
        if directory == "/odd":
            raise self.error
        return self.resolver.resolve(directory)


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), RecursionError(), KeyError("x")])
def test_whatever_a_handoff_provokes_it_is_a_suspect(at: Ingesting, error: Exception) -> None:
    """Its neighbours are recorded at once; it gets its grace, and goes aside with the kind of error as reason."""
    at.ingest._events.resolve = Resolving(at.root, error)
    at.prompt("odd", name="b", cwd="/odd")
    at.prompt("before", name="a")
    at.answer("after", name="c")
    assert at.scan() == 2
    assert at.texts() == ["before", "after"]
    assert at.pending() == ["b.json"]
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert reasons(at) == {"b.reason.json": type(error).__name__}
    assert at.counters.snapshot()["handoffs_corrupt"] == 1
    assert at.ingest.grace.next_look_seconds() is None


def test_a_payload_the_store_cannot_hold_costs_its_batch_nothing(at: Ingesting) -> None:
    """SQLite refuses a text beyond its limit and the batch with it: the handoffs go in one by one but for that one."""
    at.prompt("first", name="0")
    at.scan()
    with at.served.store("claude-code")._database.reading() as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20_000)
    at.prompt("before", name="a")
    at.prompt("x" * 30_000, name="b")
    at.answer("after", name="c")
    stem = at.end(name="d")
    at.scan()
    assert at.texts() == ["first", "before", "after"]
    assert at.pending() == ["b.json", f"{stem}.running"]
    assert [finding.code for finding in at.findings.all()] == []
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert reasons(at) == {"b.reason.json": "DataError"}


def test_a_flush_that_cannot_be_asked_for_costs_its_batch_nothing(at: Ingesting) -> None:
    """A request that the queue's code cannot digest is a suspect; the others get their jobs, once each."""

    class Choosy:
        def __init__(self, queue: Any) -> None:
            self._queue = queue

        def __getattr__(self, name: str) -> Any:
            return getattr(self._queue, name)

        def enqueue(self, *jobs: NewJob) -> int:
            if any(job.payload["session"] == "odd" for job in jobs):
                raise TypeError("unheard of")
            return int(self._queue.enqueue(*jobs))

    at.ingest.requests.queue = Choosy(at.queue)
    at.prompt("p", name="a")
    for name, session in (("b", "s"), ("c", "odd"), ("d", "t")):
        at.end(name=name, session=session)
    at.scan()
    assert at.pending() == ["b.running", "c.json", "d.running"]
    assert [job.payload["session"] for job in at.jobs()] == ["s", "t"]
    assert at.texts() == ["p"]


def test_a_name_too_long_to_be_claimed_stops_nobody(at: Ingesting) -> None:
    """The file stays where it is and is shown until it is gone; its neighbours are taken in."""
    long = at.prompt("long", name="a" * 249)
    at.prompt("mine", name="z")
    at.scan()
    assert at.texts() == ["mine"]
    assert at.pending() == [f"{long}.json"]
    assert odd_files(at) == [f"{long}.json"]
    assert len(at.findings.all()) == 1
    (at.spool_path / "pending" / f"{long}.json").unlink()
    at.scan()
    assert odd_files(at) == []


def test_a_claim_that_a_directory_is_in_the_way_of_stops_nobody(at: Ingesting) -> None:
    """It is shown like any odd file, and taken in once the way is free."""
    at.prompt("blocked", name="a")
    at.prompt("mine", name="b")
    (at.spool_path / "pending" / "a.running").mkdir()
    at.scan()
    assert (at.texts(), odd_files(at)) == (["mine"], ["a.json"])
    (at.spool_path / "pending" / "a.running").rmdir()
    at.scan()
    assert (at.texts(), at.pending()) == (["mine", "blocked"], [])
    at.scan()
    assert odd_files(at) == []


def test_a_file_whose_time_cannot_be_set_stops_nobody(at: Ingesting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's file can be moved and read but has no heart to beat: it is asked for, held and kept through a
    pause like its neighbours."""
    utime = os.utime

    def refusing(path: str, *arguments: Any, **options: Any) -> None:
        if Path(path).stem == "a":
            raise PermissionError(1, "Operation not permitted")
        utime(path, *arguments, **options)

    at.end(name="a")
    at.end(name="b", session="t", age=3600.0)
    monkeypatch.setattr(os, "utime", refusing)
    (at.spool_path / "paused").touch()
    at.scan()
    assert at.hands.wall_now - (at.spool_path / "pending" / "b.json").stat().st_mtime < 60
    (at.spool_path / "paused").unlink()
    at.scan()
    at.ingest.requests.beat()
    assert at.pending() == ["a.running", "b.running"]
    assert sorted(stem for _, stem in at.ingest.requests.held.values()) == ["a", "b"]
    assert len(at.jobs(JobState.READY)) == 2


def test_a_spool_that_is_gone_leaves_neither_suspects_nor_findings(at: Ingesting) -> None:
    """Nobody would look at them again: the thread would scan for ever, and the finding stay (never-again 69)."""
    other = at.root / "spools" / "codex"
    (other / "pending").mkdir(parents=True, mode=0o700)
    at.served.refresh(at.findings)
    at.put("torn", b"{", pending=other / "pending")
    at.put("a" * 249, b"{}", pending=other / "pending")
    at.scan()
    assert at.ingest.grace.next_look_seconds() is not None
    shutil.rmtree(other)
    at.served.refresh(at.findings)
    at.scan()
    assert at.ingest.grace.next_look_seconds() is None
    assert odd_files(at) == []


@pytest.mark.parametrize("how", ["store", "spool"])
def test_a_spool_that_cannot_be_worked_on_calls_for_no_look_at_its_suspects(at: Ingesting, how: str) -> None:
    """They are not judged meanwhile, so the end of their grace must not wake the thread over and over."""
    at.put("torn", b"{")
    at.scan()
    if how == "store":
        at.served._stores.pop("claude-code").close()
    else:
        shutil.rmtree(at.spool_path)
        at.spool_path.write_text("in the way")
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert at.ingest.grace.next_look_seconds() is None


ODD_TIMES = st.sampled_from(
    ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.9999999Z", "now", "\0", "\ud800"]
)
ODD = (
    ODD_TIMES
    | st.sampled_from([10**400, -(10**400), 1e308, 2**63, -(2**64), "\ud800\0", "/\0", "x" * 5_000, "../" * 400])
    | st.integers(1, 500).map(lambda depth: json.loads("[" * depth + "]" * depth))
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=10) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | ODD_TIMES, inner, max_size=3),
    max_leaves=6,
)
ENVELOPE = (
    "v",
    "id",
    "harness",
    "captured_at",
    "reason",
    "wait_for_inflight",
    "delay_seconds",
    "process",
    "cwd",
    "raw",
)
HOOK = ("session_id", "cwd", "prompt", "prompt_id", "last_assistant_message", "tool_name", "tool_input",
        "tool_response", "tool_use_id", "agent_id", "transcript_path", "duration_ms", "bytes")  # fmt: skip
PROCESS = st.fixed_dictionaries({"pid": VALUES, "started": VALUES}, optional={"namespace": VALUES})
DOCUMENTS = st.fixed_dictionaries(
    {
        "action": st.sampled_from(["user-prompt", "post-tool", "stop", "subagent-stop", "flush"]) | VALUES,
        "hook_input": st.dictionaries(st.sampled_from(HOOK), VALUES, max_size=5) | VALUES,
    },
    optional=dict.fromkeys(ENVELOPE, VALUES) | {"process": PROCESS | VALUES, "captured_at": ODD_TIMES | VALUES},
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(documents=st.lists(DOCUMENTS | VALUES, min_size=1, max_size=4))
def test_no_json_whatever_it_is_ends_a_scan_or_costs_a_neighbour(at: Ingesting, documents: Sequence[Any]) -> None:
    """Every good neighbour is recorded, and after the grace nothing waits: all is recorded, queued or kept aside."""
    markers = []
    for document in documents:
        at.put(f"{next(at.numbers):06}", json.dumps(document).encode())
        markers.append(f"marker {next(at.numbers)}")
        at.prompt(markers[-1], session="good")
    at.scan()
    assert [text for text in at.texts() if text in markers] == markers
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert not [name for name in at.pending() if name.endswith(".json")]
    assert not at.findings.all()
