"""A hook's standard input: any bytes become one handoff, whose own keys none of them can touch."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.intake.document import handoff_from
from memsyncd.hooks import dropping, envelope, error_log, odd_input, standard_input
from memsyncd.hooks.adapters import records_for, understood
from tests.fuzz import planted, seeds
from tests.fuzz.target import BREAK, Target, TryOne
from tests.memsyncd.hooks import payloads

SIZING = getattr(fcntl, "F_SETPIPE_SZ", 0)
PIPE_BYTES = 1 << 18
LONGEST = 1 << 16 if SIZING else 1 << 13
"""Where a pipe cannot be made larger, an input has to fit into it as it is."""

NAME = "0011223344556677-1a-deadbeef"
NOW = 1_800_000_000_000_000_000


class _Hook:
    """Reads what stands before the break on descriptor 0, as `dropping` does, and takes what follows it for the words
    of the command line."""

    def __init__(self) -> None:
        self._input = os.dup(0)

    def close(self) -> None:
        os.dup2(self._input, 0)
        os.close(self._input)

    def try_one(self, content: bytes) -> None:
        content, _, line = content.partition(BREAK)
        content = planted.into(content)
        oddities: list[BaseException] = []
        words = [word.decode("utf-8", "surrogateescape") for word in line.split(b"\0")] if line else []
        action, harness, reason, home = dropping.arguments(words or ["user-prompt", "--harness", "codex"], oddities)
        dropping.os_bytes(home)
        event = envelope.Event(NOW, action, harness, reason)
        raw, size = self._read(content, oddities)
        assert (raw, size) == (content, len(content)), "what came is not what was read"
        document = raw.strip(standard_input.SPACE_BYTES)
        extra = ""
        is_plain = standard_input.is_plain(document)
        if not is_plain:
            document, extra = odd_input.document(raw, size, oddities)
        head = envelope.head(event, NAME, ', "cwd": "/w"' + extra)
        handoff = handoff_from(head.encode("ascii") + document + b"}\n", stem="other")
        told = (handoff.id, handoff.action, handoff.harness, handoff.reason, handoff.cwd)
        assert told == (NAME, action, harness, reason, "/w"), f"a key of ours was touched: {told!r}"
        assert handoff.process is None and not handoff.wait_for_inflight and handoff.delay_seconds == 0
        assert set(handoff.extra) <= {"raw", "repaired"}, f"a key came in: {handoff.extra.keys()!r}"
        assert not (is_plain and handoff.extra)
        records_for(understood(handoff, harness), harness)
        for oddity in oddities:
            line_of_log = error_log.line(event, oddity).decode("ascii")
            assert line_of_log.count("\n") == 1
            planted.assert_absent(line_of_log)

    def _read(self, content: bytes, oddities: list[BaseException]) -> tuple[bytes, int]:
        reader, writer = os.pipe()
        if SIZING:
            fcntl.fcntl(writer, SIZING, PIPE_BYTES)
        os.dup2(reader, 0)
        os.close(reader)
        os.write(writer, content)
        os.close(writer)
        return standard_input.read(oddities)


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    hook = _Hook()
    try:
        yield hook.try_one
    finally:
        hook.close()


def inputs() -> Iterator[bytes]:
    """Yield payloads, raw, in other encodings, torn, and with words of a command line."""
    for number, recorded in enumerate(payloads.recorded()):
        text = recorded.text.strip()
        yield text.encode()
        if number % 9 == 0:
            yield text.encode("utf-16")
            yield text.encode("utf-16-be")
            yield b"\xef\xbb\xbf" + text.encode() + b"\r\n"
            yield text.encode()[: len(text) // 2]
            yield seeds.line(seeds.with_secret(recorded.hook_input))
            yield text.encode() + BREAK + b"stop\0--harness=kimi\0--reason\0session-end\0--home=/h"
    yield b'{"a": "\\ud800", "b": NaN, "c": 1e999}'
    yield b"{}{}"
    yield b'{"hook_input": {}}, "id": "x"'
    yield b"[" * 2_000


WORDS = tuple(b'{"hook_input": {}} , "id": "harness" \\ud83d\\ude00 \\ud800 NaN --harness --reason --home'.split())
TARGET = Target("hook_input", opened, inputs, WORDS, share=6, longest=LONGEST)
