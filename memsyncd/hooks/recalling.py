"""The recall of a hook: asks the daemon for a context, and prints it in the harness's own form, or nothing at all.

Done after the handoff is safely in the spool, and over by its deadline whatever the daemon does. HTTP is written by
hand: `http.client` costs three times a bare start. It runs from Python 3.9 on and imports only built-in modules
(`drop.py`).
"""

import _json
import _socket
import posix
import select
import sys
import time

from memsyncd.hooks import context_output, envelope, socket_place, standard_input

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOTAL_SECONDS = 2.0
"""From the end of the input: writing the handoff, asking and printing together (issue: 2 s in all)."""

MAX_BODY = 900_000
"""Bytes; the status socket takes a million with its head. Nobody's first prompt is as long."""

MAX_ANSWER = 1_000_000
CHUNK = 65_536
LOOK_SECONDS = 0.1
"""How often a wait looks whether a signal has come: the harness is impatient, and nobody waits for an answer then."""

SILENT = b"/unanswered"
"""A file beside the nudge: since when a daemon is there and let a question go unanswered. The daemon removes it as soon
as it moves (`daemon.intake.nudge`)."""

SILENT_SECONDS = 60.0
"""For so long nobody asks again, for each prompt would wait TOTAL_SECONDS."""

LOCAL_PEERCRED, PEERCRED_BYTES, DARWIN_PEERCRED_BYTES = 1, 12, 76
"""unix(7)'s ucred: pid, uid, gid; on macOS <sys/ucred.h>'s xucred: version, uid, and more."""


class _Form:
    """What the C scanner asks of its owner (`json` costs 90 % of a bare start)."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant: object = float


class _NoAnswerError(Exception):
    """There is no answer, or none of ours, or none in time."""


class _LateError(_NoAnswerError):
    """The deadline came first."""


def recall(
    event: "tuple[str, str]", handoff: "Sequence[bytes]", data: bytes, deadline: float, *, is_whole_home: bool
) -> None:
    """Ask about a written `handoff` of an `event` (harness, action), and print what there is to tell.

    `deadline` is monotonic seconds. Nothing is printed on any trouble, and none is raised.
    """
    harness, action = event
    try:
        if sum(map(len, handoff)) > MAX_BODY:
            return
        if _is_silent(data):
            return
        path = socket_place.socket_path(data, posix.environ, sys.platform, is_whole_home=is_whole_home)
        if not envelope.is_there(path):
            path = socket_place.told_path(data)
        try:
            answer = _ask(path, b"".join(handoff), deadline)
        except _LateError:
            _note_silence(data)
            return
        context = answer.get("context")
        if isinstance(context, str):
            _print(context_output.output(context, harness, action), deadline)
    except (OSError, ValueError, StopIteration, KeyError, RecursionError, SystemError, _NoAnswerError):
        pass  # it is down, slow, paused, another's, or of another version: `doctor` tells


def _is_silent(data: bytes) -> bool:
    try:
        since = posix.stat(data + SILENT, follow_symlinks=False).st_mtime
    except OSError:
        return False
    return 0.0 <= time.time() - since < SILENT_SECONDS


def _note_silence(data: bytes) -> None:
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
    descriptor = posix.open(data + SILENT, flags, 0o600)
    try:
        posix.utime(descriptor)
    finally:
        posix.close(descriptor)


def _ask(path: bytes, body: bytes, deadline: float) -> "Mapping[str, object]":
    """Return the JSON object the daemon answers. Raises OSError, ValueError and others where there is none."""
    if not socket_place.is_ours(path):
        raise _NoAnswerError
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        connection.connect(path)  # at once, or not at all: on a Unix socket there is no waiting but for a full queue
        if _peer(connection) not in (posix.geteuid(), socket_place.ROOT):  # who listens where a manager does for us
            raise _NoAnswerError
        until = time.time() + max(0.0, deadline - time.monotonic())
        head = f"POST /recall?until={until:.3f} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        rest = memoryview(head.encode("ascii") + body)
        while rest:
            _wait(deadline, writable=connection.fileno())
            rest = rest[connection.send(rest) :]
        return _document(_read(connection, deadline))
    finally:
        connection.close()


def _read(connection: "_socket.socket", deadline: float) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while size <= MAX_ANSWER:
        _wait(deadline, readable=connection.fileno())
        chunk = connection.recv(CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    raise _NoAnswerError


def _document(response: bytes) -> "Mapping[str, object]":
    """Return a response's JSON object; raises ValueError or another of `recall`'s where it is no whole 200 of ours."""
    head, _, body = response.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = b"content-length: %d" % len(body)
    if not lines[0].startswith(b"http/1.1 200") or b"memsyncd-protocol: 1" not in lines or length not in lines:
        raise _NoAnswerError
    document, _end = _json.make_scanner(_Form)(body.decode("utf-8"), 0)  # type: ignore[arg-type]
    if not isinstance(document, dict):
        raise _NoAnswerError
    return document


def _print(text: bytes, deadline: float) -> None:
    """Write to standard output; one that takes nothing in time gets nothing, for half a context is none.

    What a harness reads from is a pipe or a socket that takes these few kilobytes at once.
    """
    rest = memoryview(text)
    while rest:
        _wait(deadline, writable=1)
        rest = rest[posix.write(1, rest) :]


def _wait(deadline: float, *, readable: int = -1, writable: int = -1) -> None:
    """Wait until one of both is ready. Raises _LateError at the deadline, _NoAnswerError where a signal has come."""
    readers, writers = [[file] if file >= 0 else [] for file in (readable, writable)]
    while not standard_input.stopped:
        left = deadline - time.monotonic()
        if left <= 0:
            raise _LateError
        if any(select.select(readers, writers, [], min(left, LOOK_SECONDS))):
            return
    raise _NoAnswerError


def _peer(connection: "_socket.socket") -> int:
    """Return the user at the other end, by the kernel's word; -1 where it cannot be known."""
    if sys.platform == "darwin":
        told = connection.getsockopt(0, LOCAL_PEERCRED, DARWIN_PEERCRED_BYTES)
    else:
        told = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, PEERCRED_BYTES)
    return int.from_bytes(told[4:8], sys.byteorder)
