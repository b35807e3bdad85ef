"""Terms: stems, identifiers, scripts without spaces."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.platforms.local.stemming import stem
from memsyncd.platforms.local.stop_words import STOP_WORDS
from memsyncd.platforms.local.terms import MAX_TERMS, fold, split_identifier, terms_of
from memsyncd.platforms.local.vocabulary import alternatives, synonyms


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("max_retries", ["max", "retries"]),
        ("maxRetries", ["max", "retries"]),
        ("HTTPServerError", ["http", "server", "error"]),
        ("app/models/user.py", ["app", "models", "user", "py"]),
        ("memsyncd.hooks", ["memsyncd", "hooks"]),
        ("read-only", ["read", "only"]),
    ],
)
def test_identifiers_are_split_however_they_are_written(identifier: str, parts: list[str]) -> None:
    """Snake, camel, kebab, dotted and slashed names give the same kind of parts."""
    assert split_identifier(identifier) == parts


@pytest.mark.parametrize("spelling", ["maxRetries", "max_retries", "max-retries", "max.retries", "MaxRetries"])
def test_an_identifier_is_kept_whole_in_one_spelling(spelling: str) -> None:
    """Whichever way a name is written, the whole of it is the same term, and its parts are stems."""
    terms = terms_of(f"the value of {spelling} matters")
    assert "max_retries" in terms.words
    assert {"max", "retri"} <= set(terms.parts)


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("デプロイは水曜日", "水曜"),
        ("禁止", "禁止"),
        ("배포는 수요일", "수요"),
        ("必须使用", "使用"),
        ("Größe", "gross"),
        ("arrondi à l'inférieur", "inferieur"),
        ("p95 of 420ms", "420"),
        ("Python 3.11", "3_11"),
    ],
)
def test_terms_of_other_scripts_and_figures(text: str, present: str) -> None:
    """Two neighbouring characters stand for a word where no spaces are written; accents are dropped; units split off."""
    assert present in terms_of(text).all


def test_function_words_of_four_languages_are_no_terms() -> None:
    """What only holds a sentence together is not indexed."""
    assert not terms_of("what is the und oder nicht avec pour nous para los que").all


@given(st.text(max_size=2_000))
def test_any_text_gives_bounded_terms_without_blanks(text: str) -> None:
    """No text raises; the number of terms is bounded; a term is never empty and holds no blank."""
    terms = terms_of(text)
    assert len(terms.words) + len(terms.parts) + len(terms.grams) <= MAX_TERMS + 1
    assert all(term and not any(letter.isspace() for letter in term) for term in terms.all)
    assert isinstance(fold(text), str)


_WORDS = [
    "authentication",
    "authenticate",
    "deployment",
    "relational",
    "conditional",
    "digitizer",
    "vietnamization",
    "predication",
    "feudalism",
    "decisiveness",
    "hopefulness",
    "formality",
    "sensitivity",
    "triplicate",
    "formalize",
    "electricity",
    "revival",
    "allowance",
    "inference",
    "airliner",
    "adjustable",
    "replacement",
    "adjustment",
    "dependent",
    "adoption",
    "communism",
    "activate",
    "effective",
    "bowdlerize",
    "probate",
    "rate",
    "cease",
    "controlling",
    "rolling",
    "happy",
    "sky",
    "caresses",
    "ponies",
    "running",
    "hopping",
    "hoping",
    "agreed",
    "feed",
    "plastered",
    "motoring",
    "sing",
    "falling",
    "sized",
    "tanned",
    "troubled",
    "migrations",
    "caching",
    "policies",
    "retries",
    "failing",
    "configuration",
    "databases",
    "syzygy",
    "employees",
    "layers",
    "ties",
    "bus",
    "gas",
    "flying",
    "dying",
]


@pytest.mark.parametrize("word", _WORDS)
def test_stems_are_those_of_sqlite(word: str) -> None:
    """The stemmer is Porter's: the porter tokenizer of SQLite gives the same."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'row')")
    connection.execute("INSERT INTO texts VALUES(?)", (word,))
    assert connection.execute("SELECT term FROM words").fetchone() == (stem(word),)
    connection.close()


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14))
def test_a_stem_is_never_empty_nor_longer_than_its_word(word: str) -> None:
    """Whatever the letters, something is left, and nothing but a final e is added."""
    assert 0 < len(stem(word)) <= len(word) + 1


def test_word_groups_are_mutual_and_hold_no_stop_word_only() -> None:
    """A word near another has that one near it; rivals exclude each other both ways."""
    for table in (synonyms(), alternatives()):
        assert all(word in table[other] for word, others in table.items() for other in others)
    assert stem("database") in synonyms()[stem("db")]
    assert "und" in STOP_WORDS
