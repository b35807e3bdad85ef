"""Nothing that comes back over the wire counts as success unless it says so."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.clock import Clock
from memsyncd.platforms import answers
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.platform import (
    Accepted,
    Account,
    Batch,
    ExtractionState,
    Message,
    NotUnderstood,
    PlatformError,
    Query,
)
from memsyncd.platforms.transport import HttpSettings

BATCH = Batch(
    "p", 0, [Message("user", "hello")], "ana", "shop", "shop-1", "s", {"memsyncd_packet": "p", "memsyncd_batch": 0}
)


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ({"event_id": "e-1", "status": "PENDING"}, Accepted("e-1")),
        ({"event_id": "e-1", "results": [{"id": "m"}]}, Accepted("e-1")),
        ({"results": [{"event_id": "e-1", "status": "PENDING", "message": "queued"}]}, Accepted("e-1")),
        ({"results": [{"status": "PENDING", "message": "queued"}]}, Accepted("")),
        (
            {"results": [{"id": "m", "event": "ADD"}, {"id": "n", "event": "ADD"}]},
            Accepted("", finished=True, memories=2),
        ),
        ({"results": []}, Accepted("", finished=True)),
        ({"message": "ok"}, Accepted("")),
        ({"event_id": None}, Accepted("")),
        ({}, Accepted("")),
    ],
)
def test_reads_both_shapes_of_an_add(answer: Any, accepted: Accepted) -> None:
    """The event id is found where either form has it; finished work is told from queued work (never-again 105)."""
    assert answers.accepted(answer) == accepted


@pytest.mark.parametrize(
    "answer", [[], ["x"], "ok", 7, True, {"error": "expired"}, {"detail": "x"}, {"results": "x"}, {"results": [1]}]
)
def test_an_unknown_shape_of_an_add_is_not_understood(answer: Any) -> None:
    """Another shape is never success, nor an error in the clothes of an answer (never-again 111)."""
    with pytest.raises(NotUnderstood):
        answers.accepted(answer)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("SUCCEEDED", ExtractionState.SUCCEEDED),
        (" succeeded ", ExtractionState.SUCCEEDED),
        ("FAILED", ExtractionState.FAILED),
        ("PENDING", ExtractionState.PENDING),
        ("RUNNING", ExtractionState.RUNNING),
        ("ENRICHING", ExtractionState.RUNNING),
        ("MISSING", ExtractionState.RUNNING),
        ("", ExtractionState.RUNNING),
    ],
)
def test_a_state_nobody_knows_is_still_running(status: str, state: ExtractionState) -> None:
    """Only the platform's own two words end an extraction (facts 2.25, never-again 107)."""
    assert answers.extraction({"id": "e", "status": status}, "e", str).state is state


@pytest.mark.parametrize("answer", [{}, [], {"status": None}, {"status": 1}, {"id": "other", "status": "SUCCEEDED"}])
def test_what_is_no_event_is_not_understood(answer: Any) -> None:
    """An answer without a status, or about another event, says nothing about this one."""
    with pytest.raises(NotUnderstood):
        answers.extraction(answer, "e", str)


def test_reads_an_event_with_odd_parts() -> None:
    """Results in either nesting are counted, an error of any shape becomes words, metadata comes from both places."""
    event = {
        "id": "e",
        "status": "FAILED",
        "results": {"results": [{"id": "m"}, "odd"]},
        "error": {"message": "model down"},
        "payload": {"metadata": {"a": 1, "b": 1}},
        "metadata": {"b": 2},
        "created_at": 12,
    }
    extraction = answers.extraction(event, "e", str.upper)
    assert (extraction.memories, extraction.error, extraction.created_at) == (1, "MODEL DOWN", "")
    assert extraction.metadata == {"a": 1, "b": 2}
    assert answers.extraction({"status": "SUCCEEDED", "results": None, "metadata": []}, "e", str).memories == 0


def test_reads_the_memories_an_event_tells() -> None:
    """With what the whole event says of them; what was left or deleted, and what has no id or text, is none."""
    event = {
        "id": "e1",
        "status": "SUCCEEDED",
        "created_at": "2026-01-02T00:00:00Z",
        "metadata": {"branch": "main"},
        "results": [
            {"id": "m1", "data": {"memory": "We use pnpm."}, "event": "ADD"},
            {
                "id": "m2",
                "memory": "Deploys on Friday.",
                "agent_id": "a",
                "metadata": {"branch": "x"},
                "event": "UPDATE",
            },
            {"id": "m3", "memory": "old", "event": "DELETE"},
            {"id": "", "memory": "nobody's", "event": "ADD"},
            {"id": "m5", "data": [], "event": "ADD"},
        ],
    }
    told = answers.extraction(event, "e1", str).told
    assert [(memory.id, memory.memory, memory.created_at, memory.metadata) for memory in told] == [
        ("m1", "We use pnpm.", "2026-01-02T00:00:00Z", {"branch": "main"}),
        ("m2", "Deploys on Friday.", "2026-01-02T00:00:00Z", {"agent_id": "a", "branch": "x"}),
    ]


def test_reads_a_listing_leniently() -> None:
    """A bare list is a page; items that are no objects, or have no id or status, are left out."""
    items = [{"id": "e", "status": "RUNNING"}, "odd", {"status": "RUNNING"}, {"id": "f"}, {"id": 3, "status": "FAILED"}]
    for value in (items, {"results": items, "next": None}):
        assert [event.event_id for event in answers.extractions(answers.page(value), str)] == ["e"]
    for odd in ({}, {"results": {}}, "x", None, 4):
        with pytest.raises(NotUnderstood):
            answers.page(odd)


def test_reads_memories_in_the_platforms_order() -> None:
    """Episodes go before the cut, odd items are left out, scores are numbers or nothing (facts 7.12, 7.13, 7.17)."""
    found = [
        {"id": "1", "memory": "episode", "metadata": {"type": "task_episode"}},
        "odd",
        {"id": "2", "memory": "two", "score": True, "categories": ["results", "workflows"]},
        {"id": "3", "memory": None},
        {"memory": "no id"},
        {"id": "4", "memory": "four", "score": 0.25, "metadata": {"category": "results"}, "categories": None},
        {"id": "5", "memory": "five", "score": "high"},
    ]
    memories = answers.memories({"results": found}, top_k=2, category="workflows")
    assert [(one.id, one.category, one.score) for one in memories] == [("2", "workflows", None), ("4", "results", 0.25)]
    assert [one.id for one in answers.memories(found, top_k=9)] == ["2", "4", "5"]
    assert answers.memories([{"id": "6", "memory": "six", "score": 10**400}], top_k=1)[0].score is None


def test_reads_the_account() -> None:
    """A ping names the account; what names none is not understood."""
    assert answers.account({"status": "ok", "user_email": "a@example.org"}) == Account(email="a@example.org")
    for odd in ({}, [], {"hello": "world"}):
        with pytest.raises(NotUnderstood):
            answers.account(odd)


class Key:
    """A key source."""

    def current(self) -> str:
        return "fake-key"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NEAR = st.fixed_dictionaries(
    {},
    optional={
        "event_id": JSON | st.just("e-1"),
        "id": JSON | st.sampled_from(["e-1", "e-2"]),
        "status": JSON | st.sampled_from(["SUCCEEDED", "FAILED", "PENDING", "ok"]),
        "results": JSON
        | st.lists(st.dictionaries(st.sampled_from(["id", "memory", "event_id", "metadata"]), JSON), max_size=2),
        "next": JSON,
        "metadata": JSON,
        "payload": JSON,
        "error": JSON,
        "user_email": JSON,
    },
)
BODY = (
    st.binary()
    | (JSON | NEAR).map(lambda value: json.dumps(value).encode())
    | NEAR.map(lambda v: json.dumps(v).encode()[:-1])
)
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "content-encoding", "retry-after", "location", "date", "x-odd"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
    | st.sampled_from(["text/html", "gzip", "application/json"]),
    max_size=3,
)
STATUS = st.sampled_from([200, 200, 201, 202, 204, 301, 400, 401, 403, 404, 413, 429, 500, 503]) | st.integers(200, 599)


def ask(call: Callable[[Mem0Platform], Any], status: int, headers: dict[str, str], body: bytes) -> Any:
    """Return what `call` makes of one answer, or None where it raised an error of ours."""
    transport = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, stream=httpx.ByteStream(body)))
    platform = Mem0Platform("http://127.0.0.1:1", Key(), HttpSettings(), Clock(), open_connection=lambda _: transport)
    try:
        return call(platform)
    except PlatformError as error:
        assert error.message  # noqa: PT017  (both ends are fine here)
        return None
    finally:
        platform.close()


def value(body: bytes) -> Any:
    """Return the JSON in `body`, read by the standard library."""
    return json.loads(body.decode("utf-8-sig", "replace"), strict=False)


@settings(max_examples=150, deadline=None)
@given(status=STATUS, headers=HEADERS, body=BODY)
def test_no_odd_answer_to_an_add_is_success(status: int, headers: dict[str, str], body: bytes) -> None:
    """Accepted means a 2xx with that event id, or with results, in JSON; anything else raises an error of ours."""
    accepted = ask(lambda platform: platform.add(BATCH), status, headers, body)
    if accepted is not None:
        assert 200 <= status < 300
        document = value(body)
        if accepted.event_id and accepted.event_id != document.get("event_id"):
            assert accepted.event_id in [one.get("event_id") for one in document["results"]]
        assert accepted.finished <= isinstance(document.get("results"), list)


@settings(max_examples=150, deadline=None)
@given(status=STATUS, headers=HEADERS, body=BODY)
def test_no_odd_answer_about_an_event_ends_it(status: int, headers: dict[str, str], body: bytes) -> None:
    """Succeeded and failed stand in the answer itself; missing needs the platform's own 404 or 410."""
    extraction = ask(lambda platform: platform.extraction("e-1"), status, headers, body)
    if extraction is None or not extraction.state.is_terminal:
        return
    if extraction.state is ExtractionState.MISSING:
        assert status in (404, 410)
    else:
        assert 200 <= status < 300
        assert value(body)["status"].strip().upper() == extraction.state


@settings(max_examples=100, deadline=None)
@given(status=STATUS, headers=HEADERS, body=BODY)
def test_every_other_call_gives_a_value_or_an_error_of_ours(status: int, headers: dict[str, str], body: bytes) -> None:
    """Searching, listing, looking, deleting and pinging survive any answer; a delete is only done when a 2xx says so."""
    ask(lambda platform: platform.search(Query("question", "ana", "shop")), status, headers, body)
    ask(lambda platform: list(platform.extractions()), status, headers, body)
    ask(lambda platform: platform.find("p", 0, user_id="ana", app_id="shop"), status, headers, body)
    ask(lambda platform: platform.ping(), status, headers, body)
    deleted = ask(lambda platform: platform.delete("m"), status, headers, body)
    assert deleted is None or (200 <= status < 300 if deleted else status in (404, 410))
