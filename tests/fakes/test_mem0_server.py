"""The fake self-hosted server behaves as hooks-and-apis 3B says; asked with the standard library's client."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server

ADD = {
    "messages": [{"role": "user", "content": "We deploy on Fridays"}, {"role": "assistant", "content": "Fine"}],
    "user_id": "ana",
    "run_id": "s1",
    "metadata": {"app_id": "shop", "memsyncd_packet": "p", "dirs": ["a", "a/b"]},
}


@pytest.fixture
def fake() -> Iterator[FakeMem0Server]:
    with FakeMem0Server() as running:
        yield running


def ask(
    fake: FakeMem0Server, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, Any, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=60)
    try:
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, {"X-API-Key": SERVER_KEY} if headers is None else headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), dict(answer.getheaders())
    finally:
        connection.close()


def test_an_add_is_answered_with_its_memories(fake: FakeMem0Server) -> None:
    """Results come at once; an exact repeat is an empty list; both are listed by user and by run."""
    status, answer, headers = ask(fake, "POST", "/memories", ADD)
    assert status == 200
    assert [(one["memory"], one["event"]) for one in answer["results"]] == [("We deploy on Fridays", "ADD")]
    assert headers["X-Request-ID"]
    assert ask(fake, "POST", "/memories", ADD)[1] == {"results": []}
    for query in ("user_id=ana", "run_id=s1&top_k=1000"):
        listed = ask(fake, "GET", f"/memories?{query}")[1]["results"]
        assert [one["metadata"]["app_id"] for one in listed] == ["shop"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/memories/"), ("POST", "/search/"), ("GET", "/v1/ping/"), ("POST", "/v3/memories/add/")],
)
def test_other_routes_and_slashes_at_the_end_are_not_there(fake: FakeMem0Server, method: str, path: str) -> None:
    """No redirect, no version prefix, no ping."""
    assert ask(fake, method, path, ADD)[:2] == (404, {"detail": "Not Found"})


def test_takes_its_key_in_one_header_only(fake: FakeMem0Server) -> None:
    """A token in Authorization is none; with authentication off nothing is asked for."""
    for headers in ({}, {"X-API-Key": "wrong"}, {"Authorization": f"Token {SERVER_KEY}"}):
        status, body, answered = ask(fake, "GET", "/memories?user_id=ana", headers=headers)
        assert (status, list(body), answered["WWW-Authenticate"]) == (401, ["detail"], "Bearer")
    fake.keys = None
    assert ask(fake, "GET", "/memories?user_id=ana", headers={})[0] == 200
    assert all(SERVER_KEY not in str(request.headers) for request in fake.requests())


def test_errors_have_the_servers_bodies(fake: FakeMem0Server) -> None:
    """400 has a sentence, 422 a list; a missing memory is null when read and 404 when deleted."""
    assert ask(fake, "POST", "/memories", {"messages": ADD["messages"]})[0] == 400
    assert ask(fake, "POST", "/memories", {**ADD, "user_id": "ana b"})[0] == 400
    assert isinstance(ask(fake, "POST", "/memories", {"user_id": "ana"})[1]["detail"], list)
    assert ask(fake, "GET", "/memories?user_id=ana&top_k=1001")[0] == 422
    assert ask(fake, "GET", "/memories/none")[:2] == (200, None)
    assert ask(fake, "DELETE", "/memories/none")[0] == 404


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"user_id": "ana"}, 1),
        ({"user_id": "ana", "app_id": "shop"}, 1),
        ({"user_id": "ana", "app_id": "other"}, 0),
        ({"user_id": "ana", "metadata": {"app_id": "shop"}}, 0),
        ({"user_id": "ana", "app_id": {"nin": ["other"]}}, 1),
        ({"user_id": "ana", "OR": [{"app_id": "other"}, {"app_id": "shop"}]}, 1),
        ({"user_id": "ana", "NOT": [{"app_id": "shop"}]}, 0),
    ],
)
def test_filters_are_flat(fake: FakeMem0Server, filters: Any, found: int) -> None:
    """Keys of the metadata stand beside the ids, not below `metadata`."""
    ask(fake, "POST", "/memories", ADD)
    assert len(ask(fake, "POST", "/search", {"query": "deploy", "filters": filters})[1]["results"]) == found


@pytest.mark.parametrize(
    "filters", [None, {}, {"app_id": "shop"}, {"user_id": "a b"}, {"user_id": "a", "timestamp": 1}]
)
def test_refuses_filters_as_the_server_does(fake: FakeMem0Server, filters: Any) -> None:
    """No id, a blank within one, and the hosted platform's times are 400."""
    assert ask(fake, "POST", "/search", {"query": "deploy", "filters": filters})[0] == 400


def test_a_threshold_of_nothing_finds_everything_that_matches(fake: FakeMem0Server) -> None:
    """By default what is unlike the query is left out."""
    ask(fake, "POST", "/memories", ADD)
    search = {"query": "zebra", "filters": {"user_id": "ana"}}
    assert ask(fake, "POST", "/search", search)[1]["results"] == []
    assert len(ask(fake, "POST", "/search", {**search, "threshold": 0.0})[1]["results"]) == 1
