"""What a malicious transcript, or a handoff that names a file that is none, may do."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsyncd.transcripts.lines import MAX_LINE
from memsyncd.transcripts.reader import Reader
from memsyncd.transcripts.sources import SOURCES
from tests.end_to_end.conftest import Home

NOBODY = 65534
MARK = "walrus" + "lantern"
"""In each file that must not be read as a transcript; put together, so that this file holds it nowhere."""

LINES = [
    {"type": "user", "uuid": "u", "message": {"role": "user", "content": MARK}},
    {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": MARK, "stop_reason": "end_turn"}},
]


def _transcript(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def _outside(home: Home) -> str:
    outside = home.root.with_name(f"{home.root.name}-other")
    return str(_transcript(outside / "t.jsonl"))


def _another_users(home: Home) -> str:
    path = _transcript(home.root / "theirs.jsonl")
    os.chown(path, NOBODY, NOBODY)
    return str(path)


def _link(home: Home) -> str:
    (home.root / "link.jsonl").symlink_to(_outside(home))
    return str(home.root / "link.jsonl")


def _link_above(home: Home) -> str:
    (home.root / "way").symlink_to(Path(_outside(home)).parent)
    return str(home.root / "way" / "t.jsonl")


def _pipe(home: Home) -> str:
    os.mkfifo(home.root / "pipe.jsonl")
    return str(home.root / "pipe.jsonl")


def _settings(home: Home) -> str:
    """Make a file of the user's own that is no transcript: nothing in it is a line of one."""
    path = home.root / ".aws" / "credentials"
    path.parent.mkdir()
    path.write_text(f"[default]\naws_secret_access_key = {MARK}\n" + json.dumps({"token": MARK}) + "\n")
    return str(path)


NAMED: dict[str, Callable[[Home], str]] = {
    "the shadow file": lambda _: "/etc/shadow",
    "a device without an end": lambda _: "/dev/zero",
    "a device that waits": lambda _: "/dev/tty",
    "the kernel's view of the daemon": lambda _: "/proc/self/environ",
    "a file outside the home": _outside,
    "a way out of the home": lambda home: f"{home.root}/../{Path(_outside(home)).relative_to(home.root.parent)}",
    "a link out of the home": _link,
    "a directory that is a link out of the home": _link_above,
    "a pipe": _pipe,
    "a directory": lambda home: str(home.root),
    "a NUL": lambda home: f"{home.root}/a\0b",
    "an endless name": lambda home: str(home.root) + "/a" * 100_000,
    "a secret of the user's own": _settings,
    **({"another user's file": _another_users} if os.geteuid() == 0 else {}),
}


def _recorded(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.places.data.rglob("*") if path.is_file())


def test_a_handoff_that_names_what_is_no_transcript_is_recorded_without_it(home: Home) -> None:
    """None of it is waited for, none of it is kept anywhere, and all the same the session goes its way."""
    home.start()
    try:
        for number, name in enumerate(NAMED.values()):
            session = f"s{number}"
            path = name(home)
            common = {"session_id": session, "cwd": str(home.project), "prompt_id": session}
            home.hook("user-prompt", {**common, "prompt": f"What of number {number}?"})
            home.hook("stop", {**common, "transcript_path": path})
            home.hook("flush", {**common, "transcript_path": path}, reason="session-end")
        home.until_quiet()
        home.until(lambda: home.counted("handoffs_recorded") >= 2 * len(NAMED), "not recorded")
    finally:
        shutil.rmtree(home.root.with_name(f"{home.root.name}-other"), ignore_errors=True)
    assert MARK.encode() not in _recorded(home)
    assert b"root:" not in _recorded(home)


def test_a_line_without_an_end_is_passed_over_in_little_memory() -> None:
    """It is never held whole, and the line after it is read."""
    reader = Reader(SOURCES["claude-code"].steps_of)
    piece = b"x" * (256 * 1024)
    for _ in range(4 * MAX_LINE // len(piece)):
        reader.feed(piece)
    assert reader.is_torn
    reader.feed(b"\n" + json.dumps(LINES[0]).encode() + b"\n")
    assert [turn.text for turn in reader.turns] == [MARK]
    assert reader.lines_passed_over == 1


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"user","message":' * 50_000,
        b"\xff\x00",
        b"NaN",
        b'{"a":1e999}',
        b'{"a":"\\ud800"}',
        b'{"a":' + b"9" * 10_000 + b"}",
    ],
)
def test_a_line_of_any_json_costs_no_neighbour(line: bytes) -> None:
    """Nested without end, no text, no number: it is passed over."""
    reader = Reader(SOURCES["claude-code"].steps_of)
    reader.feed(line + b"\n" + json.dumps(LINES[0]).encode() + b"\n")
    assert [turn.text for turn in reader.turns] == [MARK]


def _any_line(chance: random.Random, number: int) -> dict[str, Any]:
    """Return a line of any harness's form, that names, repeats, branches from or takes back earlier ones."""
    earlier = f"u{chance.randrange(number + 1)}"
    text = {"content": "x", "message": "x", "input": "x"}
    return chance.choice(
        [
            {"type": "user", "uuid": f"u{number}", "parentUuid": earlier, "message": {"role": "user", "content": "x"}},
            {"type": "assistant", "uuid": f"u{number}", "parentUuid": earlier, "message": {"id": earlier, "content": "x"}},
            {"type": "gemini", "id": earlier, **text},
            {"type": "user", "id": earlier, **text},
            {"$rewindTo": earlier if number % 50 == 0 else "none"} if number % 7 == 0 else {"type": "user", **text},
            {"type": "context.undo", "count": chance.choice([0, 1, -1, 10**9])},
            {"type": "turn.prompt", "input": "x"},
            {"type": "context.append_loop_event", "event": {"type": "content.part", "turnId": earlier, "step": 1, "part": {"type": "text", "text": "x"}}},
            {"type": "user.message", "id": earlier, "data": text},
            {"type": "assistant.message", "data": {**text, "messageId": earlier}},
            {"type": "event_msg", "payload": {"type": "agent_message", "message": "x"}},
            {"type": "USER_INPUT", "source": "USER_EXPLICIT", "step_index": chance.randrange(number + 1), **text},
            {"role": "assistant", "id": earlier, **text},
        ]
    )  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_lines_that_name_earlier_ones_cost_no_more_than_others(name: str) -> None:
    """Ten thousand turns that branch, repeat and take back are read in seconds."""
    chance = random.Random(7)
    content = b"".join(json.dumps(_any_line(chance, number)).encode() + b"\n" for number in range(30_000))
    reader = Reader(SOURCES[name].steps_of)
    begun = time.thread_time()
    reader.feed(content)
    assert len(reader.exchanges) <= 30_000 and reader.lines_passed_over == 0
    assert time.thread_time() - begun < 15.0
