"""What is known here of a platform elsewhere: as it told it, for whom it told it, and nothing to be had otherwise."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memsyncd.counters import Counters
from memsyncd.platforms.local import deleting, memories, schema
from memsyncd.platforms.local.local_index import HEARD_AT_ONCE, LocalIndex
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Memory, Message, Query, Rejected
from tests.clocks import HandClock

HOSTED = "mem0 https://api.example.org"
QUERY = Query("which package manager", "ada", "shop", ("shop-1", "shop"))
ADA = {"user_id": "ada", "app_id": "shop"}
TEAM = {"agent_id": "shop-1", "app_id": "shop"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


def opened(path: Path, platform: str = HOSTED, most: int = 100) -> LocalIndex:
    return LocalIndex(path, HandClock().clock(), Counters(), platform=platform, redact=str, most=most)


@pytest.fixture
def index(path: Path) -> Iterator[LocalIndex]:
    made = opened(path)
    yield made
    made.close()


def memory(name: str, text: str = "The package manager is pnpm.", **metadata: Any) -> Memory:
    return Memory(name, text, "project_knowledge", 0.9, "2026-01-02T03:04:05Z", metadata)


def ids(found: Sequence[Memory]) -> set[str]:
    return {each.id for each in found}


def rows(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT id, platform, lane, run_id FROM memories ORDER BY id").fetchall()
    connection.close()
    return found


def test_what_was_told_is_found_as_it_was_told(index: LocalIndex) -> None:
    """Id, text, category, time and metadata are the platform's; only the score is the index's own."""
    index.remember(QUERY, [memory("m1", branch="main", **TEAM)])
    (found,) = index.search(replace(QUERY, text="what manages packages?"))
    assert (found.id, found.memory, found.category) == ("m1", "The package manager is pnpm.", "project_knowledge")
    assert found.created_at == "2026-01-02T03:04:05Z"
    assert found.metadata["branch"] == "main"


def test_each_memory_is_found_in_its_own_lanes_only(index: LocalIndex) -> None:
    """The lanes are those that the platform names; one of which it does not say is not among what is only mine."""
    index.remember(
        QUERY,
        [
            memory("mine", **ADA),
            memory("ours", **TEAM, dirs=["web"]),
            memory("both", **ADA, agent_id="shop-1"),
            memory("unsaid", dirs=["web", "web/src"]),
        ],
    )
    found = {
        "repo": ids(index.search(QUERY)),
        "mine": ids(index.search(replace(QUERY, scope="mine"))),
        "web": ids(index.search(replace(QUERY, scope="dir", directory="web"))),
        "we": ids(index.search(replace(QUERY, scope="dir", directory="we"))),
        "colleague": ids(index.search(replace(QUERY, user_id="bob"))),
        "elsewhere": ids(index.search(replace(QUERY, app_id="other"))),
        "not shared": ids(index.search(replace(QUERY, agent_ids=()))),
    }
    assert found == {
        "repo": {"mine", "ours", "both", "unsaid"},
        "mine": {"mine", "both"},
        "web": {"mine", "ours", "both", "unsaid"},
        "we": {"mine", "both"},
        "colleague": {"ours", "both"},
        "elsewhere": set(),
        "not shared": {"mine", "both", "unsaid"},
    }


@pytest.mark.parametrize(
    "told",
    [
        memory("m", user_id="bob", app_id="shop"),
        memory("m", agent_id="other-team", app_id="shop"),
        memory("m", user_id="ada", app_id="other"),
        memory("", **ADA),
        memory("m", " ", **ADA),
    ],
)
def test_what_the_asker_may_not_see_is_not_kept(index: LocalIndex, path: Path, told: Memory) -> None:
    """A platform that answers too much does not widen what is known here."""
    index.remember(QUERY, [told, memory("good", **ADA)])
    assert [row[0] for row in rows(path)] == ["good"]


@pytest.mark.parametrize("query", [replace(QUERY, category="results"), replace(QUERY, run_id="s2")])
def test_a_narrower_question_stays_narrow(index: LocalIndex, query: Query) -> None:
    """Category and session narrow here as there (facts 5.28, 13.12)."""
    index.remember(QUERY, [memory("m", run_id="s1", **TEAM)])
    assert index.search(query) == []
    assert ids(index.search(replace(QUERY, run_id="s1", category="project_knowledge"))) == {"m"}


@pytest.mark.parametrize(
    "query", [replace(QUERY, user_id="*"), replace(QUERY, run_id="\uff0a"), replace(QUERY, agent_ids=(" ** ",))]
)
def test_a_wildcard_is_refused(index: LocalIndex, query: Query) -> None:
    """As the platform's own search refuses it (facts 5.27)."""
    with pytest.raises(Rejected, match="wildcard"):
        index.search(query)


def test_platforms_and_the_embedded_one_do_not_see_each_other(path: Path, index: LocalIndex) -> None:
    """One file, and yet each answers only with its own, also after the settings went from one to the other."""
    index.remember(QUERY, [memory("hosted", **TEAM)])
    other = opened(path, "mem0-server http://memory.example.org")
    other.remember(QUERY, [memory("server", **TEAM), memory("hosted", "The package manager is npm.", **TEAM)])
    embedded = LocalPlatform(path, HandClock().clock())
    batch = Batch("p", 0, [Message("user", "We use yarn as package manager.")], "ada", "shop", "shop-1", "s", {})
    embedded.extraction(embedded.add(batch).event_id)
    assert ids(index.search(QUERY)) == {"hosted"}
    assert ids(other.search(QUERY)) == {"server"}
    assert [each.memory for each in embedded.search(QUERY)] == ["We use yarn as package manager."]
    assert embedded.delete("hosted") is False
    assert ids(index.search(QUERY)) == {"hosted"}
    other.close()
    embedded.close()


def test_the_newest_word_counts_and_an_unsaid_lane_changes_none(index: LocalIndex, path: Path) -> None:
    """A changed text replaces the old one; an extraction that tells no lane does not take one away."""
    index.learn([memory("m")], Asker("ada", "shop", ("shop-1",), "s1"))
    assert rows(path) == [("m", HOSTED, "unplaced", "s1")]
    index.remember(QUERY, [memory("m", run_id="s1", **TEAM)])
    index.learn([memory("m")], Asker("ada", "shop", ("shop-1",), "s1"))
    assert rows(path) == [("m", HOSTED, "project", "s1")]
    index.remember(QUERY, [memory("m", "The package manager is npm.", run_id="s1", **TEAM)])
    assert [each.memory for each in index.search(QUERY)] == ["The package manager is npm."]


def test_a_repeated_answer_writes_nothing(index: LocalIndex, path: Path) -> None:
    """Every recall tells the same memories again: not a byte changes."""
    index.remember(QUERY, [memory("m", **TEAM)])
    with sqlite3.connect(path) as connection:
        before = connection.execute("PRAGMA data_version").fetchone()
        index.remember(QUERY, [replace(memory("m", **TEAM), score=0.1)])
        assert connection.execute("PRAGMA data_version").fetchone() == before
    connection.close()


@pytest.mark.parametrize(("bury", "found"), [(True, {"n"}), (False, {"m", "n"})])
def test_what_is_forgotten_by_its_id_stays_forgotten(
    index: LocalIndex,
    path: Path,
    bury: bool,
    found: set[str],
) -> None:
    """A late answer of the platform does not bring it back; what only went with its session may be told anew."""
    index.remember(QUERY, [memory("m", **TEAM), memory("n", **TEAM)])
    connection = schema.connect(path)
    assert memories.delete(connection, "m", "2026-01-01T00:00:00Z", bury=bury, platform=HOSTED)
    connection.close()
    assert ids(index.search(QUERY)) == {"n"}
    index.remember(QUERY, [memory("m", **TEAM)])
    assert ids(index.search(QUERY)) == found


def test_the_oldest_make_room(path: Path) -> None:
    """A platform's memories are bounded, and what went is counted."""
    counters = Counters()
    index = LocalIndex(path, HandClock().clock(), counters, platform=HOSTED, redact=str, most=3)
    times = ["2026-01-03", "2026-01-01", "2026-01-05", "2026-01-02", "2026-01-04"]
    index.remember(QUERY, [replace(memory(day, **TEAM), created_at=f"{day}T00:00:00Z") for day in times])
    assert [row[0] for row in rows(path)] == ["2026-01-03", "2026-01-04", "2026-01-05"]
    assert counters.snapshot() == {"mirrored_dropped": 2}
    index.close()


def test_a_file_in_use_costs_the_answer_nothing(path: Path) -> None:
    """What cannot be kept within a moment is counted, and kept when it is told again."""
    counters = Counters()
    index = LocalIndex(path, HandClock().clock(), counters, platform=HOSTED, redact=str)
    index.search(QUERY)
    other = schema.connect(path)
    other.execute("BEGIN IMMEDIATE")
    index.remember(QUERY, [memory("m", **TEAM)])
    other.execute("ROLLBACK")
    other.close()
    assert counters.snapshot() == {"mirrored_failed": 1}
    index.remember(QUERY, [memory("m", **TEAM)])
    assert ids(index.search(QUERY)) == {"m"}
    index.close()


def test_texts_are_redacted_before_they_are_kept(path: Path) -> None:
    """Whoever put a secret on the platform, it does not come to lie here too."""
    index = LocalIndex(
        path,
        HandClock().clock(),
        Counters(),
        platform=HOSTED,
        redact=lambda text: text.replace("hunter", "[REDACTED]"),
    )
    index.remember(QUERY, [memory("m", "The package password is hunter.", **TEAM)])
    assert [each.memory for each in index.search(QUERY)] == ["The package password is [REDACTED]."]
    index.close()


def test_a_file_of_the_first_version_is_brought_up(path: Path) -> None:
    """Memories made before there was an index are the embedded platform's, and are found."""
    connection = sqlite3.connect(path)
    connection.executescript(schema._TABLES[0] + "; PRAGMA user_version = 1")
    connection.close()
    embedded = LocalPlatform(path, HandClock().clock())
    batch = Batch("p", 0, [Message("user", "We use yarn as package manager.")], "ada", "shop", "shop-1", "s", {})
    embedded.extraction(embedded.add(batch).event_id)
    assert len(embedded.search(QUERY)) == 1
    embedded.close()
    assert [row[1] for row in rows(path)] == ["local"]


def test_what_was_heard_is_found_at_once_and_kept_together(path: Path) -> None:
    """Small news of many deliveries wait for one commit; a search, a settle, much of it or the end brings that about."""
    index, asker = opened(path, most=1_000), Asker("ada", "shop", ("shop-1",), "s1")
    assert ids(index.search(QUERY)) == set()
    index.hear([memory("m")], asker)
    assert rows(path) == []
    assert ids(index.search(QUERY)) == {"m"}
    index.hear([memory(f"n{number}") for number in range(HEARD_AT_ONCE + 1)], asker)
    assert len(rows(path)) == HEARD_AT_ONCE + 2
    index.hear([memory("last")], asker)
    index.close()
    assert len(rows(path)) == HEARD_AT_ONCE + 3


def test_what_is_heard_of_a_forgotten_packet_goes_with_it(path: Path) -> None:
    """By the packet it was made of, wherever the platform's own words name none; no page or log keeps its text."""
    index = opened(path)
    index.hear([memory("m", "The package manager is zanzibarquux.")], Asker("ada", "shop", ("shop-1",), "s1", "p1"))
    index.hear([memory("n")], Asker("ada", "shop", ("shop-1",), "s1", "p2"))
    index.settle()
    assert deleting.delete_late(path, ["p1"], at="2026-01-02T03:04:05Z") == 1
    assert ids(index.search(QUERY)) == {"n"}
    assert not [each.name for each in path.parent.iterdir() if b"zanzibarquux" in each.read_bytes()]
    index.close()


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "odd",
    [
        {"dirs": 7}, {"dirs": {"a": 1}}, {"dirs": "src"}, {"dirs": [7, "src", None]}, {"branch": ["main"]}, {"run_id": 7},
        {"x": nested(5_000)}, {"x": float("nan")},
    ],
)  # fmt: skip
def test_metadata_of_any_kind_costs_no_answer(index: LocalIndex, odd: dict[str, Any]) -> None:
    """A search that found such a memory is answered, and the memory is known; by a directory only where it names one."""
    index.remember(QUERY, [memory("odd", **TEAM, **odd), memory("sound", **TEAM, dirs=["src"])])
    assert ids(index.search(QUERY)) == {"odd", "sound"}
    within = ids(index.search(replace(QUERY, scope="dir", directory="src")))
    assert within == ({"odd", "sound"} if odd.get("dirs") == [7, "src", None] else {"sound"})
