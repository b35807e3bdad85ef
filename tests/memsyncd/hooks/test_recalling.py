"""The hook's question to the daemon: against daemons that are down, hung, half, foreign or talkative."""

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PROMPT = {"session_id": "s1", "cwd": "/w", "prompt": "Which port does staging use?"}
WORDS = ("user-prompt", "--harness", "claude-code")
CONTEXT = 'Known:\n1. "6543" \u00e4\U0001f600.'
LIMIT = 2.0
ENDED = LIMIT + 20.0
"""Seconds in which a hook that waits no longer than LIMIT has started and ended, however busy the machine; what it asks
waits much longer."""


def response(document: object = None, *, protocol: str = "1", status: int = 200) -> bytes:
    body = json.dumps({"context": CONTEXT, "memories": []} if document is None else document).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Memsyncd-Protocol: {protocol}\r\nConnection: close\r\n\r\n".encode() + body


class Daemon:
    """Listens where a home's daemon does, and treats each connection as a test says."""

    def __init__(self, home: Path) -> None:
        self.path = home / "run" / "status.sock"
        self.path.parent.mkdir(parents=True, mode=0o700)
        home.chmod(0o700)
        self.questions: list[bytes] = []
        self.treat: Callable[[socket.socket], None] = lambda connection: connection.sendall(response())
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.path.chmod(0o600)
        self.listener.listen(1)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def answer(self, data: bytes) -> None:
        self.treat = lambda connection: connection.sendall(data)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)
        self.listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(60)
                with contextlib.suppress(OSError):
                    self.questions.append(_question(connection))
                    self.treat(connection)


def _question(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError
    return data


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a home whose socket's path is short."""
    root = Path(tempfile.mkdtemp(prefix="r-", dir="/tmp"))
    yield root / "m"
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def daemon(short: Path, drop: Any) -> Iterator[Daemon]:
    drop.home = short
    made = Daemon(short)
    yield made
    made.close()


def run(drop: Any, *words: str, payload: object = None, **options: Any) -> tuple[bytes, float]:
    """Run a hook; return what it printed and how long it took. It exits 0 and says nothing on standard error."""
    began = time.monotonic()
    process = drop.start(*(words or WORDS), **options)
    printed, complaint = process.communicate(json.dumps(PROMPT if payload is None else payload).encode(), timeout=60)
    assert (process.returncode, complaint) == (0, b"")
    return printed, time.monotonic() - began


def test_the_context_is_printed_in_the_harness_s_form(every: Any, daemon: Daemon) -> None:
    """Under every interpreter; the question is the handoff as it lies in the spool, with how long the hook waits."""
    printed, _ = run(every)
    specific = json.loads(printed)["hookSpecificOutput"]
    assert specific == {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}
    [question] = daemon.questions
    head, _, body = question.partition(b"\r\n\r\n")
    assert body == every.files()[0].read_bytes()
    until = float(head.split(b"until=")[1].split(b" ")[0])
    assert head.startswith(b"POST /recall?until=") and -ENDED < until - time.time() < LIMIT
    assert every.log() == []


def test_a_home_on_the_command_line_is_where_it_asks(drop: Any, daemon: Daemon, tmp_path: Path) -> None:
    """`--home` goes before the environment's, for the socket as for the spool."""
    home = drop.home
    drop.home = tmp_path / "other"
    assert run(drop, *WORDS, "--home", str(home))[0]


@pytest.mark.parametrize("words", [("stop",), ("session-start",), ("post-tool",), ("flush",), ("pre-tool",)])
def test_other_events_ask_nothing(drop: Any, daemon: Daemon, words: tuple[str, ...]) -> None:
    """Only a prompt and a subagent's start may print."""
    assert run(drop, *words, "--harness", "claude-code")[0] == b""
    assert run(drop, "user-prompt", "--harness", "windsurf")[0] == b""
    assert daemon.questions == []
    assert len(drop.files()) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        response()[:-3],
        response() + b"more",
        response(protocol="2"),
        response().replace(b"Memsyncd-Protocol: 1\r\n", b""),
        response(status=500),
        response(status=404),
        response([CONTEXT]),
        response("text"),
        response({"context": 7}),
        response({"context": ""}),
        response({}),
        response().replace(b'{"context"', b'{"conte\xff\xff'),
        response().replace(b"Known", b"Kn\\qn"),
        b"\x00" * 100_000,
        response({"context": CONTEXT, "more": "x" * 1_100_000}),
    ],
    ids=range(17),
)
def test_what_is_no_answer_of_ours_prints_nothing(drop: Any, daemon: Daemon, answer: bytes) -> None:
    """Half an answer, one of another version, an error, too long a one: nothing, and no time is lost."""
    daemon.answer(answer)
    assert run(drop)[0] == b""
    assert len(drop.files()) == 1
    assert drop.log() == []


@pytest.mark.parametrize("how", ["silent", "dripping"])
def test_a_hung_daemon_costs_the_limit_and_no_more(drop: Any, daemon: Daemon, how: str) -> None:
    """One that takes the question and says nothing, and one that never ends."""
    go_on = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(response()[:40])
        while not go_on.wait(0.05):
            connection.sendall(b" ")

    daemon.treat = {"silent": lambda _: go_on.wait(60), "dripping": drip}[how]
    printed, took = run(drop)
    go_on.set()
    assert printed == b"" and LIMIT - 0.2 < took < ENDED
    assert len(drop.files()) == 1


def test_a_daemon_that_did_not_answer_is_not_asked_again_for_a_while(every: Any, daemon: Daemon) -> None:
    """Under every interpreter; the handoffs are left all the same. What is over, or of a clock since set back, is
    none; and the daemon ends it by removing the note."""
    go_on = threading.Event()
    answering, daemon.treat = daemon.treat, lambda _: go_on.wait(60)
    assert run(every)[1] > LIMIT - 0.2
    go_on.set()
    daemon.treat = answering
    note = every.home / "unanswered"
    assert (note.read_bytes(), note.stat().st_mode & 0o777) == (b"", 0o600)
    assert run(every)[0] == b""
    assert (len(daemon.questions), len(every.files())) == (1, 2)
    for moved in (-61.0, 600.0):
        now = time.time()
        os.utime(note, (now + moved, now + moved))
        assert run(every)[0]
    note.unlink()
    assert run(every)[0]
    assert every.log() == []


def test_who_is_late_with_its_own_reading_is_no_silent_daemon(drop: Any, daemon: Daemon) -> None:
    """An answer of no use, or none because the harness was impatient, says nothing of the daemon."""
    daemon.answer(b"")
    run(drop)
    assert not (drop.home / "unanswered").exists()


@pytest.mark.parametrize("is_full", [False, True])
def test_a_daemon_that_takes_no_connection_costs_no_more(drop: Any, short: Path, is_full: bool) -> None:
    """One that does not even read, and one whose queue of connections is as long as the kernel keeps it."""
    drop.home = short
    (short / "run").mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as waiting:
        listener.bind(str(short / "run" / "status.sock"))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while is_full:
                client = waiting.enter_context(socket.socket(socket.AF_UNIX))
                client.settimeout(0)
                client.connect(str(short / "run" / "status.sock"))
        printed, took = run(drop, payload={**PROMPT, "prompt": "x" * 800_000})
    assert printed == b"" and took < ENDED
    assert is_full or took > LIMIT - 0.2
    assert len(drop.files()) == 1


@pytest.mark.parametrize("there", ["no directory", "nothing", "a dead socket", "a file", "a directory"])
def test_nobody_there_is_no_trouble(drop: Any, short: Path, there: str) -> None:
    """Nothing is printed, nothing is logged, and the handoff lies in its spool."""
    drop.home = short
    path = short / "run" / "status.sock"
    if there != "no directory":
        path.parent.mkdir(parents=True, mode=0o700)
    if there == "a dead socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif there == "a file":
        path.touch()
    elif there == "a directory":
        path.mkdir()
    assert run(drop)[0] == b""
    assert len(drop.files()) == 1
    assert drop.log() == []


def test_a_place_that_others_may_write_is_not_asked(drop: Any, daemon: Daemon) -> None:
    """Somebody else could have put their own socket there, and would read the prompt."""
    daemon.path.parent.chmod(0o777)
    assert run(drop)[0] == b""
    assert daemon.questions == []


def test_while_paused_nothing_is_asked(drop: Any, daemon: Daemon) -> None:
    """The hook only looks."""
    (drop.home / "paused").touch()
    assert run(drop)[0] == b""
    assert daemon.questions == []


def test_too_long_a_prompt_is_recorded_and_not_asked_with(drop: Any, daemon: Daemon) -> None:
    """The socket would refuse it."""
    assert run(drop, payload={**PROMPT, "prompt": "x" * 1_000_000})[0] == b""
    assert daemon.questions == []
    assert len(drop.files()) == 1


def test_a_signal_ends_the_wait_and_loses_nothing(drop: Any, daemon: Daemon) -> None:
    """A harness that has no more patience does not wait out the limit, which would leave a note."""
    go_on, asked = threading.Event(), threading.Event()

    def treat(_: socket.socket) -> None:
        asked.set()
        go_on.wait(60)

    daemon.treat = treat
    process = drop.start(*WORDS)
    process.stdin.write(json.dumps(PROMPT).encode())
    process.stdin.close()
    assert asked.wait(60)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert not (drop.home / "unanswered").exists()
    go_on.set()
    assert process.stdout.read() == b""
    assert len(drop.files()) == 1


@pytest.mark.parametrize("end", ["closed", "full"])
def test_an_output_nobody_reads_is_no_trouble(drop: Any, daemon: Daemon, end: str) -> None:
    """A harness that has closed its end, or lets it fill up, keeps no hook alive."""
    reader, writer = os.pipe()
    if end == "closed":
        os.close(reader)
    else:
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 65536)
        except BlockingIOError:
            os.set_blocking(writer, True)
    began = time.monotonic()
    process = drop.start(*WORDS, stdout=writer)
    os.close(writer)
    process.communicate(json.dumps(PROMPT).encode(), timeout=60)
    assert process.returncode == 0
    assert time.monotonic() - began < ENDED
    if end == "full":
        os.close(reader)


def test_only_a_socket_module_is_loaded_beside(every: Any, daemon: Daemon) -> None:
    """A recall costs no heavy import either."""
    command = every.command(*WORDS)
    command.insert(3, "-Ximporttime")
    process = every.start("-I", "-S", "-Ximporttime", *every.command(*WORDS)[3:], before=["-X", "utf8"])
    printed, told = process.communicate(json.dumps(PROMPT).encode(), timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in told.decode().splitlines()}
    assert printed and "_socket" in loaded
    assert not loaded & {"json", "re", "socket", "http", "http.client", "os", "enum", "hashlib", "typing", "struct"}
