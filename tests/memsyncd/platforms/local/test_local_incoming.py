"""A memory in a row from elsewhere: taken whole, or refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.platforms.local.exchange import Arrival, Intake
from memsyncd.platforms.local.incoming import RefusedMemory, incoming
from memsyncd.redaction import redact

NOW = "2027-01-15T08:00:00.000Z"
SECRET = "ghp_" + "a1B2" * 9


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


GOOD = {"type": "memory", "id": "m", "memory": "words", "user_id": "ada", "app_id": "tool", "created_at": NOW}


@pytest.mark.parametrize(
    ("change", "lane"),
    [
        ({}, "personal"),
        ({"user_id": "", "agent_id": "tool-1"}, "project"),
        ({"lane": "project", "agent_id": "tool-1"}, "project"),
        ({"created_at": ""}, "personal"),
        ({"memory": 7}, ""),
        ({"memory": " "}, ""),
        ({"memory": "x" * 10_001}, ""),
        ({"memory": "\ud800"}, ""),
        ({"id": ""}, ""),
        ({"app_id": ""}, ""),
        ({"user_id": "**"}, ""),
        ({"user_id": "*", "lane": "project", "agent_id": "tool-1"}, ""),
        ({"agent_id": " \uff0a "}, ""),
        ({"run_id": "*"}, ""),
        ({"app_id": "\u2217"}, ""),
        ({"lane": "elsewhere"}, ""),
        ({"created_at": "yesterday"}, ""),
        ({"metadata": []}, ""),
        ({"metadata": {"a": "x" * 64_000}}, ""),
        ({"metadata": nested(900)}, ""),
        ({"score": True}, ""),
        ({"score": float("nan")}, ""),
        ({"score": float("inf")}, ""),
        ({"score": 10**400}, ""),
        ({"id": "x" * 1_001}, ""),
        ({"run_id": "x" * 1_001}, ""),
        ({"lane": ["project"]}, ""),
    ],
)
def test_a_row_is_a_memory_or_is_refused(change: dict[str, object], lane: str) -> None:
    """Nothing is guessed but the lane of a platform that tells none."""
    try:
        assert incoming(GOOD | change, clean=str, now=2e9).memory.lane == lane
    except RefusedMemory:
        assert not lane


def test_words_are_cleaned_wherever_they_stand() -> None:
    """In the text and at any depth of the metadata, also where only a name says that it is a secret."""
    metadata = {
        "note": f"with {SECRET}",
        "deep": [{"password": "hidden-5c1e"}, SECRET],
        "dirs": ["src"],
        "half": "\ud800",
    }
    row = GOOD | {"memory": f"The token is {SECRET}.", "metadata": metadata}
    memory = incoming(row, clean=redact, now=2e9).memory
    stored = memory.text + json.dumps(memory.metadata)
    assert SECRET not in stored and "hidden-5c1e" not in stored and "ud800" not in stored
    assert memory.metadata["dirs"] == ["src"]


@pytest.mark.parametrize("metadata", [{"dirs": 7}, {"dirs": {"a": 1}}, {"branch": ["main"]}])
def test_metadata_of_another_type_is_left_out(metadata: dict[str, Any]) -> None:
    """The index reads directories and branch: what is none of these is no reason to lose the memory."""
    assert incoming(GOOD | {"metadata": metadata}, clean=str, now=2e9).memory.metadata == {}


def test_a_memory_of_another_platform_has_an_id_of_its_own() -> None:
    """It tells no lane. The same id may stand in this file already, as what was mirrored of that platform."""
    here, elsewhere = (incoming(GOOD | more, clean=str, now=2e9) for more in ({"lane": "personal"}, {}))
    assert here.memory.id == here.told_id == elsewhere.told_id == "m"
    assert elsewhere.memory.id != "m" and elsewhere.memory.id == incoming(GOOD, clean=str, now=2e9).memory.id


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_JSON = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(name=st.sampled_from([*GOOD, "agent_id", "run_id", "category", "lane", "metadata", "score"]), value=_JSON)
def test_a_row_of_any_values_is_stored_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: Any
) -> None:
    """Nothing in a line can end an import."""
    try:
        memory = incoming(GOOD | {name: value}, clean=redact, now=2e9)
    except RefusedMemory:
        return
    intake = Intake(_file(tmp_path_factory), is_forgotten=lambda _: False)
    assert intake.take_in([memory])[0] in (Arrival.BROUGHT, Arrival.UNCHANGED)
    intake.close()


def _file(factory: pytest.TempPathFactory) -> Path:
    return factory.getbasetemp() / "taken.sqlite3"
