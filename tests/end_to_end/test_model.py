"""Memories by a model, with a real daemon, real hooks and a fake model on loopback."""

import json
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.fakes.model_server import MODEL, FakeModel

KEY = "sk" + "-" + "m0del" + "0" * 12
SAID = "From now on we always use PostgreSQL 16 for the orders service."


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel(keys={KEY}) as fake:
        yield fake


@pytest.fixture
def home(home: Home, model: FakeModel) -> Home:
    home.environ |= {
        "MEMSYNCD_EXTRACTOR_URL": model.url,
        "MEMSYNCD_EXTRACTOR_MODEL": MODEL,
        "MEMSYNCD_EXTRACTOR_API_KEY": KEY,
        "MEMSYNCD_RECALL_ENABLED": "no",
    }
    return home


def one_session(home: Home, name: str = "s1", prompt: str = SAID) -> None:
    home.exchange(name, 1, prompt=prompt, answer="Noted: PostgreSQL 16 it is.")
    home.end(name)


def memories(home: Home) -> Sequence[dict[str, Any]]:
    question = {"query": "which database does the orders service use", "cwd": str(home.project), "top_k": 20}
    found: Sequence[dict[str, Any]] = home.client.post("/search", question)["memories"]
    return found


def makers(home: Home) -> list[str]:
    return [memory["metadata"]["made_by"] for memory in memories(home)]


def problems(home: Home) -> dict[str, str]:
    return {problem["code"]: problem["message"] for problem in home.status()["problems"]}


def test_a_session_becomes_what_the_model_says(home: Home, model: FakeModel) -> None:
    """Once, soon, with a word on who made it; the key goes to the model and nowhere else."""
    home.start()
    one_session(home)
    model.wait_for(lambda fake: len(fake.requests()) == 1, 60)
    asked = time.monotonic()
    home.until_quiet()
    assert time.monotonic() - asked < 20.0
    assert [memory["memory"] for memory in memories(home)] == [SAID]
    assert makers(home) == ["model"]
    shown = home.run("config", "show").stdout
    told = json.dumps(home.status()) + json.dumps(home.client.get("/jobs?limit=100")) + home.logged()
    assert home.stop() == 0
    assert KEY not in shown + told + home.logged()
    for path in home.places.data.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_daemon_stopped_and_killed_while_the_model_thinks_loses_nothing(home: Home, model: FakeModel) -> None:
    """A stop does not wait for the model. The batch is asked about again after each start, becomes memories once, and
    is delivered once."""
    model.script(behave.hang(), behave.hang())
    home.start()
    one_session(home)
    model.wait_for(lambda fake: len(fake.requests()) == 1, 60)
    begun = time.monotonic()
    assert home.stop() == 0
    assert time.monotonic() - begun < 20.0
    home.start()
    model.wait_for(lambda fake: len(fake.requests()) == 2, 60)
    assert home.stop(signal.SIGKILL) == -signal.SIGKILL
    home.start()
    home.until_quiet()
    assert [memory["memory"] for memory in memories(home)] == [SAID]
    assert makers(home) == ["model"]
    home.until(lambda: home.counted("packets_delivered") == 1, "it was not counted once")
    assert home.status()["jobs"]["dead"] == 0


def test_a_model_that_dies_in_the_midst_leaves_the_batch_to_the_rules(home: Home, model: FakeModel) -> None:
    """Delivered all the same; the status says where the model should be and stays well; a probe finds it back."""
    model.script(behave.cut())
    home.start()
    one_session(home)
    model.wait_for(lambda fake: len(fake.requests()) == 1, 60)
    home.until(lambda: "packets_delivered" in home.status()["counters"], "not delivered")
    assert makers(home) == ["rules"]
    home.until(lambda: "extractor-away" in problems(home), "its absence was not told")
    assert model.url.removesuffix("/v1") in problems(home)["extractor-away"]
    assert home.status()["state"] == "ok"
    home.until(lambda: "extractor-away" not in problems(home), "the model was not found back")
    assert "broke before the whole answer was there" in problems(home)["extractor-unused"]
    one_session(home, "s2", "From now on the archive of the orders service lives in Frankfurt.")
    home.until(lambda: "extractor_batches_by_model" in home.status()["counters"], "not asked again")
    home.until(lambda: not problems(home), "the help was not noticed")
