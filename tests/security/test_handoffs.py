"""What a handoff may do whose every word is chosen by somebody else: name a harness, a session, a project, a file."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks.dropping import arguments
from tests.daemon.intake.ingesting import Ingesting
from tests.security.hostile import ESCAPES, LINES, NAME, SHELL

PATHS = (
    "../../../../tmp/out",
    "/etc/cron.d/x",
    "..",
    ".",
    "a/b",
    "a\0b",
    "~/.ssh/authorized_keys",
    "-rf",
    NAME,
    LINES,
    "x" * 100_000,
)


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path / "home")
    yield made
    made.close()


def outside(at: Ingesting) -> set[str]:
    """Return what lies beside the home, and the spools in it."""
    beside = {str(path) for path in at.root.parent.iterdir()}
    return beside | {str(path.relative_to(at.root)) for path in (at.root / "spools").iterdir()}


@pytest.mark.parametrize("text", PATHS, ids=range(len(PATHS)))
def test_a_harness_a_session_or_an_id_that_is_a_path_is_only_a_text(at: Ingesting, text: str) -> None:
    """Nothing is made, moved or deleted under it; the events are kept, and what they are called is bounded."""
    before = outside(at)
    at.drop("user-prompt", prompt="one", envelope={"harness": text})
    at.drop("user-prompt", prompt="two", session=text)
    at.drop("user-prompt", prompt="three", envelope={"id": text})
    at.drop("user-prompt", prompt="four", cwd=text)
    at.drop(text, prompt="five")
    at.drop("flush", envelope={"reason": text, "harness": text}, session=text)
    at.scan()
    assert outside(at) == before
    assert {"one", "two", "three", "four"} <= set(at.texts())
    assert at.set_aside("dead") == {} and at.set_aside("corrupt") == {}
    with closing(sqlite3.connect(at.spool.evidence)) as connection:
        rows = connection.execute(
            "SELECT session_id, kind, harness, handoff_id, repo_id, app_id FROM events"
        ).fetchall()
    assert all(len(cell or "") < 5_000 for row in rows for cell in row)
    assert all(len(cell or "") <= 220 for row in rows for cell in row[:4])
    assert all(len(job.id) < 600 and len(json.dumps(job.payload)) < 2_000 for job in at.jobs())


def test_two_long_ids_are_two_handoffs(at: Ingesting) -> None:
    """An id that is too long to be one is read as absent, and not cut to what another has as well."""
    for end in "ab":
        at.drop("user-prompt", prompt=end, envelope={"id": "x" * 300 + end})
    at.scan()
    assert at.texts() == ["a", "b"]


@pytest.mark.parametrize(
    "name", ["../../x", "/etc", ".", "..", "", "-x", "A", "a b", "a/b", "ä", "x" * 41, f"a{SHELL}", "a\nb"]
)
def test_a_hook_s_harness_is_a_directory_s_plain_name_or_generic(name: str) -> None:
    """It is on the command line, and names the spool that is written to."""
    oddities: list[BaseException] = []
    _, harness, _, _ = arguments(["stop", "--harness", name], oddities)
    assert harness == "generic"
    assert oddities


def test_a_home_on_the_command_line_has_to_be_absolute() -> None:
    """A relative one would lie in the project."""
    assert arguments(["stop", "--harness", "codex", "--home", "../x"], [])[3] == ""
    assert arguments(["stop", "--harness", "codex", "--home", "/x"], [])[3] == "/x"


ODD: tuple[Any, ...] = (
    {"tool_name": NAME, "tool_input": {"file_path": f"/w/shop/{NAME}", "command": SHELL}, "tool_response": ESCAPES},
    {"tool_name": "Write", "tool_input": {"file_path": "/w/shop/../../etc/passwd", "content": "x"}},
    {"tool_name": "Write", "tool_input": {"file_path": LINES, "content": "x"}},
    {"tool_name": "Bash", "tool_input": {"command": "x" * 5_000_000}, "tool_response": {"stdout": "y" * 5_000_000}},
    {"tool_name": "Bash", "tool_input": {"command": "\n" * 2_000_000}, "tool_response": "< " * 1_000_000},
    {"tool_name": ["a"], "tool_input": [[]], "tool_response": {"a": [{}] * 100_000}},
    {key: {"a": "b"} for key in ("tool_name", "tool_input", "tool_response", "tool_use_id", "agent_id", "error")},
    {f"key{number}": "v" * 1_000 for number in range(5_000)},
)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("hook_input", ODD, ids=range(len(ODD)))
def test_a_tool_s_words_are_kept_within_bounds(at: Ingesting, hook_input: dict[str, Any]) -> None:
    """A file's name, a command and an output of any size and kind: one event of some kilobytes, and no file touched."""
    before = outside(at)
    at.drop("post-tool", **hook_input)
    assert at.scan() == 1
    assert outside(at) == before
    with closing(sqlite3.connect(at.spool.evidence)) as connection:
        [(size,)] = connection.execute("SELECT length(payload_json) FROM events").fetchall()
    assert size < 200_000


@pytest.mark.no_cover  # ten thousand times the same lines
def test_a_flood_is_taken_in_piece_by_piece(at: Ingesting) -> None:
    """Ten thousand of them: batches of a hundred, nothing left, and what is remembered of them stays small."""
    for number in range(10_000):
        at.put(
            f"{number:06}",
            json.dumps(
                {
                    "action": "post-tool",
                    "hook_input": {"session_id": f"s{number}", "tool_name": "Read", "tool_use_id": f"t{number}"},
                }
            ).encode(),
        )
    assert at.scan() == 10_000
    assert at.pending() == []
    assert len(at.events()) == 10_000


def test_bytes_that_are_no_handoff_are_kept_and_bounded_by_the_disk_alone(at: Ingesting) -> None:
    """Each waits out its grace and goes aside whole, and none stops the next good one."""
    for number in range(300):
        at.put(f"x{number:06}", hashlib.sha256(bytes([number % 256])).digest())
    at.prompt("the good one")
    at.scan()
    assert at.texts() == ["the good one"]
    at.hands.move(31.0)
    at.scan()
    assert len(at.set_aside("corrupt")) == 300
    assert at.pending() == []
