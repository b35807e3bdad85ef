"""The hosted platform's requests, to the byte."""

import json
from dataclasses import replace

import httpx
import pytest

from memsyncd.platforms import instructions, mem0_requests
from memsyncd.platforms.platform import Batch, Message, Query, Rejected

BATCH = Batch(
    packet_id="p",
    number=2,
    messages=[Message("user", "question"), Message("assistant", "answer")],
    user_id="ana",
    app_id="shop",
    agent_id="shop-1a2b",
    run_id="session-1",
    metadata={"memsyncd_packet": "p", "memsyncd_batch": 2, "branch": "main"},
)
QUERY = Query("where is it", user_id="ana", app_id="shop", agent_ids=["a1"])
PERSONAL = {"AND": [{"user_id": "ana"}, {"app_id": "shop"}]}
SHARED = {"AND": [{"agent_id": "a1"}, {"app_id": "shop"}]}


def test_an_add_carries_what_the_facts_name() -> None:
    """The body has exactly the keys of facts 2.30, with the session as run id and the five categories of 2.36."""
    body = mem0_requests.add(BATCH)
    assert body["messages"] == [{"role": "user", "content": "question"}, {"role": "assistant", "content": "answer"}]
    assert (body["user_id"], body["app_id"], body["agent_id"], body["run_id"]) == (
        "ana",
        "shop",
        "shop-1a2b",
        "session-1",
    )
    assert body["metadata"] == dict(BATCH.metadata)
    assert body["infer"] is True
    assert body["custom_instructions"] == instructions.PERSONAL
    assert body["agent_custom_instructions"] == instructions.SHARED
    assert [list(category) for category in body["custom_categories"]] == [
        ["project_knowledge"],
        ["decisions_and_constraints"],
        ["workflows"],
        ["problems_and_fixes"],
        ["results"],
    ]
    assert len(body) == 10


def test_the_same_batch_is_the_same_bytes() -> None:
    """A retry sends what the first try sent, whatever order its metadata was put together in."""
    other = replace(BATCH, metadata=dict(reversed(BATCH.metadata.items())))
    assert mem0_requests.encode(mem0_requests.add(BATCH)) == mem0_requests.encode(mem0_requests.add(other))


def test_text_that_no_utf8_can_carry_still_goes_out() -> None:
    """A half surrogate in a transcript becomes a question mark instead of a batch that can never be sent."""
    encoded = mem0_requests.encode({"messages": ["caf\u00e9 \ud83d end"]})
    assert json.loads(encoded) == {"messages": ["caf\u00e9 ? end"]}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes"])
def test_what_json_cannot_say_is_refused_here(value: object) -> None:
    """A body that is no JSON is a refusal of that item, not a crash of its worker."""
    with pytest.raises(Rejected):
        mem0_requests.encode({"metadata": value})


@pytest.mark.parametrize("field", ["user_id", "app_id", "agent_id", "run_id"])
def test_no_wildcard_is_ever_written(field: str) -> None:
    """An identity with a star in it would reach other people's memories (facts 2.15)."""
    with pytest.raises(Rejected, match="wildcard"):
        mem0_requests.add(replace(BATCH, **{field: "*"}))


def test_a_batch_needs_an_owner_and_words() -> None:
    """Without user, app or messages there is nothing to send; agent and run are left out where there is none."""
    for broken in (replace(BATCH, user_id=" "), replace(BATCH, app_id=""), replace(BATCH, messages=[])):
        with pytest.raises(Rejected):
            mem0_requests.add(broken)
    assert not {"agent_id", "run_id"} & set(mem0_requests.add(replace(BATCH, agent_id="", run_id="")))


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        (QUERY, {"OR": [SHARED, PERSONAL]}),
        (replace(QUERY, scope="mine"), PERSONAL),
        (replace(QUERY, agent_ids=()), PERSONAL),
        (
            replace(QUERY, agent_ids=["a1", "a2"]),
            {"OR": [{"OR": [SHARED, {"AND": [{"agent_id": "a2"}, {"app_id": "shop"}]}]}, PERSONAL]},
        ),
        (
            replace(QUERY, scope="dir", directory="services/billing"),
            {"OR": [{"AND": [SHARED, {"metadata": {"dirs": {"contains": "services/billing"}}}]}, PERSONAL]},
        ),
        (replace(QUERY, scope="dir", directory=""), {"OR": [SHARED, PERSONAL]}),
        (
            replace(QUERY, category="results", run_id="s1"),
            {"AND": [{"AND": [{"OR": [SHARED, PERSONAL]}, {"categories": {"contains": "results"}}]}, {"run_id": "s1"}]},
        ),
    ],
)
def test_search_filters_pin_an_owner_in_every_branch(query: Query, filters: object) -> None:
    """Lanes, directory, category and run id nest as facts 5.24 to 5.28 say."""
    assert mem0_requests.search_filters(query) == filters


def test_a_search_has_no_threshold_and_no_identity_outside_its_filters() -> None:
    """The body is question, filters, count, and two switches (facts 7.11); the count keeps the platform's bounds."""
    body = mem0_requests.search(replace(QUERY, top_k=5000))
    assert set(body) == {"query", "filters", "top_k", "rerank", "latest_only"}
    assert (body["top_k"], body["rerank"], body["latest_only"]) == (1000, False, True)
    assert mem0_requests.search(replace(QUERY, top_k=0))["top_k"] == 1


@pytest.mark.parametrize(
    "query",
    [
        replace(QUERY, text="  "),
        replace(QUERY, user_id="*"),
        replace(QUERY, app_id="*"),
        replace(QUERY, agent_ids=["*"]),
        replace(QUERY, run_id="*"),
        replace(QUERY, user_id=""),
        replace(QUERY, scope="team"),
        replace(QUERY, category="gossip"),
    ],
)
def test_a_search_that_must_not_be_made_is_refused_here(query: Query) -> None:
    """Blank questions, wildcards, unknown scopes and categories send nothing (facts 5.29, 7.15)."""
    with pytest.raises(Rejected):
        mem0_requests.search(query)


@pytest.mark.parametrize(
    ("base", "address", "path"),
    [
        ("https://api.example.org", "https://api.example.org/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://api.example.org", "https://API.example.org:443/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://api.example.org", "http://api.example.org/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://api.example.org", "/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://api.example.org", "?page=2", "/v1/events/?page=2"),
        ("https://gate.example.org/m/", "https://gate.example.org/m/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://gate.example.org/m", "/v1/events/?page=2", "/v1/events/?page=2"),
        ("https://gate.example.org/m", "?page=2", "/v1/events/?page=2"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/events/?q=\u00e9 \r\nx", "/v1/events/?q=%C3%A9%20x"),
        ("https://api.example.org", "", None),
        ("https://api.example.org", "https://evil.example.net/v1/events/?page=2", None),
        ("https://api.example.org", "//evil.example.net/v1/events/", None),
        ("https://api.example.org", "https://api.example.org:8443/v1/events/", None),
        ("https://api.example.org", "http://api.example.org:8080/v1/events/", None),
        ("http://api.example.org", "https://api.example.org/v1/events/", None),
        ("https://api.example.org", "https://api.example.org@evil.example.net/", None),
        ("https://api.example.org", "file:///etc/hosts", None),
        ("https://api.example.org", "http://[", None),
        ("https://api.example.org", "https://api.example.org:99999/", None),
    ],
)
def test_a_next_page_is_followed_at_home_only(base: str, address: str, path: str | None) -> None:
    """Absolute and relative addresses are understood, and none leads the key away from the platform's origin."""
    assert mem0_requests.next_path(address, "/v1/events/?page=1", httpx.URL(base)) == path


def test_an_id_is_one_segment_of_a_path() -> None:
    """Whatever an id holds, it stays within its segment; what would be a step in the path is no id."""
    assert mem0_requests.path_id("a/b?c#d e") == "a%2Fb%3Fc%23d%20e"
    assert [mem0_requests.path_id(odd) for odd in ("", ".", "..", "...")] == [None] * 4
