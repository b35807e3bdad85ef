"""Telemetry files: a spool and a claim with any bytes in them. A good line beside them is delivered, the secret never."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.event import TelemetryEvent
from memsyncd.telemetry.posthog import Wire, body
from tests.fuzz import planted
from tests.fuzz.target import BREAK, Target, TryOne
from tests.memsyncd.telemetry.spooling import Spooling, line

GOOD = 4_711
"""The number of the line that stands alone at the end."""

CLAIM = "telemetry-9-deadbeef-a0.sending"


class _Draining:
    """An input's parts: the live file, the name of another one, and what that holds."""

    def __init__(self, directory: Path) -> None:
        self.spooling = Spooling(directory)
        self.spooling.on_post = self._look
        self.texts: list[str] = []

    def _look(self, batch: Sequence[Wire]) -> None:
        sent = body(batch, "key", 1.8e9)
        json.loads(sent)
        planted.assert_absent(sent.decode("ascii"))

    def try_one(self, content: bytes) -> None:
        live, _, rest = planted.into(content).partition(BREAK)
        name, _, parked = rest.partition(BREAK)
        spooling = self.spooling
        spooling.record(live + b"\n" + line(GOOD))
        stem = name.strip().replace(b"/", b"").replace(b"\0", b"").decode("utf-8", "surrogateescape")[:80] or CLAIM
        if stem.strip(".") and stem != "telemetry.jsonl":
            spooling.park(parked, name=stem)
        for each in live.split(b"\n")[:20]:
            event = TelemetryEvent.from_line(each)
            assert event is None or TelemetryEvent.from_line(event.to_line()) is not None
        drained = spooling.run()
        assert not drained.trouble, drained.trouble
        delivered = "000000001268" in "".join(spooling.delivered)
        for path in spooling.directory.iterdir():
            path.unlink()
        spooling.posted.clear()
        spooling.drain.close()
        spooling.drain = Drain(clock=spooling.hands.clock(), counters=spooling.counters)
        assert delivered, "a good line was not delivered"


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    yield _Draining(place).try_one


def inputs() -> Iterator[bytes]:
    """Yield lines of ours and of a plugin, and claims at several attempts."""
    told = {"duration_ms": 12, "outcome": "ok", "prompt": "@PLANTED@ x", "list": [1, None, "a"], "what": "x @PLANTED@"}
    lines = line(1) + line(2, properties=told, distinct_id="ada@example.org") + line(3, event="$create_alias")
    yield lines
    yield BREAK.join((lines, CLAIM.encode(), lines))
    yield BREAK.join((b"", b"telemetry-12-a0a0a0a0-a2.sending", lines[:90]))
    yield BREAK.join((lines.replace(b"\n", b"\r\n"), b"telemetry-1-00000000-a9.sending", b"\n\n"))
    yield BREAK.join((b"[]\n5\n" + lines, b"telemetry-1-00000000-a0.partial", b"x"))


WORDS = (
    *b"event uuid timestamp properties distinct_id code. $create_alias telemetry- -a0 .sending .partial".split(),
    *b".corrupt .rejected -a999999999 0000 1e999 NaN null 2027-01-15T07:00:00.000Z session_id password".split(),
    b"\n",
)
TARGET = Target("telemetry_files", opened, inputs, WORDS)
