"""docs/mcp.md is true: its configurations parse, its tools are those that are listed, its examples answer as it says."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memsyncd
from memsyncd.mcp_server.note_tools import note_tools
from memsyncd.mcp_server.queue_tool import QueueState, queue_tool
from memsyncd.mcp_server.search_tool import Found, search_tool
from memsyncd.mcp_server.tools import Tools
from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from memsyncd.platforms.platform import Memory
from tests.clocks import HandClock

PAGE = (Path(memsyncd.__file__).parents[1] / "docs" / "mcp.md").read_text("utf-8")
_EXAMPLE = re.compile(r"^```json\n(\{\"name\".*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) ?\| ", re.MULTILINE)

MEMORIES = (
    Memory("m-1", "Deploys go out with make ship from a clean checkout", metadata={"branch": "main"}),
    Memory("m-2", "The staging queue has to be drained first", metadata={"branch": "feat/queue"}),
)
REFUSED = "mem0 at https://api.mem0.ai refuses the key"
STATUS = {
    "state": "degraded",
    "summary": f"{REFUSED}; 2 jobs wait.",
    "jobs": {"waiting": 2},
    "problems": [
        {
            "code": "key-refused",
            "message": REFUSED,
            "remedy": "Write a valid key into the file named by platform.api_key_file.",
        }
    ],
}
WAITING = (
    {
        "id": "flush:claude-code:98e2ed89dcd6acee7154c083070c61f8",
        "kind": "flush",
        "reason": "its destination is parked",
    },
)


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    store = NoteStore(tmp_path / "memory.sqlite3", HandClock().clock())
    listed = [
        search_tool(lambda _: Found(MEMORIES, "mem0"), budget=4_000),
        *note_tools(NoteTools(store)),
        queue_tool(lambda: QueueState(STATUS, WAITING)),
    ]
    yield Tools(listed, hold=lambda _: None, report=pytest.fail)
    store.close()


def test_the_examples_answer_as_the_page_says(tools: Tools) -> None:
    """One after the other, as they stand there."""
    examples = [(json.loads(call), answer) for call, answer in _EXAMPLE.findall(PAGE)]
    assert len(examples) == 5
    for call, answer in examples:
        assert tools.call(call["name"], call["arguments"], "/srv/shop").text + "\n" == answer


def test_the_table_has_every_tool_and_argument(tools: Tools) -> None:
    """In the order in which they are listed."""
    told = [(name, arguments) for name, arguments in _ROW.findall(PAGE) if name != "tool"]
    listed = [
        (
            each.tool.name,
            ", ".join(f"`{argument.name}`{'*' if argument.required else ''}" for argument in each.tool.arguments),
        )
        for each in tools.listed
    ]
    assert told == listed


@pytest.mark.parametrize("block", re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
def test_a_configuration_is_json(block: str) -> None:
    """What is to be copied can be read."""
    assert json.loads(block)


def test_the_configuration_for_codex_is_toml() -> None:
    """What is to be copied can be read."""
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    server: dict[str, Any] = tomllib.loads(block)["mcp_servers"]["memsyncd"]
    assert server["args"] == ["mcp"]
