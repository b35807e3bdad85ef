"""Commands against a daemon's real socket, with a view made for the test behind it."""

import asyncio
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from daemon.cli import link
from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from daemon.intake.spool import Spool
from daemon.lock import DaemonLock
from daemon.status.report import Finding, StatusParts, TelemetryPart, status_document
from daemon.status_socket import client
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from tests.daemon.telemetry.switched_on import ENDPOINT, ON, line

NOW = 1_800_000_000.0


@dataclass
class View:
    """What the daemon would say; the test sets it."""

    document: dict[str, Any] = field(default_factory=lambda: status_document(StatusParts("1.2.3", NOW, pid=7)))
    known: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)

    def status(self) -> Mapping[str, Any]:
        return self.document

    def health(self) -> tuple[bool, list[str]]:
        return True, []

    def metrics(self) -> str:
        return ""

    def shared_jobs(self, state: str | None, kind: str | None, limit: int) -> list[dict[str, Any]] | None:
        return None

    def jobs(self, state: str | None, kind: str | None, limit: int) -> list[dict[str, Any]]:
        self.asked.append((state, kind, limit))
        return [
            {"id": name, "state": found, "kind": "flush"}
            for name, found in self.known.items()
            if state in {None, found}
        ]

    def job(self, job_id: str) -> dict[str, Any] | None:
        return {"id": job_id, "state": self.known[job_id]} if job_id in self.known else None

    def retry(self, job_id: str) -> str:
        self.asked.append(("retry", job_id))
        return "done" if job_id in self.known else "unknown"

    def discard(self, job_id: str) -> str:
        self.asked.append(("discard", job_id))
        return "already so" if job_id in self.known else "unknown"

    async def flush(self, session: str | None, cwd: str | None, wait_seconds: float) -> dict[str, Any]:
        self.asked.append((session, cwd, wait_seconds > 0))
        return self.answer

    async def events(self, since: int, wait_seconds: float) -> dict[str, Any]:
        return {"events": []}


@dataclass
class Served:
    """A running socket with its view, and where commands find it."""

    view: View
    around: Surroundings
    home: Path


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def around(home: Path) -> Surroundings:
    return Surroundings(
        environ={"MEMSYNCD_HOME": str(home)}, home=home, uid=os.geteuid(), platform="linux", wall=lambda: NOW
    )


@pytest.fixture
def served(home: Path, around: Surroundings) -> Iterator[Served]:
    view = View()
    places = around.places()
    places.runtime.mkdir(mode=0o700)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    ready = threading.Event()

    async def serve() -> None:
        table = routes(view)
        listening = HttpSocket(places.status_socket, table)
        await listening.start()
        ready.set()
        await stop.wait()
        await listening.stop()
        table.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(60)
    yield Served(view, around, home)
    loop.call_soon_threadsafe(stop.set)
    thread.join(60)
    loop.close()


def test_status_passes_the_document_on(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """`status --json` prints the daemon's document; without it, its sentence comes first. Healthy exits 0."""
    assert main(["status", "--json"], served.around) == 0
    assert json.loads(capsys.readouterr().out) == served.view.document
    assert main(["status"], served.around) == 0
    assert capsys.readouterr().out.startswith("● ok: Nothing waits")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"findings": (Finding("disk-nearly-full", where="/s"),)}, 1),
        ({"findings": (Finding("clock-jumped"),)}, 0),
        ({"findings": (Finding("disk-nearly-full", where="/s"),), "paused": True}, 0),
    ],
)
def test_status_exit_code_is_health(served: Served, parts: dict[str, Any], code: int) -> None:
    """Not healthy exits 1; a mere problem, and a pause by the user, 0."""
    served.view.document = status_document(StatusParts("1.2.3", NOW, pid=7, **parts))
    assert main(["status"], served.around) == code
    assert main(["status", "--json"], served.around) == code


def test_telemetry_is_what_the_running_daemon_does(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """A no in the settings here does not reach one that was started with a yes, and must not be told as if it did; nor
    a yes one that was started with a no."""
    spool = served.home / "spools/codex"
    spool.mkdir(parents=True)
    (spool / "telemetry.jsonl").write_bytes(line())
    on = TelemetryPart(enabled=True, endpoint=ENDPOINT, interval_seconds=60.0)
    served.view.document = status_document(StatusParts("1.2.3", NOW, telemetry=on))
    assert main(["telemetry", "show"], served.around) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1
    assert "was started with other telemetry settings" in printed.err
    assert main(["telemetry"], served.around) == 0
    assert "every 60 s" in capsys.readouterr().out
    served.view.document = status_document(StatusParts("1.2.3", NOW))
    here = replace(served.around, environ={**served.around.environ, **ON})
    assert main(["telemetry", "show"], here) == 0
    assert "the running daemon has it off" in capsys.readouterr().out
    served.view.document = status_document(StatusParts("1.2.3", NOW, telemetry=on))
    assert main(["telemetry", "show"], here) == 0
    assert "other telemetry settings" not in capsys.readouterr().err


def test_status_of_a_daemon_with_another_runtime_directory(
    served: Served, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that looks for the socket elsewhere finds it by what the lock's holder wrote down."""
    places = served.around.places()
    moved = home / "other.sock.d"
    moved.mkdir(mode=0o700)
    elsewhere = moved / "status.sock"
    os.rename(places.status_socket, elsewhere)
    held = DaemonLock.acquire(places.lock_file, pid=7, run_id="r", socket=str(elsewhere))
    try:
        assert main(["status", "--json"], served.around) == 0
    finally:
        held.release()
        os.rename(elsewhere, places.status_socket)
    assert json.loads(capsys.readouterr().out)["pid"] == 7


def test_status_when_what_is_there_is_no_daemon(
    home: Path, around: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    """A regular file in the socket's place is a problem with a sentence; the status comes from the files, exit 3."""
    places = around.places()
    places.runtime.mkdir(mode=0o700)
    places.status_socket.write_text("in the way")
    assert main(["status", "--json"], around) == 3
    [problem] = json.loads(capsys.readouterr().out)["problems"]
    assert problem["code"] == "socket-foreign"
    assert str(places.status_socket) in problem["message"]
    assert places.status_socket.read_text() == "in the way"


class Hanging:
    """What a stopped process leaves of a daemon: its lock is held, its socket takes connections, nobody answers."""

    def __init__(self, around: Surroundings) -> None:
        places = around.places()
        places.runtime.mkdir(mode=0o700)
        self.lock = DaemonLock.acquire(places.lock_file, pid=4711, run_id="r", socket=str(places.status_socket))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(places.status_socket))
        places.status_socket.chmod(0o600)
        self.listener.listen(16)

    def close(self) -> None:
        self.listener.close()
        self.lock.release()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((link, "SHORT"), (link, "PATIENCE"), (client, "LOOK_SECONDS"), (client, "ANSWER_SECONDS")):
        monkeypatch.setattr(module, name, 0.1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("flush", 1),
        ("flush --wait", 1),
        ("forget --session s", 1),
        ("forget --yes --session s", 1),
        ("drain", 1),
        ("drain --wait --timeout 3600", 1),
        ("search anything", 1),
        ("jobs list", 1),
        ("jobs show x", 1),
        ("jobs retry x", 1),
        ("status", 1),
        ("pause", 0),
        ("resume", 0),
    ],
)
def test_a_daemon_that_hangs_is_told_with_what_to_do(
    around: Surroundings, capsys: pytest.CaptureFixture[str], hurried: None, words: str, code: int
) -> None:
    """Soon, whatever is asked, also what is waited for as long as it takes; a pause needs no daemon."""
    hanging = Hanging(around)
    try:
        assert main(words.split(), around) == code
    finally:
        hanging.close()
    printed = capsys.readouterr()
    told = " ".join(f"{printed.out} {printed.err}".split())
    assert code == 0 or ("kill -9" in told and "4711" in told)


def test_what_takes_long_is_waited_for_while_the_daemon_is_well(
    served: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer that comes after many looks is the answer; one whose jobs stand still is left with that."""
    monkeypatch.setattr(client, "LOOK_SECONDS", 0.01)
    looked = threading.Event()
    shown = served.view.document

    def status() -> Mapping[str, Any]:
        looked.set()
        return shown

    async def flush(*_: Any) -> dict[str, Any]:
        assert await asyncio.to_thread(looked.wait, 60)
        return {"outcome": "delivered", "packets": 1}

    monkeypatch.setattr(served.view, "status", status)
    monkeypatch.setattr(served.view, "flush", flush)
    assert main(["flush", "--wait"], served.around) == 0
    assert capsys.readouterr().out == "Delivered: 1 packet.\n"
    shown = status_document(StatusParts("1.2.3", NOW, pid=7, findings=(Finding("no-progress"),)))
    monkeypatch.setattr(served.view, "flush", lambda *_: asyncio.sleep(30))
    assert main(["flush", "--wait"], served.around) == 1
    assert "nothing gets finished" in capsys.readouterr().err


def test_jobs_list_and_show(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """Filters reach the daemon; a job is shown whole; one that is not there exits 1 with a sentence."""
    served.view.known = {"flush:a/b:1": "dead", "x": "ready"}
    assert main(["jobs", "list", "--state", "dead", "--kind", "flush", "--limit", "5", "--json"], served.around) == 0
    assert [job["id"] for job in json.loads(capsys.readouterr().out)["jobs"]] == ["flush:a/b:1"]
    assert served.view.asked == [("dead", "flush", 5)]
    assert main(["jobs", "show", "flush:a/b:1", "--json"], served.around) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "flush:a/b:1"
    assert main(["jobs", "show", "none"], served.around) == 1
    printed = capsys.readouterr()
    assert (printed.out, "none" in printed.err) == ("", True)


def test_jobs_retry_and_discard(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """What was done or is already so exits 0; an unknown job exits 1 and does not hinder the others."""
    served.view.known = {"a/b": "dead", "c": "dead", "d": "ready"}
    assert main(["jobs", "retry", "a/b", "none", "c", "--json"], served.around) == 1
    assert json.loads(capsys.readouterr().out) == {
        "changed": ["a/b", "c"], "refused": {"none": "there is no such job"},
    }  # fmt: skip
    assert [each for each in served.view.asked if each[0] == "retry"] == [
        ("retry", "a/b"),
        ("retry", "none"),
        ("retry", "c"),
    ]
    served.view.asked.clear()
    assert main(["jobs", "retry", "--dead"], served.around) == 0
    assert ("retry", "d") not in served.view.asked
    assert "2 jobs ready again" in capsys.readouterr().out
    assert main(["jobs", "discard", "c"], served.around) == 0


@pytest.mark.parametrize(
    ("outcome", "waiting", "asking", "sentence"),
    [
        ({"outcome": "delivered", "packets": 2, "reason": ""}, 0, 0, "Delivered: 2 packets."),
        ({"outcome": "nothing", "packets": 0, "reason": ""}, 0, 0, "Nothing to deliver."),
        ({"outcome": "refused", "packets": 1, "reason": "status 422"}, 1, 1, "Refused: 1 packet (status 422)."),
        ({"outcome": "put-off", "packets": 1, "reason": "offline"}, 75, 0, "Put off: 1 packet (offline)."),
        ({"outcome": "waiting", "packets": 1, "reason": ""}, 75, 0, "Asked for a delivery."),
        ({"outcome": "of-tomorrow"}, 75, 0, "of-tomorrow."),
    ],
)
def test_flush_words_and_codes(
    served: Served,
    capsys: pytest.CaptureFixture[str],
    *,
    outcome: dict[str, Any],
    waiting: int,
    asking: int,
    sentence: str,
) -> None:
    """Delivered, nothing, refused and put off differ in word and exit code; without --wait asking was all."""
    served.view.answer = outcome
    assert main(["flush", "--wait"], served.around) == waiting
    assert capsys.readouterr().out == f"{sentence}\n"
    assert main(["flush", "--json"], served.around) == asking
    assert json.loads(capsys.readouterr().out) == outcome
    assert [each[2] for each in served.view.asked] == [True, False]


def test_flush_passes_its_scope(served: Served, home: Path) -> None:
    """Session and directory reach the daemon, the directory as an absolute path."""
    served.view.answer = {"outcome": "nothing", "packets": 0, "reason": ""}
    assert main(["flush", "--session", "s-1"], served.around) == 0
    assert main(["flush", "--cwd", "."], served.around) == 0
    assert served.view.asked == [("s-1", None, False), (None, str(Path.cwd()), False)]


def test_flush_needs_the_daemon(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a daemon: exit 3 and how to start it; a daemon that holds the lock and is silent: 1, for it is there."""
    assert main(["flush"], around) == 3
    printed = capsys.readouterr()
    assert (printed.out, "memsyncd run" in printed.err) == ("", True)
    held = DaemonLock.acquire(around.places().lock_file, pid=7, run_id="r")
    try:
        assert main(["flush"], around) == 1
        assert main(["status"], around) == 1
    finally:
        held.release()


@pytest.mark.parametrize("is_served", [True, False])
def test_dead_handoffs_are_listed_retried_and_discarded(
    request: pytest.FixtureRequest, around: Surroundings, is_served: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With and without a daemon, a handoff given up before it became a job is handled as a dead job is."""
    if is_served:
        request.getfixturevalue("served")
    spool = Spool(around.places().spools / "codex", "codex", own=True)
    around.places().spools.mkdir()
    spool.prepare()
    for stem in ("a", "b", "c"):
        (spool.pending / f"{stem}.running").write_text("{}")
        spool.bury(stem, "expired")
    assert main(["jobs", "list", "--state", "dead", "--json"], around) == 0
    listed = json.loads(capsys.readouterr().out)["jobs"]
    assert [(job["id"], job["reason"]) for job in listed] == [(f"handoff:codex/{stem}", "expired") for stem in "abc"]
    assert main(["jobs", "show", "handoff:codex/a", "--json"], around) == 0
    assert main(["jobs", "discard", "handoff:codex/a"], around) == 0
    assert main(["jobs", "retry", "--dead"], around) == 0
    assert sorted(path.name for path in spool.pending.iterdir()) == ["b.json", "c.json"]
    assert list(spool.dead.iterdir()) == []
    assert main(["jobs", "show", "handoff:codex/a"], around) == 1


def test_jobs_without_a_daemon(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """On a fresh machine there are no jobs; a queue file that is none is a sentence and exit 1, not a traceback."""
    assert main(["jobs", "list", "--json"], around) == 0
    assert json.loads(capsys.readouterr().out) == {"jobs": []}
    around.places().queue_file.write_bytes(b"foreign" * 50)
    for words in (["list"], ["show", "x"], ["retry", "--dead"], ["discard", "x"]):
        assert main(["jobs", *words], around) == 1
        printed = capsys.readouterr()
        assert (printed.out, "The queue cannot be used" in printed.err) == ("", True)


def test_run_refuses_a_wrong_configuration(
    home: Path, around: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run` with a wrong setting exits 78 with the sentence and makes nothing."""
    assert main(["run", "--set", "queue.workers=none"], around) == 78
    assert "queue.workers" in capsys.readouterr().err
    assert list(home.iterdir()) == []
