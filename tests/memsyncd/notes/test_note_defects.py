"""The 17 defects of the old server (hooks-and-apis.md section 6), each gone."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memsyncd.notes import answers
from memsyncd.notes.catalogue import BY_NAME
from memsyncd.notes.limits import MAX_ANSWER_CHARS, MAX_NAMESPACE_CHARS
from memsyncd.notes.note import IncomingNote
from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from tests.clocks import HandClock
from tests.memsyncd.notes.conftest import Asking
from tests.memsyncd.notes.processes import started


def _files(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


def test_defect_1_three_processes_that_write_at_once_keep_every_note(path: Path, hands: HandClock) -> None:
    """Of three times 30 notes written to a new file at once, into one namespace, all 90 are there."""
    with started(3, path) as children:
        for child in children:
            child.write_notes(30)
        assert [child.finish() for child in children] == [30] * 3
    store = NoteStore(path, hands.clock())
    assert store.stats().total == 90
    assert {store.recall("default", f"{name}-{number}").value for name in range(3) for number in range(30)} == {
        f"note {number} of {name}" for name in range(3) for number in range(30)
    }
    store.close()


@pytest.mark.parametrize("acknowledged", [1, 30])
def test_defect_2_a_process_killed_while_writing_loses_only_what_it_never_acknowledged(
    path: Path, hands: HandClock, acknowledged: int
) -> None:
    """After kill -9 the notes acknowledged are there with the ones before; at most one more is, and the file is sound."""
    before = NoteStore(path, hands.clock())
    before.remember("default", "earlier", "kept")
    before.close()
    with started(1, path) as (child,):
        told = child.killed_after(acknowledged)
    store = NoteStore(path, hands.clock())
    assert store.recall("default", "earlier").value == "kept"
    assert acknowledged <= told <= store.stats().total - 1 <= told + 1
    assert all(store.recall("default", f"0-{number}").value == f"note {number} of 0" for number in range(told))
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.execute("INSERT INTO note_index(note_index, rank) VALUES('integrity-check', 1)")
    connection.close()


def test_defect_3_a_file_that_cannot_be_read_is_an_error_and_stays_as_it_is(tmp_path: Path, hands: HandClock) -> None:
    """A damaged file is never taken for an empty one, and nothing is written over it."""
    path = tmp_path / "memory.sqlite3"
    path.write_bytes(b"this was a database once, and is not any more" * 200)
    before = path.read_bytes()
    ask = Asking(NoteTools(NoteStore(path, hands.clock())))
    for answer in (
        ask("memory_recall", key="k"),
        ask("memory_remember", key="k", value="v"),
        ask("memory_stats"),
        ask("memory_search", query="k"),
    ):
        assert answer["isError"] is True
        assert "damaged" in answer["error"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("given", [{"value": "v"}, {"key": "k"}, {}, {"key": None, "value": "v"}])
def test_defect_4_an_entry_without_key_or_value_is_told_so(ask: Asking, given: dict[str, Any]) -> None:
    """What is missing is named; files of other shapes are in test_note_import."""
    answer = ask("memory_remember", **given)
    assert "key" in answer["error"] or "value" in answer["error"]
    assert ask("memory_stats")["total_entries"] == 0


def test_defect_5_names_are_kept_as_given(ask: Asking) -> None:
    """Names that differ stay apart, and are listed as they were given."""
    names = ["a/b", "a_b", "a b", "日本", "中国", "..", "CON", "é", "e\u0301", "a\nb", " a"]
    for name in names:
        ask("memory_remember", key=name, value=f"of {name}!", namespace=name)
    assert {each["namespace"] for each in ask("memory_list_namespaces")["namespaces"]} == set(names)
    for name in names:
        answer = ask("memory_recall", key=name, namespace=name)
        assert (answer["namespace"], answer["key"], answer["value"]) == (name, name, f"of {name}!")


def test_defect_6_a_namespace_called_meta_is_one_like_others(ask: Asking) -> None:
    """`_meta` is stored, listed, counted and cleared."""
    ask("memory_remember", key="k", value="v", namespace="_meta")
    assert ask("memory_recall", key="k", namespace="_meta")["value"] == "v"
    assert [each["namespace"] for each in ask("memory_list_namespaces")["namespaces"]] == ["_meta"]
    assert ask("memory_stats")["total_entries"] == 1
    assert ask("memory_clear_namespace", namespace="_meta")["deleted_count"] == 1


def test_defect_7_a_name_that_is_too_long_is_refused_without_a_path(ask: Asking, tmp_path: Path) -> None:
    """The message tells the limit, not where the store lies."""
    answer = ask("memory_remember", key="k", value="v", namespace="n" * (MAX_NAMESPACE_CHARS + 1))
    assert str(MAX_NAMESPACE_CHARS) in answer["error"]
    assert str(tmp_path) not in answer["error"]
    ask("memory_remember", key="k", value="v", namespace="é" * MAX_NAMESPACE_CHARS)
    assert ask("memory_stats")["total_entries"] == 1


@pytest.mark.parametrize("ttl", [0, -5, 0.5, "60", True, 10**12, [1]])
def test_defect_8_a_time_to_live_is_a_whole_number_of_seconds_from_one(ask: Asking, ttl: Any) -> None:
    """Anything else is an error, and nothing is stored."""
    assert "ttl_seconds" in ask("memory_remember", key="k", value="v", ttl_seconds=ttl)["error"]
    assert ask("memory_stats")["total_entries"] == 0


def test_defect_8_a_time_to_live_of_one_second_is_kept(ask: Asking, hands: HandClock) -> None:
    """The shortest time is told as given, and is over when it is over."""
    answer = ask("memory_remember", key="k", value="v", ttl_seconds=1)
    assert (answer["expires_in"], answer["expires_at"]) == ("1s", hands.wall_now + 1)
    hands.move(0.9)
    assert ask("memory_recall", key="k")["value"] == "v"
    hands.move(0.1)
    assert ask("memory_recall", key="k")["status"] == "error"


def test_defect_9_a_long_answer_is_cut_in_its_values_and_stays_json(ask: Asking) -> None:
    """A value above the limit comes back cut, with the real figures, inside JSON that parses."""
    value = '\x01é"\\' * 20_000
    ask("memory_remember", key="long", value=value)
    answer = ask("memory_recall", key="long")
    assert answer["truncated"] is True
    assert value.startswith(answer["value"])
    assert "80,000" in answer["notice"]
    assert "{" not in answer["notice"]
    assert len(json.dumps(answer, ensure_ascii=False)) <= MAX_ANSWER_CHARS
    assert len(ask.tools.memory_recall("long").text) <= MAX_ANSWER_CHARS


def test_defect_10_what_is_said_to_read_only_writes_nothing(ask: Asking, path: Path) -> None:
    """The four reading tools leave every byte on the disk as it was."""
    ask("memory_remember", key="k", value="v")
    ask("memory_stats")
    reading = {name for name, tool in BY_NAME.items() if tool.hints.read_only}
    assert reading == {"memory_recall", "memory_search", "memory_list_namespaces", "memory_stats"}
    before = {name: digest for name, digest in _files(path.parent).items() if not name.endswith("-shm")}
    first = ask("memory_recall", key="k")
    assert ask("memory_recall", key="k") == first
    ask("memory_recall", key="none")
    ask("memory_search", query="v")
    ask("memory_list_namespaces")
    ask("memory_stats")
    assert {name: digest for name, digest in _files(path.parent).items() if not name.endswith("-shm")} == before


def test_defect_11_another_value_keeps_the_notes_age(ask: Asking, hands: HandClock) -> None:
    """`created_at` stays, `updated_at` tells of the new value."""
    ask("memory_remember", key="k", value="one")
    born = ask("memory_recall", key="k")["created_at"]
    hands.move(100)
    ask("memory_remember", key="k", value="two")
    answer = ask("memory_recall", key="k")
    assert (answer["value"], answer["created_at"]) == ("two", born)
    assert answer["updated_at"] > born


def test_defect_12_the_best_match_comes_first(ask: Asking, hands: HandClock) -> None:
    """The key that is the query, then keys with its words, then values with all, then with one; equals by time."""
    for key, value in (
        ("misc one", "the deploy script lives elsewhere"),
        ("other", "deploy the staging cluster with make ship"),
        ("staging deploy notes", "see the wiki"),
        ("staging deploy", "run make ship"),
        ("misc two", "deploy again"),
    ):
        ask("memory_remember", key=key, value=value)
        hands.move(1)
    found = [each["key"] for each in ask("memory_search", query="staging deploy")["results"]]
    assert found == ["staging deploy", "staging deploy notes", "other", "misc two", "misc one"]


def test_defect_13_a_limit_is_brought_into_its_bounds(ask: Asking, store: NoteStore) -> None:
    """Less than one is one, more than a hundred a hundred; all that match are counted."""
    store.take_in([IncomingNote("default", f"k{number}", "apple", 1, 1, 1) for number in range(120)])
    for limit, returned in ((-3, 1), (0, 1), (1, 1), (7, 7), (100, 100), (10**9, 100)):
        answer = ask("memory_search", query="apple", limit=limit)
        assert (answer["returned"], len(answer["results"]), answer["total_matches"]) == (returned, returned, 120)


@pytest.mark.parametrize("value", [5, 1.5, True, None, ["a"], {"a": 1}, "", "   ", "\n\t"])
def test_defect_14_a_value_is_text_that_says_something(ask: Asking, value: Any) -> None:
    """Other types and blank texts are refused, and searching still works."""
    assert "value" in ask("memory_remember", key="k", value=value)["error"]
    assert ask("memory_search", query="k")["total_matches"] == 0


def test_defect_15_clearing_a_namespace_that_is_not_there_does_nothing(ask: Asking, path: Path) -> None:
    """It is no error, nothing appears in the list, and no file appears beside the store."""
    ask("memory_remember", key="k", value="v")
    before = set(_files(path.parent))
    assert ask("memory_clear_namespace", namespace="nowhere")["deleted_count"] == 0
    assert [each["namespace"] for each in ask("memory_list_namespaces")["namespaces"]] == ["default"]
    assert set(_files(path.parent)) == before


def test_defect_16_expired_notes_go_without_being_recalled(ask: Asking, store: NoteStore, hands: HandClock) -> None:
    """A write takes some along, a sweep the rest; until then none is counted as active, found or recalled."""
    for number in range(50):
        ask("memory_remember", key=f"k{number}", value="apple", ttl_seconds=10)
    hands.move(10)
    assert ask("memory_search", query="apple")["total_matches"] == 0
    assert ask("memory_list_namespaces")["namespaces"] == [
        {"namespace": "default", "total_entries": 50, "active_entries": 0, "expired_entries": 50}
    ]
    ask("memory_remember", key="new", value="pear", namespace="other")
    assert ask("memory_stats")["expired_entries"] == 30
    assert store.sweep(hands.wall_now, limit=1_000).notes == 30
    assert ask("memory_list_namespaces")["namespaces"] == [
        {"namespace": "other", "total_entries": 1, "active_entries": 1, "expired_entries": 0}
    ]


def test_defect_17_no_limit_is_told_that_is_not_kept_and_nothing_fails_inside(ask: Asking) -> None:
    """Tiers are null, sizes are right in every unit, unknown arguments are named, letters of all scripts are readable."""
    figures = ask("memory_stats")
    assert (figures["free_tier_limit"], figures["pro_tier_limit"]) == (None, None)
    sizes = [0, 1023, 1024, 1024**2, 1024**3, 1024**4, 5 * 1024**5]
    assert [answers.human_size(size) for size in sizes] == [
        "0 B", "1023 B", "1.0 KB", "1.0 MB", "1.0 GB", "1.0 TB", "5.0 PB",
    ]  # fmt: skip
    assert "did you mean namespace" in ask("memory_recall", key="k", namspace="x")["error"]
    ask("memory_remember", key="größe", value="日本語")
    text = ask.tools.memory_recall("größe", format="json").text
    assert "größe" in text
    assert "日本語" in text
