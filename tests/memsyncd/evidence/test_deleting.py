"""Deleting a session's or a repository's evidence: no row, no byte, and no way back for the same event."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.evidence.deleting import Whose
from memsyncd.evidence.event import Scope
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.retrievals import Shown
from memsyncd.evidence.schema import FIRST_PROMPT_SEARCH
from memsyncd.evidence.store import EvidenceStore
from tests.memsyncd.evidence.conftest import NewEventMaker

OTHER = Scope("https://git.example.org/team/other", "team-other", "team-other-0123456789", "/w/other")


def test_a_session_goes_from_every_table_and_its_neighbours_stay(
    store: EvidenceStore, new_event: NewEventMaker, own_path: Path
) -> None:
    """Events, packets with their posts, scope and operations; the counts say how many of each."""
    for session in ("s-1", "s-2"):
        store.append(
            [new_event("user_prompt", f"word-of-{session}", session), new_event("assistant_stop", "x", session)]
        )
        packet = store.prepare(session, "manual", list)
        assert packet is not None
        store.begin_post(packet.packet_id, 0, 1.0)
        store.record_operation(Operation("flush", session_id=session, repo_id=OTHER.repo_id))
    found = store.belongings(Whose(session_id="s-1"))
    assert (found.sessions, len(found.packets), len(found.open_packets)) == (["s-1"], 1, 1)
    deleted = store.forget(Whose(session_id="s-1"))
    assert deleted == {"events": 2, "session_scopes": 1, "flushes": 1, "operations": 1} == dict(found.rows)
    assert store.scope("s-1") is None and store.scope("s-2") is not None
    with closing(sqlite3.connect(own_path)) as connection:
        assert connection.execute("SELECT count(*) FROM memsyncd_posts").fetchone() == (2,)


def test_no_byte_of_it_is_left_in_the_file_or_its_log(
    store: EvidenceStore, new_event: NewEventMaker, own_path: Path
) -> None:
    """And the file is smaller than before."""
    store.append([new_event("user_prompt", f"zanzibar {'x' * 2_000}", "s-1") for _ in range(200)])
    store.checkpoint()
    before = own_path.stat().st_size
    store.forget(Whose(session_id="s-1"))
    store.give_back_space()
    files = [own_path, Path(f"{own_path}-wal")]
    assert not any(b"zanzibar" in file.read_bytes() for file in files)
    assert own_path.stat().st_size < before / 4 and files[1].stat().st_size == 0


def test_the_same_event_told_again_is_known_also_after_a_restart(
    store: EvidenceStore, new_event: NewEventMaker, own_path: Path
) -> None:
    """By its handoff and by its turn; another turn of the same session is stored."""
    event = new_event("user_prompt", "zanzibar", duplicate_key="user_prompt:p1:")
    store.append([event])
    store.forget(Whose(session_id="s-1"))
    store.close()
    with closing(EvidenceStore.open(own_path, own=True, clock=Clock())) as again:
        assert again.append([event]).inserted == 0
        assert again.append([replace(event, handoff_id="anew")]).inserted == 0
        assert again.append([replace(event, duplicate_key="")]).inserted == 0
        assert again.append([replace(event, handoff_id="anew", duplicate_key="user_prompt:p2:")]).inserted == 1


def test_a_repository_goes_with_all_its_sessions(store: EvidenceStore, new_event: NewEventMaker, scope: Scope) -> None:
    """Those of another repository stay; forgetting it again finds nothing."""
    store.append([new_event("user_prompt", "a", "s-1"), new_event("user_prompt", "b", "s-2")])
    store.append([new_event("user_prompt", "c", "s-3", scope=OTHER)])
    assert store.forget(Whose(repo_id=scope.repo_id)) == {"events": 2, "session_scopes": 2}
    assert store.forget(Whose(repo_id=scope.repo_id)) == {}
    assert store.counts()["events"] == 1


def test_what_other_sessions_were_shown_goes_by_the_memorys_id(store: EvidenceStore, own_path: Path) -> None:
    """The words go, of others' recalls too; that a session had its recall stays, and so do other memories."""
    recall = Operation(FIRST_PROMPT_SEARCH, "s-1", OTHER.repo_id)
    store.record_recall(recall, [Shown("m-1", "zanzibar"), Shown("m-2", "marmalade")])
    store.record_recall(replace(recall, session_id="s-2"), [Shown("m-1", "zanzibar")])
    assert store.count_shown(["m-1"], Whose()) == 2
    assert store.count_shown(["m-1"], Whose(session_id="s-1")) == 1
    assert store.count_shown(["m-1"], Whose(repo_id=OTHER.repo_id)) == 0 == store.count_shown(["", "m-9"], Whose())
    assert store.forget_shown(["m-1"]) == 2 and store.forget_shown(["m-1"]) == 0
    assert [shown.memory_id for shown in store.recalled("s-1").shown] == ["m-2"]
    assert store.recalled("s-2").is_answered
    store.give_back_space()
    assert not any(b"zanzibar" in path.read_bytes() for path in (own_path, Path(f"{own_path}-wal")))


def test_nobody_is_not_everybody(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """Whose with no name deletes nothing."""
    store.append([new_event("user_prompt", "a")])
    assert store.forget(Whose()) == {} and store.counts()["events"] == 1


def test_a_plugins_file_gets_no_table_of_ours(tmp_path: Path) -> None:
    """Its rows go all the same, by the columns it has."""
    path = tmp_path / "evidence.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE events(id INTEGER PRIMARY KEY, repo_id TEXT, session_id TEXT, kind TEXT, payload_json TEXT,"
            " flush_id TEXT);"
            "CREATE TABLE flushes(packet_id TEXT PRIMARY KEY, repo_id TEXT, session_id TEXT, reason TEXT,"
            " event_start INTEGER, event_end INTEGER, status TEXT, semantic_event_id TEXT);"
            "CREATE TABLE retrievals(session_id TEXT, memory_id TEXT, memory_text TEXT);"
            "INSERT INTO events VALUES (1, 'r', 's', 'user_prompt', '{}', NULL), (2, 'q', 't', 'user_prompt', '{}', NULL);"
            "INSERT INTO retrievals VALUES ('s', 'm', 'words'), ('t', 'm', 'words');"
        )
    with closing(EvidenceStore.open(path, own=False, clock=Clock())) as store:
        assert store.forget(Whose(session_id="s")) == {"events": 1, "retrievals": 1}
        assert store.forget(Whose(repo_id="q")) == {"events": 1}
        store.give_back_space()
    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"events", "flushes", "retrievals"}
