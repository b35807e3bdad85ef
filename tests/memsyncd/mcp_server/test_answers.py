"""What the search's and the queue's answers say, as text and as the document that fits their schemas."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from memsyncd.mcp_server import queue_tool, search_tool
from memsyncd.mcp_server.queue_tool import QueueState
from memsyncd.mcp_server.search_tool import Found
from memsyncd.mcp_server.tool import Answer, Call
from memsyncd.platforms.platform import Memory


def searched(*memories: Memory, why: str = "", budget: int = 4_000) -> Answer:
    tool = search_tool.search_tool(lambda _: Found(memories, "mem0", why), budget=budget)
    return checked(tool.answer(Call({"query": "q"})), search_tool.OUTPUT_SCHEMA)


def looked(state: QueueState) -> Answer:
    return checked(queue_tool.queue_tool(lambda: state).answer(Call()), queue_tool.OUTPUT_SCHEMA)


def checked(answer: Answer, schema: Mapping[str, Any]) -> Answer:
    assert not answer.is_error
    jsonschema.validate(answer.structured, dict(schema))
    return answer


def test_found_memories_are_the_bare_numbered_list() -> None:
    """Branches are told, ids, scores and categories are not (facts 13.9); the document has them."""
    answer = searched(
        Memory("m-1", "Ship with\n make ship", "workflows", 0.9, "2026-01-02T03:04:05Z", {"branch": "feat/x"}),
        Memory("m-2", "Ports are below 4000", metadata={"branch": "main"}),
    )
    assert answer.text == "1. Ship with make ship [learnt on branch feat/x]\n2. Ports are below 4000"
    assert answer.structured is not None
    assert answer.structured["memories"] == [
        {
            "id": "m-1",
            "memory": "Ship with make ship",
            "category": "workflows",
            "score": 0.9,
            "created_at": "2026-01-02T03:04:05Z",
            "branch": "feat/x",
        },
        {"id": "m-2", "memory": "Ports are below 4000", "category": "", "score": None, "created_at": "", "branch": ""},
    ]


def test_what_does_not_fit_is_counted() -> None:
    """An answer is bounded, and says how much it left out."""
    answer = searched(*(Memory(f"m-{number}", "word " * 150) for number in range(5)), budget=1_600)
    assert answer.structured is not None
    assert answer.structured["left_out"] == 3
    assert [memory["id"] for memory in answer.structured["memories"]] == ["m-0", "m-1"]
    assert answer.text.endswith("(3 more did not fit: ask more narrowly for those.)")


def test_a_single_memory_that_does_not_fit_is_cut_in_both_forms() -> None:
    """The document is no way around the bound."""
    answer = searched(Memory("m", "x" * 9_000), budget=1_000)
    assert answer.structured is not None
    assert len(answer.text) <= 1_000
    assert len(answer.structured["memories"][0]["memory"]) <= 1_000


def test_half_characters_and_secrets_in_a_memory_stay_out_of_the_answer() -> None:
    """What another program stored is no reason to break the protocol, nor to tell a key."""
    key = "sk-ant-" + "api03-" + "Zq8" * 12
    answer = searched(Memory("m", f"half \ud800 and {key}"))
    answer.text.encode()
    assert key not in answer.text + str(answer.structured)


def test_an_answer_from_elsewhere_says_so() -> None:
    """A platform that is away is not passed over in silence."""
    answer = searched(Memory("m", "Known here"), why="The platform is away: busy")
    assert "The platform is away: busy" in answer.text
    assert answer.structured is not None
    assert answer.structured["why"] == "The platform is away: busy"


def test_the_queue_tells_what_waits_what_failed_and_what_to_do() -> None:
    """All three, in words and as a document; timers of the daemon's own are no work."""
    status = {
        "state": "degraded",
        "summary": "mem0 refuses the key; 3 handoffs wait.",
        "spools": [{"pending": 2, "running": 1}],
        "jobs": {"ready": 1, "waiting": 3, "claimed": 0, "done": 9, "dead": 1},
        "extraction": {"open": 2},
        "evidence": {"unsent_events": 7},
        "problems": [{"code": "key-refused", "message": "mem0 refuses the key", "remedy": "Write a valid key."}],
    }
    waiting = [{"id": "flush:s/1", "kind": "flush", "reason": "its destination cools"}, {"id": "b", "kind": "poll"}]
    failed = [{"id": "flush:s/2", "kind": "flush", "reason": "", "errors": [{"why": "old"}, {"why": "refused (400)"}]}]
    answer = looked(QueueState(status, waiting, failed, timers=1))
    assert answer.text == (
        "degraded: mem0 refuses the key; 3 handoffs wait.\n\n"
        "Waiting: 3 handoffs, 1 jobs ready, 2 jobs waiting, 2 extractions open, 7 events recorded.\n"
        "- flush:s/1: its destination cools\n\n"
        "Failed: 1.\n- flush:s/2: refused (400)\n\n"
        "To do:\n- mem0 refuses the key. Write a valid key."
    )
    assert answer.structured is not None
    assert answer.structured["failed"] == [{"id": "flush:s/2", "kind": "flush", "reason": "refused (400)"}]


def test_a_daemon_that_is_down_is_something_to_do() -> None:
    """The remedy is there though the document has no problem."""
    answer = looked(QueueState({"state": "down", "summary": "The daemon is not running; nothing waits."}))
    assert "The user starts it with `memsyncd run`" in answer.text


@pytest.mark.parametrize("status", [{}, {"state": 7, "spools": [{}], "problems": [{}]}, {"jobs": {"ready": "many"}}])
def test_a_document_of_another_version_is_told_as_far_as_it_goes(status: dict[str, Any]) -> None:
    """Keys that are missing or odd cost no answer."""
    assert looked(QueueState(status)).text.startswith("unknown: ")


def test_many_failures_are_named_in_part_and_counted_in_full() -> None:
    """A queue that is full of dead letters does not flood the model."""
    answer = looked(QueueState({"state": "ok"}, failed=[{"id": f"flush:{n}", "reason": "no"} for n in range(50)]))
    assert answer.structured is not None
    assert answer.structured["failed_count"] == 50
    assert len(answer.structured["failed"]) == 20
    assert "- and 30 more: `memsyncd jobs list`" in answer.text
