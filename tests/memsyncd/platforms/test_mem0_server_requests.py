"""The self-hosted server's requests, to the key."""

from dataclasses import replace

import pytest

from memsyncd.platforms import instructions, mem0_server_requests
from memsyncd.platforms.platform import Rejected
from tests.memsyncd.platforms.grounds import BATCH, QUERY


def test_an_add_carries_what_the_server_knows() -> None:
    """No app and no categories: the project is in the metadata, and what to remember in one text."""
    body = mem0_server_requests.add(BATCH)
    assert body == {
        "messages": [{"role": one.role, "content": one.content} for one in BATCH.messages],
        "user_id": "ada",
        "agent_id": "shop-1a2b",
        "run_id": "session-1",
        "metadata": {**BATCH.metadata, "app_id": "shop"},
        "infer": True,
        "prompt": mem0_server_requests.PROMPT,
    }
    assert instructions.SHARED in body["prompt"]
    assert instructions.PERSONAL in body["prompt"]


def test_what_a_batch_does_not_have_is_left_out() -> None:
    """Agent and run may be missing; words may not."""
    assert not {"agent_id", "run_id"} & set(mem0_server_requests.add(replace(BATCH, agent_id="", run_id="")))
    with pytest.raises(Rejected):
        mem0_server_requests.add(replace(BATCH, messages=[]))


def test_filters_are_flat_and_pin_an_owner() -> None:
    """Each search has one id, the project, and what narrows it, side by side; none has an operator."""
    query = replace(QUERY, category="workflows", run_id="session-1", top_k=7)
    narrowing = {"app_id": "shop", "category": "workflows", "run_id": "session-1"}
    assert [search.body for search in mem0_server_requests.searches(query)] == [
        {"query": query.text, "filters": {"agent_id": "shop-1a2b", **narrowing}, "top_k": 7},
        {"query": query.text, "filters": {"user_id": "ada", **narrowing}, "top_k": 7},
    ]


def test_a_directory_narrows_the_shared_lanes_alone() -> None:
    """They are asked for more, of which the directory's are kept; at the root there is nothing to narrow (facts 5.26)."""
    shared, own = mem0_server_requests.searches(replace(QUERY, scope="dir", directory="billing"))
    assert (shared.directory, shared.body["top_k"]) == ("billing", mem0_server_requests.NARROWED_TOP_K)
    assert (own.directory, own.body["top_k"]) == ("", QUERY.top_k)
    root = mem0_server_requests.searches(replace(QUERY, scope="dir", directory=""))
    assert root == mem0_server_requests.searches(QUERY)
    assert len(mem0_server_requests.searches(replace(QUERY, scope="mine"))) == 1


@pytest.mark.parametrize(("asked", "sent"), [(0, 1), (5, 5), (5000, 1000)])
def test_no_more_is_asked_for_than_the_server_allows(asked: int, sent: int) -> None:
    """Between one and its limit."""
    assert {search.body["top_k"] for search in mem0_server_requests.searches(replace(QUERY, top_k=asked))} == {sent}


@pytest.mark.parametrize(
    ("given", "sent"), [("ada", "ada"), (" ada\n", "ada"), ("a b\tc", "a%20b%09c"), ("a\u00a0b", "a%C2%A0b")]
)
def test_blanks_in_an_id_are_encoded(given: str, sent: str) -> None:
    """And two people stay two: nothing is merely left out."""
    assert mem0_server_requests.entity("user", given) == sent


def test_a_listing_names_its_user_and_its_length() -> None:
    """The id is one value of the query, whatever is in it."""
    assert mem0_server_requests.listing_path("a&b=c/d") == "/memories?user_id=a%26b%3Dc%2Fd&top_k=1000"
