"""The fake hosted platform behaves as hooks-and-apis 3A says; asked with the standard library's client."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY, FakeMem0

ADD = {
    "messages": [{"role": "user", "content": "We deploy on Fridays"}, {"role": "assistant", "content": "Fine"}],
    "user_id": "ana",
    "app_id": "shop",
    "run_id": "s1",
    "metadata": {"memsyncd_packet": "p", "memsyncd_batch": 0, "dirs": ["a", "a/b"]},
}
MINE = {"AND": [{"user_id": "ana"}, {"app_id": "shop"}]}


@pytest.fixture
def fake() -> Iterator[FakeMem0]:
    with FakeMem0() as running:
        yield running


def ask(fake: FakeMem0, method: str, path: str, body: Any = None, key: str = KEY) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=60)
    try:
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, {"Authorization": f"Token {key}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def search(fake: FakeMem0, filters: Any, **more: Any) -> tuple[int, Any]:
    return ask(fake, "POST", "/v3/memories/search/", {"query": "deploy", "filters": filters, **more})


def test_an_add_becomes_an_event_and_then_memories(fake: FakeMem0) -> None:
    """The answer is pending, the event ripens with the questions, and its results are stored and found."""
    fake.extraction_polls = 2
    status, accepted = ask(fake, "POST", "/v3/memories/add/", ADD)
    assert (status, accepted["status"]) == (200, "PENDING")
    path = f"/v1/event/{accepted['event_id']}/"
    states = [ask(fake, "GET", path)[1]["status"] for _ in range(2)]
    assert states == ["RUNNING", "SUCCEEDED"]
    event = ask(fake, "GET", path)[1]
    assert event["results"][0]["data"] == {"memory": "We deploy on Fridays"}
    assert event["payload"]["metadata"]["memsyncd_packet"] == "p"
    assert [one["memory"] for one in search(fake, MINE)[1]["results"]] == ["We deploy on Fridays"]


def test_an_extraction_takes_the_seconds_it_was_given(fake: FakeMem0) -> None:
    """With a delay it stays open until then, unless it is told to finish."""
    fake.extraction_seconds = 60
    event_id = ask(fake, "POST", "/v3/memories/add/", ADD)[1]["event_id"]
    assert ask(fake, "GET", f"/v1/event/{event_id}/")[1]["status"] == "PENDING"
    assert fake.memories() == []
    fake.finish_extractions()
    assert ask(fake, "GET", f"/v1/event/{event_id}/")[1]["status"] == "SUCCEEDED"


def test_errors_have_the_apis_bodies(fake: FakeMem0) -> None:
    """401 has detail, 400 error and details.message, 404 error."""
    assert ask(fake, "GET", "/v1/ping/", key="wrong")[0] == 401
    assert "detail" in ask(fake, "GET", "/v1/ping/", key="wrong")[1]
    status, body = ask(fake, "POST", "/v3/memories/add/", {"messages": []})
    assert (status, body["error"]) == (400, body["details"]["message"])
    assert ask(fake, "POST", "/v3/memories/add/", {"messages": ADD["messages"]})[0] == 400
    assert ask(fake, "GET", "/v1/event/none/") == (404, {"error": "Event not found"})
    assert ask(fake, "DELETE", "/v1/memories/none/")[0] == 404


def test_without_inference_the_answer_is_the_result(fake: FakeMem0) -> None:
    """With infer false results come at once, and exact repeats in one scope are skipped."""
    answer = ask(fake, "POST", "/v3/memories/add/", {**ADD, "infer": False})[1]
    assert [one["event"] for one in answer["results"]] == ["ADD"]
    assert ask(fake, "POST", "/v3/memories/add/", {**ADD, "infer": False})[1]["results"] == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"user_id": "ana"}, 1),
        ({"user_id": "ana", "app_id": "other"}, 0),
        ({"AND": [{"user_id": "ana"}, {"metadata": {"memsyncd_packet": "p"}}]}, 1),
        ({"AND": [{"user_id": "ana"}, {"metadata": {"memsyncd_packet": "q"}}]}, 0),
        ({"AND": [{"user_id": "ana"}, {"metadata": {"dirs": {"contains": "a/b"}}}]}, 1),
        ({"OR": [{"user_id": "bob"}, {"app_id": "shop"}]}, 1),
        ({"AND": [{"user_id": "ana"}, {"NOT": [{"app_id": "shop"}]}]}, 0),
        ({"user_id": "*"}, 1),
        ({"AND": [{"user_id": "ana"}, {"categories": {"contains": "results"}}]}, 0),
        ({"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2000-01-01"}}]}, 1),
        ({"AND": [{"user_id": "ana"}, {"agent_id": "shop-1"}]}, 0),
    ],
)
def test_filters_follow_the_grammar(fake: FakeMem0, filters: Any, found: int) -> None:
    """AND, OR, NOT, bare conditions, operators and metadata select as documented, in search and in the listing."""
    ask(fake, "POST", "/v3/memories/add/", ADD)
    assert len(search(fake, filters)[1]["results"]) == found
    listed = ask(fake, "POST", "/v3/memories/?page=1&page_size=10", {"filters": filters})[1]
    assert listed["count"] == found
    assert all(one["session_id"] == "s1" for one in listed["results"])


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"AND": []},
        {"colour": "red"},
        {"metadata": {"a": 1}},
        {"user_id": {"nin": []}},
        {"user_id": "a", "created_at": "x"},
    ],
)
def test_refuses_filters_as_the_api_does(fake: FakeMem0, filters: Any) -> None:
    """Unknown keys and operators, no entity id, and bare times are 400."""
    assert search(fake, filters)[0] == 400


def test_refuses_searches_as_the_api_does(fake: FakeMem0) -> None:
    """Entity ids beside the filters and a top_k out of bounds are 400; a keywords filter is the known 500."""
    assert search(fake, MINE, user_id="ana")[0] == 400
    assert search(fake, MINE, top_k=1001)[0] == 400
    assert search(fake, {"AND": [MINE, {"keywords": "x"}]})[0] == 500


def test_listings_have_pages(fake: FakeMem0) -> None:
    """Events are listed newest first with count, next and previous."""
    ids = [ask(fake, "POST", "/v3/memories/add/", ADD)[1]["event_id"] for _ in range(5)]
    first = ask(fake, "GET", "/v1/events/?page=1&page_size=2")[1]
    assert ([one["id"] for one in first["results"]], first["count"]) == (ids[:-3:-1], 5)
    second = ask(fake, "GET", first["next"].removeprefix(fake.url))[1]
    assert second["previous"].endswith("page=1&page_size=2")
    assert ask(fake, "GET", "/v1/events/?page=3&page_size=2")[1]["next"] is None
    assert ask(fake, "GET", "/v1/events/?page_size=500")[0] == 400


def test_misbehaves_once_for_each_line_of_the_script(fake: FakeMem0) -> None:
    """A scripted refusal is answered once and nothing is carried out; then all is as usual."""
    fake.script("add", behave.busy(503, "3"), behave.quota())
    assert [ask(fake, "POST", "/v3/memories/add/", ADD)[0] for _ in range(3)] == [503, 429, 200]
    assert fake.accepted_batches() == [("p", 0, "s1")]
    fake.always("*", behave.refuse_key())
    assert ask(fake, "GET", "/v1/ping/")[0] == 401
    fake.always("*", None)
    assert ask(fake, "GET", "/v1/ping/")[0] == 200


def test_commits_and_cuts_the_connection(fake: FakeMem0) -> None:
    """The add is carried out, the hooks are called in order, and no answer comes."""
    seen: list[str] = []
    fake.on_request = lambda request: seen.append(f"request {len(fake.accepted_batches())}")
    fake.on_commit = lambda request: seen.append(f"commit {len(fake.accepted_batches())}")
    fake.script("add", behave.commit_and_cut())
    with pytest.raises(http.client.RemoteDisconnected):
        ask(fake, "POST", "/v3/memories/add/", ADD)
    assert seen == ["request 0", "commit 1"]
    assert fake.delivered_messages() == [("user", "We deploy on Fridays"), ("assistant", "Fine")]


def test_extractions_fail_vanish_and_stick(fake: FakeMem0) -> None:
    """The three bad ends of an extraction are what the API would show."""
    fake.script("add", behave.failing_extraction("no"), behave.vanishing_extraction(), behave.stuck_extraction())
    ids = [ask(fake, "POST", "/v3/memories/add/", ADD)[1]["event_id"] for _ in range(3)]
    answers = [ask(fake, "GET", f"/v1/event/{one}/") for one in ids]
    assert (answers[0][1]["status"], answers[0][1]["error"]) == ("FAILED", "no")
    assert answers[1][0] == 404
    assert answers[2][1]["status"] == "RUNNING"
    assert fake.memories() == []


def test_is_down_and_up_again_on_the_same_port(fake: FakeMem0) -> None:
    """Connections are refused while it is down."""
    port = fake.port
    fake.refuse_connections()
    with pytest.raises(ConnectionRefusedError):
        ask(fake, "GET", "/v1/ping/")
    fake.accept_connections()
    assert fake.port == port
    assert ask(fake, "GET", "/v1/ping/")[0] == 200


def test_a_request_keeps_all_but_the_key(fake: FakeMem0) -> None:
    """Requests are kept with time, headers and body; the key is in none of them; waiting for one works."""
    ask(fake, "POST", "/v3/memories/add/", ADD)
    fake.wait_for(lambda f: len(f.requests("add")) == 1, 60)
    request = fake.requests()[0]
    assert request.json == ADD
    assert "authorization" not in request.headers
    assert abs(request.at - time.time()) < 60
    with pytest.raises(AssertionError):
        fake.wait_for(lambda f: len(f.requests()) == 2, 0.01)


def test_runs_as_a_process_of_its_own() -> None:
    """Started apart it writes its port, prints a line for each request, and ends at SIGTERM."""
    with tempfile.TemporaryDirectory() as place:
        port_file = Path(place) / "port"
        command = [sys.executable, "-m", "tests.fakes.mem0_api", "--port-file", str(port_file), "--delay", "60"]
        root = Path(__file__).parents[2]
        process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, env={**os.environ})
        try:
            deadline = time.monotonic() + 20
            while not port_file.exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)  # another process's file: there is no event to wait for
            connection = http.client.HTTPConnection("127.0.0.1", int(port_file.read_text()), timeout=60)
            connection.request("POST", "/v3/memories/add/", json.dumps(ADD), {"Authorization": f"Token {KEY}"})
            assert connection.getresponse().status == 200
            connection.close()
            assert process.stdout is not None
            line = json.loads(process.stdout.readline())
            assert (line["route"], line["status"], line["packet"], line["batch"]) == ("add", 200, "p", 0)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert process.stdout is not None
            process.stdout.close()
