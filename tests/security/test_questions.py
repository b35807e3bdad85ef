"""What a question or a note's name may do: find what its words say, among what the asker may see."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from memsyncd.platforms.local import memories, schema, searching
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.mem0_requests import identity
from memsyncd.platforms.platform import Query, Rejected
from memsyncd.scope.user import user_id
from tests.clocks import HandClock
from tests.security.hostile import ESCAPES, LINES, NAME, SHELL

INJECTIONS = (
    '" OR "1"="1', "' OR '1'='1", "'; DROP TABLE memories; --", '"; DELETE FROM memory_index; --', "zanzibar*", "NEAR(zanzibar bucket, 9)",
    "scope:p*", "{words parts}: zanzibar", "- zanzibar", "^zanzibar", "(((((", '"""""', "zanzibar OR bucket NOT x", "\x00zanzibar", "%", "_", "?", ":1", "$a", "@b",
    "zanzibar AND rowid > 0", "memory_index MATCH 'x'", "x" * 9_000, "* " * 4_000, '" ' * 4_000, NAME, LINES, SHELL, ESCAPES,
)  # fmt: skip


def put(connection: sqlite3.Connection, text: str, **of: Any) -> None:
    fields: dict[str, Any] = {
        "category": "project_knowledge", "lane": "project", "user_id": "ada", "app_id": "shop", "agent_id": "shop-1",
        "run_id": "s1", "packet_id": "p", "batch": 0, "metadata": {}, "score": 1.0, "context": "", "created_at": "2026-12-01T00:00:00Z",
    }  # fmt: skip
    memories.insert(connection, NewMemory(id=text, text=text, **{**fields, **of}))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    opened = schema.open_store(tmp_path / "memory.sqlite3")
    put(opened, "The zanzibar bucket holds the invoices")
    put(opened, "The zanzibar bucket of somebody else", lane="personal", user_id="bob", agent_id="")
    put(opened, "The zanzibar bucket of another project", app_id="other", agent_id="other-1")
    yield opened
    opened.close()


@pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))
def test_a_question_is_words_and_finds_only_what_its_asker_may_see(connection: sqlite3.Connection, text: str) -> None:
    """Quotes, operators and statements of SQL and of its full-text search mean nothing."""
    before = connection.execute("SELECT count(*) FROM memories").fetchone()
    query = Query(f"{text} zanzibar", user_id="ada", app_id="shop", agent_ids=("shop-1",))
    found = [memory.memory for memory in searching.search(connection, query, now=1_800_000_000.0)]
    assert found in (["The zanzibar bucket holds the invoices"], [])
    assert connection.execute("SELECT count(*) FROM memories").fetchone() == before


@pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))
def test_an_identity_is_compared_and_never_looked_for(connection: sqlite3.Connection, text: str) -> None:
    """Whoever could choose a user's, a project's or a session's id sees nothing of others by it."""
    for of in (
        {"user_id": text},
        {"app_id": text},
        {"agent_ids": (text,)},
        {"run_id": text},
        {"directory": text, "scope": "dir"},
    ):
        asked: dict[str, Any] = {"user_id": "nobody", "app_id": "none", "agent_ids": ("none-1",), **of}
        try:
            found = searching.search(connection, Query("zanzibar bucket", **asked), now=1_800_000_000.0)
        except Rejected:
            continue
        assert found == []


@pytest.mark.parametrize("wildcard", ["*", "**", " * ", "a*", "*\u200b"])
def test_no_wildcard_is_an_identity(wildcard: str) -> None:
    """It would mean everybody, on the platform."""
    with pytest.raises(Rejected):
        identity("user", wildcard)
    assert user_id({"USER": "*"}) == "default"


@pytest.mark.parametrize(
    "text", [*INJECTIONS, "../../etc/passwd", "/etc/passwd", "..", ""], ids=range(len(INJECTIONS) + 4)
)
def test_a_note_s_namespace_key_and_question_are_texts(tmp_path: Path, text: str) -> None:
    """Kept as they are or refused with a sentence; no file is made for one, and no other note is touched."""
    store = NoteStore(tmp_path / "memory.sqlite3", HandClock().clock())
    tools = NoteTools(store)
    tools.call("memory_remember", {"namespace": "kept", "key": "k", "value": "v"})
    try:
        for name, arguments in (
            ("memory_remember", {"namespace": text, "key": text, "value": text}),
            ("memory_recall", {"namespace": text, "key": text}),
            ("memory_search", {"query": text, "namespace": text}),
            ("memory_search", {"query": text}),
            ("memory_forget", {"namespace": text, "key": text}),
            ("memory_clear_namespace", {"namespace": text, "confirm": True}),
        ):
            assert tools.call(name, arguments).text
        assert "v" in tools.call("memory_recall", {"namespace": "kept", "key": "k"}).text
    finally:
        store.close()
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"memory.sqlite3"}
    with closing(sqlite3.connect(tmp_path / "memory.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
