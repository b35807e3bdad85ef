"""What is found by which words, in which order, and among how many."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsyncd.platforms.local import memories, ranking, schema, searching
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.local.terms import terms_of
from memsyncd.platforms.platform import Query

NOW = 1_800_000_000.0


class Store:
    """Memories of the project's lane, put in without any extraction."""

    def __init__(self, path: Path) -> None:
        self.connection = schema.open_store(path)

    def put(self, *texts: str, created_at: str = "2026-12-01T00:00:00Z", seen: int = 1, **of: Any) -> None:
        """Store texts; their ids are the texts."""
        fields: dict[str, Any] = {
            "category": "project_knowledge", "lane": "project", "user_id": "ada", "app_id": "shop", "agent_id": "shop-1",
            "run_id": "s1", "packet_id": "p", "batch": 0, "metadata": {}, "score": 1.0, "context": "",
        }  # fmt: skip
        for text in texts:
            number = memories.insert(
                self.connection, NewMemory(id=text, text=text, created_at=created_at, **{**fields, **of})
            )
            self.connection.execute("UPDATE memories SET seen = ? WHERE number = ?", (seen, number))

    def find(self, text: str, **of: Any) -> list[str]:
        """Return the texts found, best first."""
        asked: dict[str, Any] = {"user_id": "ada", "app_id": "shop", "agent_ids": ("shop-1",), **of}
        return [memory.memory for memory in searching.search(self.connection, Query(text, **asked), now=NOW)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "memory.sqlite3")
    yield made
    made.connection.close()


OTHERS = (
    "Releases go out on Tuesdays.",
    "Постоянные клиенты получают скидку.",
    "会議は毎週月曜日です。",
    "Kunden zahlen per Rechnung.",
)


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        # inflected words
        ("The migrations are run by the release job.", "who runs a migration"),
        ("Retrying failed deliveries is the worker's task.", "what retries a failed delivery?"),
        ("Die Messwerte werden gerundet.", "Messwert runden"),
        ("Les montants sont arrondis.", "arrondir le montant"),
        ("Las facturas se envían cada mes.", "factura enviada"),
        ("Миграции базы запускает отдельный сервис.", "кто запускает миграцию"),
        # identifiers and paths, in any spelling
        ("`max_retry_count` is 5.", "maxRetryCount"),
        ("`maxRetryCount` is 5.", "max_retry_count"),
        ("`maxRetryCount` is 5.", "what is the retry count"),
        ("HTTPServerError is raised by the gateway.", "http_server_error"),
        ("The parser is in src/billing/tax_rules.py.", "tax_rules.py"),
        ("The parser is in src/billing/tax_rules.py.", "src/billing/tax_rules.py"),
        ("The parser is in src/billing/tax_rules.py.", "billing tax rules"),
        ("Use `--no-verify-ssl` against the mock.", "no_verify_ssl"),
        ("C:\\Users\\build\\cache holds the wheels.", "users build cache"),
        ("The tool needs Python 3.11.", "python 3.11"),
        ("Pin numpy==1.26.4 in the image.", "numpy 1.26.4"),
        # other scripts
        ("デプロイは水曜日に行います。", "デプロイはいつ"),
        ("数据库每天凌晨备份。", "数据库备份"),
        ("数据库每天凌晨备份。", "备"),
        ("배포는 수요일에 진행합니다.", "배포"),
        ("ฐานข้อมูลสำรองทุกคืน", "ฐานข้อมูล"),
        ("\u0397 βάση δεδομένων κλειδώνει.", "βαση δεδομενων"),
        ("قاعدة البيانات مُشَفَّرة.", "مشفرة"),
        ("מסד הנתונים מוצפן.", "מוצפן"),
        ("डेटाबेस का बैकअप रात में होता है।", "डेटाबेस बैकअप"),
        ("\U0001e922\U0001e923\U0001e924 is a name in Adlam.", "\U0001e922\U0001e923\U0001e924"),
        ("Größenänderung läuft über den Worker.", "grossenanderung"),
        ("The\u0301 caf\u00e9 service restarts nightly.", "cafe"),
    ],
)  # fmt: skip
def test_the_memory_is_found(store: Store, memory: str, question: str) -> None:
    """Whatever the form, the spelling or the script of its words, and none of the others comes before it."""
    store.put(*OTHERS, memory)
    assert store.find(question)[:1] == [memory]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_text_can_be_stored_and_asked_for(store: Store, text: str) -> None:
    """Every character of every script: what has a term at all is found by itself, and nothing raises."""
    store.connection.execute("BEGIN")
    store.put(text)
    found = store.find(text)
    store.connection.execute("ROLLBACK")
    assert found == ([text] if terms_of(text).all else [])


def test_what_shares_no_word_is_not_found(store: Store) -> None:
    """No memory is better than any memory."""
    store.put(*OTHERS)
    assert store.find("kubernetes ingress") == []
    assert store.find("the of and") == []
    assert store.find("☃ … !?") == []


def test_relevance_comes_first_then_recency_then_use(store: Store) -> None:
    """One more rare word outweighs any age and use; of equals the newer, then the more often said comes first."""
    store.put("The cache holds prices.", created_at="2026-12-30T00:00:00Z", seen=50)
    store.put("The cache holds session tokens.", created_at="2020-01-01T00:00:00Z")
    assert store.find("where are session tokens in the cache")[0] == "The cache holds session tokens."
    store.put("Old queue limit.", created_at="2024-01-01T00:00:00Z")
    store.put("New queue limit.", created_at="2026-12-30T00:00:00Z")
    assert store.find("queue limit") == ["New queue limit.", "Old queue limit."]
    store.put("Rare worker pool.", created_at="2026-12-30T00:00:00Z", seen=1)
    store.put("Frequent worker pool.", created_at="2026-12-30T00:00:00Z", seen=30)
    store.put("Late worker pool.", created_at="2026-12-30T00:00:00Z", seen=1)
    assert store.find("worker pool")[0] == "Frequent worker pool."


def test_a_long_prompt_finds_what_its_rare_word_names(store: Store) -> None:
    """6,000 characters of common words around one that matters, wherever it stands, and words nobody ever said."""
    chance = random.Random(1)
    common = ["cache", "queue", "limit", "worker", "price", "session", "deploy", "release"]
    store.put(*(f"{chance.choice(common)} {chance.choice(common)} number {number}" for number in range(300)))
    store.put("The quetzal exporter needs a second connection.")
    noise = [f"{chance.choice(common)} {''.join(chance.choices('bcdfghjkl', k=9))}" for _ in range(300)]
    for place in (0, 150, 300):
        prompt = " ".join([*noise[:place], "quetzal", *noise[place:]])
        assert 5_000 < len(prompt) <= 6_000
        assert store.find(prompt)[0] == "The quetzal exporter needs a second connection."


@pytest.mark.parametrize("few", [0, 1_000_000])
def test_both_ways_of_filtering_find_the_same(store: Store, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """A small project's memories by the index, a large one's row by row: nobody else's, in the same order."""
    monkeypatch.setattr(searching, "FILTERED_BY_INDEX", few)
    for number in range(30):
        store.put(f"The limit of region {number} is {number}.", app_id="other", agent_id="other-1")
        store.put(f"A private limit of {number}.", lane="personal", user_id="bob")
    store.put("The limit of uploads is 10 MB.", metadata={"dirs": ["web", "web/src"]})
    store.put("My limit is my own.", lane="personal")
    store.put("The limit of jobs is 7.", run_id="s2", category="results")
    assert set(store.find("what is the limit")) == {
        "The limit of uploads is 10 MB.",
        "My limit is my own.",
        "The limit of jobs is 7.",
    }
    assert store.find("what is the limit", scope="mine") == ["My limit is my own."]
    in_web = store.find("what is the limit", scope="dir", directory="web/src")
    assert set(in_web) == {"The limit of uploads is 10 MB.", "My limit is my own."}
    assert store.find("what is the limit", run_id="s2", category="results") == ["The limit of jobs is 7."]


def test_a_term_far_more_common_elsewhere_is_found_here(store: Store) -> None:
    """The index filters it, where reading its whole list would take too long."""
    store.put(*(f"limit {number}" for number in range(60)), app_id="other", agent_id="other-1")
    store.put("The limit here is 5.")
    assert store.find("limit") == ["The limit here is 5."]


@pytest.mark.parametrize(
    ("documents", "kept"),
    [
        ({}, ["w0", "w1", "w2"]),
        ({"w39": 5, "w7": 1, "w1": 900}, ["w1", "w7", "w39"]),
    ],
)
def test_of_many_words_the_rarest_held_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, documents: dict[str, int], kept: list[str]
) -> None:
    """In the order of the prompt; words that no memory holds come last."""
    monkeypatch.setattr(ranking, "MAX_QUERY_WORDS", 3)
    weights = {f"w{number}": 1.0 for number in range(40)}
    assert [word.term for word in ranking.question_words(weights, documents)] == kept
