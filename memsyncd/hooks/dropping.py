"""One drop from beginning to end: read, write, nudge, recall, and a line about whatever was swallowed.

How long it can live: one second without input, 590 s of input that never ends, then 10 s for the disk and 2 s to
say so. A recall, which only the two events it is for load, is over 2 s after the end of the input. SIGTERM, SIGINT and
SIGHUP end the reading and the recall, never the writing: what was read is kept. A process stuck in an uninterruptible
disk call cannot end itself; nothing but the disk frees it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` costs 60 % of a bare start, for its enums
import posix
import sys
import time

from memsyncd.hooks import envelope, spool, standard_input

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Sequence

RECALLED = frozenset({"user-prompt", "subagent-start"})
"""Events at which a context may be printed."""

DISK_SECONDS = 10
"""Writing a handoff takes a millisecond or two; a disk that needs ten seconds is stuck."""

LAST_SECONDS = 2
MAX_WORD = 100
MAX_HARNESS = 40
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class HarnessNameError(ValueError):
    """The harness's name cannot be a directory's; `generic` stands for it."""


def run(words: list[str]) -> None:
    """Do what `drop.main` promises."""
    event = envelope.Event(time.time_ns(), "unknown", "generic", "")
    data = b""
    oddities: list[BaseException] = []
    try:
        _outlive_the_harness()
        event.action, event.harness, event.reason, home = arguments(words, oddities)
        data = os_bytes(home) if home else spool.data_directory(posix.environ, sys.platform)
        written, read_at = _drop(event, data, oddities)
        if written and event.action in RECALLED:
            _recall(event, written, data, read_at, is_whole_home=bool(home or posix.environ.get(b"MEMSYNCD_HOME")))
        standard_input.drain()
    except BaseException as error:  # noqa: BLE001  (a hook never hurts the agent: DESIGN, promise 7)
        oddities.append(error)
    for oddity in oddities:
        from memsyncd.hooks import error_log  # noqa: PLC0415  (only when something is odd)

        error_log.append(data, posix.environ, event, oddity)
    _signal.alarm(0)


def os_bytes(path: str) -> bytes:
    """Return a path from the command line as the bytes it was."""
    return path.encode("utf-8", "surrogateescape")


def arguments(words: list[str], oddities: list[BaseException]) -> tuple[str, str, str, str]:
    """Return (action, harness, reason, home) from the command line's words; wrong use never fails.

    No action is `unknown`; a missing harness, or one that could not be a directory's name, is `generic`. A home that
    is not absolute counts as none.
    """
    rest = list(words)
    found = {"--harness": "", "--reason": "", "--home": ""}
    action = ""
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in found:
            found[option] = value if equals or not rest else rest.pop(0)
        else:
            action = action or word
    harness = found["--harness"]
    if not 0 < len(harness) <= MAX_HARNESS or harness[0] == "-" or not NAME_CHARACTERS.issuperset(harness):
        oddities.append(HarnessNameError())
        harness = "generic"
    home = found["--home"] if found["--home"][:1] == "/" else ""
    return plain(action)[:MAX_WORD] or "unknown", harness, plain(found["--reason"])[:MAX_WORD], home


def plain(word: str) -> str:
    """Return a word as text that can be written: bytes that were no UTF-8 are replaced."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _drop(event: envelope.Event, data: bytes, oddities: list[BaseException]) -> "tuple[Sequence[bytes], float]":
    """Leave the handoff; return its parts, none while capture is paused, and when the input had been read."""
    around = envelope.surroundings(event.harness)
    raw, size = standard_input.read(oddities)
    read_at = time.monotonic()
    _limit_the_disk()
    umask = posix.umask(0o077)
    try:
        pending = spool.open_pending(data, event.harness)
        if pending < 0:
            return (), read_at
        document = raw.strip(standard_input.SPACE_BYTES)
        extra = ""
        if size > len(raw) or not standard_input.is_plain(document):
            from memsyncd.hooks import odd_input  # noqa: PLC0415  (only when something is odd)

            document, extra = odd_input.document(raw, size, oddities)
        name = f"{event.now:016x}-{posix.getpid():x}-{posix.urandom(4).hex()}"
        head = envelope.head(event, name, around + extra)
        parts = (head.encode("ascii"), document, b"}\n")
        spool.write(pending, name, parts, oddities)
    finally:
        posix.umask(umask)
    spool.nudge(data)
    return parts, read_at


def _recall(
    event: envelope.Event, handoff: "Sequence[bytes]", data: bytes, read_at: float, *, is_whole_home: bool
) -> None:
    """Print what the daemon has to tell about the event, where the harness takes it."""
    from memsyncd.hooks import context_output  # noqa: PLC0415  (only for the events that may print)

    names = (event.harness, event.action)
    if context_output.takes_context(*names):
        from memsyncd.hooks import recalling  # noqa: PLC0415  (only where it is wanted)

        recalling.recall(names, handoff, data, read_at + recalling.TOTAL_SECONDS, is_whole_home=is_whole_home)


def _outlive_the_harness() -> None:
    """See to it that a closing terminal or an impatient harness loses nothing."""

    def stop(_number: int, _frame: object) -> None:
        standard_input.stopped = True

    for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, stop)


def _limit_the_disk() -> None:
    """Bound the rest of this process's life, so that a stalled disk does not pile hooks up (never-again 32)."""

    def give_up(_number: int, _frame: object) -> None:
        _signal.signal(_signal.SIGALRM, lambda _number, _frame: posix._exit(0))  # noqa: SLF001  (`os._exit`)
        _signal.alarm(LAST_SECONDS)
        raise TimeoutError

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.alarm(DISK_SECONDS)
