"""The live screen as text at several sizes: what stays when there is less room, and that it always fits."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from daemon.cli.loads import Sample, by_minute, duration, last_hour, short, under_way
from daemon.cli.watch_view import Footer, Row, keys, screen
from tests.daemon.cli.test_status_view import DOCUMENT, NOW

WELL = DOCUMENT | {
    "state": "ok",
    "summary": "Nothing waits; packets since the start: 12 delivered.",
    "problems": [],
    "paused_projects": [{"root": "/w/tool", "until": "2027-01-15T09:00:00.000Z"}],
    "forgetting": 1,
}

HOUR: list[Sample | None] = [None] * 20 + [
    {"pending": round(20 + 20 * math.sin(minute / 6)), "delivered": minute % 5, "delivery_seconds": minute % 7 / 4}
    for minute in range(40)
]

AT_80_24 = """\
✖ degraded: The platform at https://platform.test refuses the key; 2 handoffs
  and 3 jobs wait.

platform    mem0 at https://platform.test: failing, last answer 3 h ago, next t…
jobs        3 ready, 0 waiting, 0 running, 1,234 done, 1 given up; oldest ready…
extraction  1 batch open, oldest 3 s

waiting                         ▁▂▄▅▅▇▇██████▇▆▅▄▃▂▁                  ▁▂ 40
24 now                          ████████████████████▇▆▅▄▃▃▂▁▁▁▂▂▃▄▄▆▇███
delivered                         ▁▅█  ▁▅█  ▁▅█  ▁▅█  ▁▅█  ▁▅█  ▁▅█  ▁▅█ 4
80/h                            ▁▅███▁▅███▁▅███▁▅███▁▅███▁▅███▁▅███▁▅███
latency                            ▁▃▆█   ▁▃▆█   ▁▃▆█   ▁▃▆█   ▁▃▆█   ▁▃ 1.5 s
1.0 s                           ▁▄▆████▁▄▆████▁▄▆████▁▄▆████▁▄▆████▁▄▆██
            60 min ago                                               now

spool           waiting   in work  given up   corrupt    oldest
claude-code           2         1         0         0     3 min
codex                 0         0         0         0         -

✖ The platform refuses the key. First seen 10 min ago.
  → Write a valid key; see `memsyncd config show`.
◐ 1 job was given up.
  → `memsyncd jobs list --state dead`.
q quit  p pause  f flush  r retry                                       12:00:01"""

AT_60_16 = """\
● ok: Nothing waits; packets since the start: 12 delivered.

platform    mem0 at https://platform.test: failing, last an…
jobs        3 ready, 0 waiting, 0 running, 1,234 done, 1 gi…
paused      /w/tool (ends in 60 min)

waiting               ▆▇█████▇▇▆▄▃▂▂▁▂▃▃▅▆ 24 now
delivered             ▂▆▅▄█▂▆▅▄█▂▆▅▄█▂▆▅▄█ 80/h
latency               ▃▅▇█▄▆█▃▅▇█▄▆█▃▅▇█▄▆ 1.0 s
            60 min ago                 now

claude-code: 2 waiting, 1 in work, 0 given up, 0 corrupt
codex: 0 waiting, 0 in work, 0 given up, 0 corrupt


q quit  p pause  f flush  r retry                   12:00:01"""

AT_40_12 = """\
✖ degraded: The platform at
  https://platform.test refuses the key;
  2 handoffs and 3 jobs wait.
waiting           ▅▇████▇▅▃▂▂▃▄▆ 24 now
delivered         ▁▆▅█▄▇▆▅█▄▇▆▅█ 80/h
latency           ▁▅█▄▇█▆█▅█▄▇█▆ 1.0 s

✖ The platform refuses the key. First
  seen 10 min ago.
  → Write a valid key; see `memsyncd…
… and 1 more: `memsyncd status`
q quit  p pause  f flush  r retry"""

AT_24_5 = """\
● ok: Nothing waits;…

platform    mem0 at htt…
jobs        3 ready, 0 …
q quit  p pause  f flush"""


def text(rows: Sequence[Row]) -> list[str]:
    return ["".join(piece.text for piece in row) for row in rows]


def drawn(document: dict[str, Any], width: int, height: int, message: str = "") -> list[str]:
    footer = Footer(keys(document, is_asking=False), message, "12:00:01")
    return text(screen(document, HOUR, footer, width=width, height=height, now=NOW))


@pytest.mark.parametrize(
    ("document", "width", "height", "golden"),
    [(DOCUMENT, 80, 24, AT_80_24), (WELL, 60, 16, AT_60_16), (DOCUMENT, 40, 12, AT_40_12), (WELL, 24, 5, AT_24_5)],
)
def test_golden_screens(document: dict[str, Any], width: int, height: int, golden: str) -> None:
    """The recorded hour gives exactly these screens."""
    assert "\n".join(line.rstrip() for line in drawn(document, width, height)) == golden


@pytest.mark.parametrize("width", [1, 5, 19, 29, 30, 39, 40, 64, 79, 80, 81, 133, 250])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 8, 11, 24, 41, 90])
def test_every_screen_is_filled_and_no_more(width: int, height: int) -> None:
    """Whatever the window: so many rows, none wider, the sentence or the keys among them."""
    many = DOCUMENT | {"problems": DOCUMENT["problems"] * 4, "spools": DOCUMENT["spools"] * 20}
    for document in (DOCUMENT, WELL, many, {}, {"state": "of-tomorrow", "problems": [{}], "spools": [{}]}):
        for message in ("", "Everything is paused until `memsyncd resume`."):
            rows = drawn(document, width, height, message)
            assert len(rows) == height
            assert max(len(row) for row in rows) <= width


def test_what_a_key_has_brought_is_seen() -> None:
    """It stands over the keys, or on a small window in their place."""
    assert drawn(WELL, 60, 16, "Delivered.")[-2:] == ["Delivered.", drawn(WELL, 60, 16)[-1]]
    assert drawn(WELL, 60, 5, "Delivered.")[-1] == "Delivered."


def test_problems_beyond_the_room_are_counted() -> None:
    """As many as fit are shown whole, and the rest by their number."""
    many = DOCUMENT | {"problems": [DOCUMENT["problems"][1] | {"message": f"Number {number}."} for number in range(30)]}
    told = drawn(many, 80, 24)
    shown = sum("Number" in line for line in told)
    assert f"… and {30 - shown} more: `memsyncd status`" in told


def test_the_keys_say_what_they_do_now() -> None:
    """What is paused can be resumed, and a question is answered first."""
    assert ("p", "resume") in keys({"paused": True}, is_asking=False)
    assert ("p", "pause") in keys({}, is_asking=False)
    assert keys({}, is_asking=True)[0] == ("y", "yes")


def test_nothing_steers_the_terminal() -> None:
    """Escape sequences in a sentence, a problem or a path come out as spaces."""
    evil = "a\x1b[2Jb\nc\x07"
    document = DOCUMENT | {
        "summary": evil, "paused_projects": [{"root": evil}], "problems": [{"message": evil, "remedy": evil}],
        "spools": [{"harness": evil}], "platform": {"kind": evil},
    }  # fmt: skip
    assert all(line.isprintable() for line in drawn(document, 80, 40, evil))


def test_the_hour_is_a_sample_a_minute() -> None:
    """Samples find their minutes, gaps stay gaps, and what is older or no sample is left out."""
    known = by_minute([{"at": "2027-01-15T07:59:00.000Z", "pending": 1}, {"at": "2027-01-15T06:59:00Z"}, {}, {"at": 5}])
    hour = last_hour(known, NOW)
    assert len(hour) == 60
    assert hour[-2] == {"at": "2027-01-15T07:59:00.000Z", "pending": 1}
    assert hour[-1] is None and hour[0] is None


def test_the_minute_under_way_tells_what_rose() -> None:
    """Counters since its begin; never a negative number, as after a restart; what is no number is none."""
    document = {"backlog": 4, "counters": {"packets_delivered": 7, "recalls": 1, "handoffs_recorded": "many"}}
    sample = under_way(document, {"packets_delivered": 5, "recalls": 3})
    assert (sample["pending"], sample["delivered"], sample["recalls"], sample["taken"]) == (4, 2, 0, 0)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (950, "950"), (9_500, "9,500"), (12_345, "12k"), (3_400_000, "3M")]
)
def test_counts_are_short(number: float, text: str) -> None:
    """No count takes more than five characters."""
    assert short(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0"), (0.0004, "1 ms"), (0.035, "35 ms"), (1.24, "1.2 s"), (12.9, "12 s"), (200, "3 min")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    """From milliseconds to minutes, in as few characters as can be understood."""
    assert duration(seconds) == text
