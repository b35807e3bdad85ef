"""The log: what passes, what does not, and what is only counted."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from daemon import logs
from memsyncd.clock import Clock
from memsyncd.counters import Counters

SECRET = "sk-" + "x" * 20


class Terminal(io.StringIO):
    """A terminal, as far as the log can tell."""

    def isatty(self) -> bool:
        return True


class Log:
    """A log in memory at a time of its own."""

    def __init__(self, level: str = "debug", log_format: str = "json", stream: io.StringIO | None = None) -> None:
        self.now = 1000.0
        self.counters = Counters()
        self.stream = stream or io.StringIO()
        logs.setup(
            level,
            log_format,
            stream=self.stream,
            clock=Clock(wall=lambda: self.now, monotonic=lambda: self.now),
            counters=self.counters,
            redact=lambda text: text.replace(SECRET, "[redacted]"),
        )
        self.logger: Any = structlog.get_logger()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    levels = {name: logging.getLogger(name).level for name in ("httpx", "httpcore", "huey", "watchfiles", "asyncio")}
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


def test_a_line_is_json_with_time_level_and_event_first() -> None:
    """Journals and log shippers read it without a rule of their own."""
    log = Log()
    log.logger.info("ready", run_id="r1", spools=3, clean=True, age=None)
    (line,) = log.stream.getvalue().splitlines()
    assert list(json.loads(line).items()) == [
        ("timestamp", "1970-01-01T00:16:40.000Z"), ("level", "info"), ("event", "ready"),
        ("run_id", "r1"), ("spools", 3), ("clean", True), ("age", None),
    ]  # fmt: skip


def test_a_terminal_gets_lines_for_people_and_auto_knows_it() -> None:
    """Colours on a terminal only."""
    on_terminal = Log(log_format="auto", stream=Terminal())
    on_terminal.logger.info("ready", run_id="r1")
    assert "\x1b[" in on_terminal.stream.getvalue()
    in_file = Log(log_format="text")
    in_file.logger.info("ready", run_id="r1")
    assert "\x1b[" not in in_file.stream.getvalue()
    assert "run_id=r1" in in_file.stream.getvalue()
    elsewhere = Log(log_format="auto")
    elsewhere.logger.info("ready")
    assert elsewhere.lines()[0]["event"] == "ready"


@pytest.mark.parametrize(("level", "kept"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_the_level_is_held(level: str, kept: int) -> None:
    """Four lines, one of each level."""
    log = Log(level)
    for name in ("debug", "info", "warning", "error"):
        getattr(log.logger, name)(name)
    assert len(log.lines()) == kept


def test_a_text_under_an_unknown_key_is_withheld() -> None:
    """Whoever logs a prompt by mistake logs a word; a number can hold no text."""
    log = Log()
    log.logger.info("x", prompt="somebody's words", memories=["a"], tokens=4, job="flush:1")
    line = log.lines()[0]
    assert (line["prompt"], line["memories"], line["tokens"], line["job"]) == (
        logs.WITHHELD,
        logs.WITHHELD,
        4,
        "flush:1",
    )


def test_every_text_is_redacted_bounded_and_on_one_line() -> None:
    """The event itself too; a terminal is not told to clear itself."""
    log = Log()
    event = f"sent {SECRET}"
    log.logger.info(event, why=f"key {SECRET} refused", reason="a\nb\x1b[2Jc", path="p" * 10_000)
    written = log.stream.getvalue()
    line = log.lines()[0]
    assert SECRET not in written
    assert line["why"] == "key [redacted] refused"
    assert line["reason"] == "a b [2Jc"
    assert len(line["path"]) == logs.MAX_CHARS


def test_the_real_redaction_is_used_unless_told_otherwise() -> None:
    """Wired to memsyncd's own, not to a second set of rules."""
    stream = io.StringIO()
    logs.setup("info", "json", stream=stream)
    structlog.get_logger().info("x", why=f"api_key={SECRET}")
    assert SECRET not in stream.getvalue()


def test_repeats_of_a_failure_are_counted_and_told_with_the_next() -> None:
    """A platform that is down for a day writes a line a minute, not a thousand."""
    log = Log()
    for _ in range(10):
        log.logger.warning("cooled", error="offline")
        log.now += 1
    log.logger.warning("cooled", error="busy")
    log.now += 60
    log.logger.warning("cooled", error="offline")
    assert [(line["error"], line.get("repeats")) for line in log.lines()] == [
        ("offline", None),
        ("busy", None),
        ("offline", 9),
    ]
    assert log.counters.snapshot() == {"log_lines_repeated": 9}


def test_every_attempt_of_every_job_has_its_line() -> None:
    """The same failure of another job or attempt is no repeat, nor is a line without a failure."""
    log = Log()
    for job in ("a", "b"):
        for attempt in (1, 2):
            log.logger.info("job", job=job, attempt=attempt, error="Rejected")
    for _ in range(3):
        log.logger.info("stopped")
    assert len(log.lines()) == 7


def test_the_memory_of_repeats_is_bounded() -> None:
    """A thousand different failures are a thousand lines and no growth."""
    counters = Counters()
    repeats = logs.Repeats(Clock(monotonic=lambda: 0.0), counters)
    for number in range(1000):
        repeats(None, "error", {"event": "x", "error": str(number)})
    assert len(repeats._printed) == logs.MAX_REMEMBERED


def test_an_exception_is_told_by_type_and_place() -> None:
    """Its message may quote anybody."""
    log = Log()
    try:
        log.counters.snapshot()["somebody's words"]
    except KeyError:
        log.logger.exception("fault")
    line = log.lines()[0]
    assert (line["event"], line["error"]) == ("fault", "KeyError")
    assert f"{__file__}:" in line["where"]
    assert "words" not in log.stream.getvalue()


def test_what_libraries_log_comes_through_the_same_guard() -> None:
    """From WARNING on, the first line, redacted; setting up twice does not double it."""
    log = Log()
    log = Log()
    root = logging.getLogger()  # without pytest's own handlers, which fail on a record that cannot be formatted
    root.handlers[:] = [handler for handler in root.handlers if isinstance(handler, logs._FromLibraries)]
    library = logging.getLogger("httpx")
    library.info("HTTP Request: POST")
    library.warning("key %s\nTraceback: somebody's words", SECRET)
    logging.getLogger("huey").warning("%d jobs", "no number")
    try:
        int("somebody's words")
    except ValueError:
        logging.getLogger("watchfiles.main").exception("error in thread")
    told = [(line["event"], line["level"], line["library"], line["message"], line.get("error")) for line in log.lines()]
    assert told == [
        ("library", "warning", "httpx", "key [redacted]", None),
        ("library", "warning", "huey", "%d jobs", None),
        ("library", "error", "watchfiles.main", "error in thread", "ValueError"),
    ]
    assert "words" not in log.stream.getvalue()


def test_a_stream_that_is_gone_stops_nothing() -> None:
    """A closed terminal or a full disk costs lines, and they are counted."""
    log = Log()
    log.stream.close()
    log.logger.error("x")
    assert log.counters.snapshot() == {"log_lines_lost": 1}


def test_rich_is_not_loaded_for_the_daemons_log() -> None:
    """It is installed for the commands, and would cost the daemon 5 MB; a command can still load it afterwards."""
    code = (
        "import io, sys, daemon.logs\n"
        "daemon.logs.setup('info', 'text', stream=io.StringIO(), redact=str)\n"
        "import structlog; structlog.get_logger().info('x')\n"
        "assert 'rich' not in sys.modules\n"
        "import rich.console\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
