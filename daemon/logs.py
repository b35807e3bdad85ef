"""The daemon's log: one line an event on standard error, JSON unless that is a terminal.

What is logged is decided here and not by who logs: a text passes only under a known key, redacted, on one line and
cut; numbers pass under any. Repeats of one failure are counted, not printed.
"""

import logging
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO

if "structlog" not in sys.modules and "rich" not in sys.modules:
    # structlog loads rich where it is installed, for tracebacks we never print: 5 MB of the daemon's 55
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        del sys.modules["rich"]
else:
    import structlog

from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters

MAX_CHARS = 500
"""Of one value."""

REPEAT_SECONDS = 60.0
"""How long a failure that was printed is only counted when it comes again."""

MAX_REMEMBERED = 256
"""Failures remembered at once; the oldest is forgotten first, which prints one line too many at worst."""

WITHHELD = "[withheld]"

TEXT_KEYS = frozenset(
    {
        "action", "batch", "clean", "code", "destination", "directory", "error", "event", "event_id", "file", "from",
        "handoff", "harness", "job", "kind", "lane", "level", "library", "logger", "message", "method", "name",
        "outcome", "packet", "path", "phase", "platform", "problem", "reason", "route", "run_id", "session", "setting",
        "signal", "spool", "state", "step", "thread", "timestamp", "to", "url", "version", "where", "why",
    }
)  # fmt: skip
"""Keys under which a text is logged. None of them holds a prompt, an answer, a memory, a command or a key."""

_FRAMES = 3

_Event = MutableMapping[str, Any]


def setup(
    level: str,
    log_format: str,
    *,
    stream: TextIO,
    clock: Clock | None = None,
    counters: Counters | None = None,
    redact: Callable[[str], str] | None = None,
) -> None:
    """Set up structlog, and the standard library's logging below it, for this process.

    `level` and `log_format` are settings' `log.level` and `log.format`. Counters: `log_lines_repeated`,
    `log_lines_lost` (a stream that takes none).
    """
    guard = Guard(redact or _memsyncd_redact())
    clock, counters = clock or Clock(), counters or Counters()
    is_readable = log_format == "text" or (log_format == "auto" and stream.isatty())
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            _exception,
            Repeats(clock, counters),
            guard,
            _Timestamp(clock),
            _text_renderer(stream) if is_readable else _json_renderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=lambda *_: _Writer(stream, counters),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _FromLibraries)]:
        root.removeHandler(handler)
    root.addHandler(_FromLibraries(logging.WARNING))
    root.setLevel(logging.WARNING)
    for name in ("httpx", "httpcore", "huey", "watchfiles", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _memsyncd_redact() -> Callable[[str], str]:
    from memsyncd.redaction import redact  # noqa: PLC0415  (its patterns, only where lines are written)

    return redact


class Guard:
    """Lets through numbers, and texts under known keys: redacted, on one line, cut to MAX_CHARS."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    def __call__(self, _: Any, __: str, event: _Event) -> _Event:
        """Replace what must not be logged (a structlog processor)."""
        return {key: self._value(key, value) for key, value in event.items()}

    def _value(self, key: str, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if key not in TEXT_KEYS:
            return WITHHELD
        # cut before redaction too, so that a line costs no more than a line
        text = self._redact(str(value)[: 4 * MAX_CHARS])
        if not text.isprintable():
            text = "".join(letter if letter.isprintable() else " " for letter in text)
        return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


class Repeats:
    """Drops a line whose event, error, job and attempt were printed within a minute; the next one printed says how
    many were not. Only lines that have an `error` repeat: one line per attempt is always printed."""

    def __init__(self, clock: Clock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters
        self._lock = threading.Lock()
        self._printed: OrderedDict[tuple[str, ...], tuple[float, int]] = OrderedDict()

    def __call__(self, _: Any, __: str, event: _Event) -> _Event:
        """Count or pass an event (a structlog processor)."""
        if not event.get("error"):
            return event
        key = tuple(str(event.get(name, ""))[:MAX_CHARS] for name in ("event", "error", "job", "attempt", "attempts"))
        now = self._clock.monotonic()
        with self._lock:
            printed_at, repeats = self._printed.get(key, (None, 0))
            if printed_at is not None and now - printed_at < REPEAT_SECONDS:
                self._printed[key] = (printed_at, repeats + 1)
                self._counters.add("log_lines_repeated")
                raise structlog.DropEvent
            self._printed[key] = (now, 0)
            self._printed.move_to_end(key)
            if len(self._printed) > MAX_REMEMBERED:
                self._printed.popitem(last=False)
        if repeats:
            event["repeats"] = repeats
        return event


def _exception(_: Any, __: str, event: _Event) -> _Event:
    """Tell an exception by its type and where it was raised; its message may hold anybody's text."""
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event.setdefault("error", type(error).__name__)
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        event.setdefault("where", " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames)))
    return event


class _Timestamp:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, _: Any, __: str, event: _Event) -> _Event:
        first = {
            "timestamp": rfc3339(self._clock.wall()),
            "level": event.pop("level", ""),
            "event": event.pop("event", ""),
        }
        return {**first, **event}


def _json_renderer() -> Callable[[Any, str, _Event], str]:
    import msgspec  # noqa: PLC0415  (the daemon has it loaded for its settings)

    def render(_: Any, __: str, event: Mapping[str, Any]) -> str:
        return msgspec.json.encode(event).decode()

    return render


def _text_renderer(stream: TextIO) -> structlog.typing.Processor:
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)


class _Writer:
    """Writes whole lines; a stream that takes none is counted and stops nothing."""

    def __init__(self, stream: TextIO, counters: Counters) -> None:
        self._stream = stream
        self._counters = counters

    def msg(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self._counters.add("log_lines_lost")

    log = debug = info = warning = warn = error = critical = exception = fatal = msg


class _FromLibraries(logging.Handler):
    """Passes on what other libraries log: its first line, for the rest may be a traceback with anybody's text."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        first_line = message.partition("\n")[0]
        logger = structlog.get_logger()
        logger.log(record.levelno, "library", library=record.name, message=first_line, exc_info=record.exc_info)
