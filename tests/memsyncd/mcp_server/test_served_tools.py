"""The server as the SDK's own client sees it, in both eras of the protocol."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from memsyncd.mcp_server.search_tool import Found, Question
from memsyncd.mcp_server.tool import ToolFailed
from memsyncd.version import __version__
from tests.memsyncd.mcp_server.served import MODES, PROJECT, Mode, Served, text

NAMES = [
    "search_memories",
    "memory_remember",
    "memory_recall",
    "memory_forget",
    "memory_search",
    "memory_list_namespaces",
    "memory_clear_namespace",
    "memory_stats",
    "memory_queue_status",
]
KEY_SHAPED = "sk-ant-" + "api03-" + "Zq8" * 12


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.close()


@pytest.mark.parametrize("mode", MODES)
def test_nine_tools_are_listed_in_a_fixed_order(served: Served, mode: Mode) -> None:
    """CONTRACT's nine, with titles, strict schemas and no word about what they are not."""
    listed = served.ask(lambda client: client.list_tools(), mode).tools
    assert [tool.name for tool in listed] == NAMES
    for tool in listed:
        assert tool.title
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert all(schema["description"] for schema in tool.input_schema["properties"].values())


HINTS = {
    "search_memories": (True, False, True, True),
    "memory_remember": (False, False, True, False),
    "memory_recall": (True, False, True, False),
    "memory_forget": (False, True, True, False),
    "memory_search": (True, False, True, False),
    "memory_list_namespaces": (True, False, True, False),
    "memory_clear_namespace": (False, True, True, False),
    "memory_stats": (True, False, True, False),
    "memory_queue_status": (True, False, True, False),
}
"""Read-only, destructive, idempotent, open to the world."""


def test_hints_say_what_a_tool_does(served: Served) -> None:
    """Only the search may leave the machine; only forgetting and clearing destroy (section 6, facts 13.4)."""
    listed = {tool.name: tool.annotations for tool in served.ask(lambda client: client.list_tools()).tools}
    assert {
        name: (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        for name, hints in listed.items()
    } == HINTS


@pytest.mark.parametrize("mode", MODES)
def test_the_server_tells_its_name_its_version_and_what_it_is_for(served: Served, mode: Mode) -> None:
    """The version has one source (facts 13.2)."""

    async def look(client: Client) -> tuple[Any, Any, Any]:
        return client.server_info, client.instructions, client.protocol_version

    info, instructions, version = served.ask(look, mode)
    assert (info.name, info.version) == ("memsyncd", __version__)
    assert "search_memories" in instructions
    assert version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]


@pytest.mark.parametrize("mode", MODES)
def test_notes_are_remembered_recalled_found_listed_counted_and_forgotten(served: Served, mode: Mode) -> None:
    """The seven tools do over the protocol what they do in the process."""

    async def all_of_it(client: Client) -> list[Any]:
        said = [
            await client.call_tool("memory_remember", {"key": "deploy", "value": "make ship", "namespace": "shop"}),
            await client.call_tool("memory_recall", {"key": "deploy", "namespace": "shop", "format": "json"}),
            await client.call_tool("memory_search", {"query": "ship", "format": "json"}),
            await client.call_tool("memory_list_namespaces", {"format": "json"}),
            await client.call_tool("memory_stats", {"format": "json"}),
            await client.call_tool("memory_forget", {"key": "deploy", "namespace": "shop"}),
            await client.call_tool("memory_clear_namespace", {"namespace": "shop", "format": "json"}),
        ]
        assert [each.is_error for each in said] == [False] * 7
        return [text(each) for each in said]

    remembered, recalled, found, listed, stats, forgot, cleared = served.ask(all_of_it, mode)
    assert 'Remembered "deploy"' in remembered
    assert json.loads(recalled)["value"] == "make ship"
    assert [hit["key"] for hit in json.loads(found)["results"]] == ["deploy"]
    assert [each["namespace"] for each in json.loads(listed)["namespaces"]] == ["shop"]
    assert json.loads(stats)["total_entries"] == 1
    assert "Forgot" in forgot
    assert json.loads(cleared)["deleted_count"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_remember", {"key": "k"}, "needs value"),
        ("memory_remember", {"key": "k", "value": 5}, "value must be text, not a number"),
        ("memory_remember", {"key": "k", "value": "v", "ttl_seconds": 0}, "ttl_seconds must be from 1"),
        ("memory_remember", {"key": "k", "valeu": "v"}, "did you mean value?"),
        ("memory_recall", {"key": "gone"}, "There is no note"),
        ("memory_recall", {"key": "k", "format": "xml"}, "markdown or json"),
        ("memory_search", {"query": "x", "limit": "ten"}, "limit must be a whole number, not text"),
        ("memory_queue_status", {"verbose": True}, "no argument"),
        ("search_memories", {}, "needs query"),
        ("search_memories", {"query": "q", "zeta": 1, "alpha": 2}, '"alpha"'),
        ("search_memories", {"query": " "}, "must not be blank"),
        ("search_memories", {"query": "q" * 2001}, "2,001 characters, more than 2,000"),
        ("search_memories", {"query": ["q"]}, "query must be text"),
        ("search_memories", {"query": "q", "top_k": 0}, "whole number from 1 to 20"),
        ("search_memories", {"query": "q", "top_k": 21}, "whole number from 1 to 20"),
        ("search_memories", {"query": "q", "top_k": True}, 'whole number from 1 to 20, not "true"'),
        ("search_memories", {"query": "q", "top_k": 2.5}, "whole number from 1 to 20"),
        ("search_memories", {"query": "q", "category": "gossip"}, "category must be one of project_knowledge"),
        ("search_memories", {"query": "q", "scope": "everything"}, "scope must be one of repo, dir, mine"),
        ("search_memories", {"query": "q", "run_id": "  "}, "run_id must be"),
        ("search_memories", {"query": "q", "run_id": "r" * 201}, "run_id must be"),
        ("search_memories", {"query": "q", "run_id": "\uff0a"}, "one session's id and no wildcard"),
        ("memory_rember", {"key": "k"}, "Did you mean memory_remember?"),
        ("search", {"query": "q"}, "There are search_memories, memory_remember"),
    ],
)
def test_a_wrong_call_is_a_tool_error_that_says_what_is_right(
    served: Served, name: str, arguments: dict[str, Any], told: str
) -> None:
    """A model can mend its call only if it is told how (facts 13.5, 13.6)."""
    result = served.call(name, arguments)
    assert result.is_error
    assert result.structured_content is None
    assert told in text(result)


def test_a_search_reaches_the_platform_as_it_was_asked(served: Served) -> None:
    """What was left open stays open, for the settings to decide; the project is the client's, not an argument."""
    asked: list[Question] = []

    def search(question: Question) -> Found:
        asked.append(question)
        return Found((), "mem0")

    served.search = search
    assert text(served.call("search_memories", {"query": "how to ship"})) == "No matching memories found."
    everything = {"query": "x", "top_k": 5.0, "category": "results", "scope": "dir", "run_id": "s-1"}
    assert not served.call("search_memories", everything).is_error
    assert asked == [
        Question("how to ship", PROJECT),
        Question("x", PROJECT, top_k=5, category="results", scope="dir", run_id="s-1"),
    ]


def test_a_secret_does_not_leave_in_a_question_nor_get_into_a_note(served: Served) -> None:
    """Secrets are taken out on the way in (never-again 71), and the answer says so."""
    asked: list[Question] = []

    def search(question: Question) -> Found:
        asked.append(question)
        return Found((), "mem0")

    served.search = search
    served.call("search_memories", {"query": f"what is {KEY_SHAPED} for"})
    assert KEY_SHAPED not in asked[0].query
    assert "what is" in asked[0].query
    said = served.call("memory_remember", {"key": "token", "value": f"it is {KEY_SHAPED}"})
    assert "secret" in text(said)
    assert KEY_SHAPED not in text(served.call("memory_recall", {"key": "token"}))
    assert KEY_SHAPED.encode() not in (served.directory / "memory.sqlite3").read_bytes()


@pytest.mark.parametrize("mode", MODES)
def test_a_search_that_failed_is_an_error_with_its_reason(served: Served, mode: Mode) -> None:
    """It is never an empty success (facts 13.7 is what not to do)."""

    def search(_: Question) -> Found:
        raise ToolFailed("The daemon is not running. Start it with `memsyncd run`.")

    served.search = search
    result = served.call("search_memories", {"query": "q"}, mode)
    assert result.is_error
    assert text(result).startswith("Memory search failed. The daemon is not running.")


def test_what_is_held_is_refused_and_what_only_forgets_is_not(served: Served) -> None:
    """Pause and exclusion hold for telling and for storing; forgetting, figures and the queue's state stay."""
    served.call("memory_remember", {"key": "k", "value": "v"})
    served.hold = lambda project: "its project is excluded" if project == PROJECT else None
    refused = {
        name
        for name, arguments in {
            "search_memories": {"query": "q"},
            "memory_remember": {"key": "k2", "value": "v"},
            "memory_recall": {"key": "k"},
            "memory_search": {"query": "v"},
            "memory_list_namespaces": {},
            "memory_stats": {},
            "memory_queue_status": {},
            "memory_forget": {"key": "k"},
            "memory_clear_namespace": {"namespace": "default"},
        }.items()
        if "its project is excluded" in text(served.call(name, arguments))
    }
    assert refused == {"search_memories", "memory_remember", "memory_recall", "memory_search", "memory_list_namespaces"}


def test_the_workspace_a_client_names_is_the_project(served: Served, tmp_path: Path) -> None:
    """A client that serves several projects says with each call which one it is about (facts 13.8)."""
    asked: list[Question] = []

    def search(question: Question) -> Found:
        asked.append(question)
        return Found((), "local")

    served.search = search
    meta = {"x-codex-turn-metadata": {"workspaces": {str(tmp_path): {}}}}
    served.ask(lambda client: client.call_tool("search_memories", {"query": "q"}, meta=meta))
    assert asked[0].project == str(tmp_path)


def test_a_fault_of_ours_is_told_without_its_words(served: Served) -> None:
    """An unforeseen error may hold anything: the model learns its kind, standard error where it came up."""

    def search(_: Question) -> Found:
        raise KeyError("password=hunter2")

    served.search = search
    result = served.call("search_memories", {"query": "q"})
    assert result.is_error
    assert "failed within memsyncd (KeyError)" in text(result)
    assert "hunter2" not in text(result) + "".join(served.reported)
    assert served.reported[0].startswith("search_memories: KeyError at test_served_tools.py:")


def test_a_call_that_hangs_is_given_up_and_others_go_on(served: Served) -> None:
    """One hung disk or daemon costs one answer (never-again 131)."""
    released = threading.Event()

    def search(_: Question) -> Found:
        released.wait()
        return Found((), "local")

    served.search, served.deadline = search, 2.0

    async def both(client: Client) -> tuple[Any, Any]:
        late = await client.call_tool("search_memories", {"query": "q"})
        return late, await client.call_tool("memory_queue_status", {})

    try:
        late, prompt = served.ask(both)
    finally:
        released.set()
    assert late.is_error
    assert "longer than 2 s" in text(late)
    assert not prompt.is_error


def test_the_listing_has_one_page(served: Served) -> None:
    """A cursor that nobody gave is an error, not the first page again."""

    async def second_page(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.list_tools(cursor="2")
        return str(refused.value)

    assert "leave out the cursor" in served.ask(second_page)
