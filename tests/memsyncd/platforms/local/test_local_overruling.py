"""Which decisions overrule each other, and that what was overruled is not lost."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.platforms.local import deleting, exchange
from memsyncd.platforms.local.deleting import Whose
from memsyncd.platforms.local.exchange import Arrival, Intake
from memsyncd.platforms.local.incoming import incoming
from memsyncd.platforms.local.merge import Relation, claim_of, relation
from memsyncd.platforms.platform import Query
from tests.memsyncd.platforms.local.stored import NOW, Store, assert_index_is_whole

DECISION = "decisions_and_constraints"

APART = [
    ("Always use spaces in Python files, four of them.", "Always use tabs in Go files, never spaces."),
    ("Always use spaces in Python files.", "Always use tabs in Go files."),
    ("In the docs folder always use npm.", "In the web folder always use pnpm."),
    ("In the docs folder always use npm.", "We switched from npm to pnpm in the web folder."),
    ("Step 1 of the import takes 10 minutes.", "Step 2 of the import takes 20 minutes."),
    ("Step 1 takes 10 minutes.", "Step 2 takes 10 minutes."),
    ("We use Redis for the session cache.", "We use Memcached for the page cache."),
    ("Service 1 listens on port 4712.", "Service 2 listens on port 4713."),
    ("Service 1 listens on port 4712.", "Service 2 now listens on port 4713."),
    ("Service 1 runs in the Oslo region.", "Service 2 runs in the Oslo region."),
    ("Staging runs on AWS.", "Production runs on GCP."),
    ("Staging runs on AWS.", "Production runs on AWS."),
    ("Never deploy the API on Fridays.", "Never deploy the website on Mondays."),
    ("Never deploy the API on Fridays.", "Never deploy the API on Mondays."),
    ("Queue A keeps 5 messages.", "Queue B keeps 7 messages."),
    ("Queue A is drained by hand.", "Queue B is drained by hand."),
    ("Queue A holds mails for 5 days.", "Queue B holds mails for 5 days."),
    ("The API package is tested with jest.", "The web package is tested with vitest."),
    ("Use jest in the api package.", "Use vitest in the web package."),
    ("Never use npm for installs.", "Never use yarn for installs."),
    ("On Mondays the backup is full.", "On Tuesdays the backup is full."),
    ("The stand-up on Monday is at 9.", "The stand-up on Tuesday is at 9."),
    ("The app supports English in the menu.", "The app supports German in the menu."),
    ("Redis is installed on the build host.", "Memcached is installed on the build host."),
    ("Open port 8080 in the firewall.", "Open port 9090 in the firewall."),
    ("Port 8080 is for the API.", "Port 9090 is for the API."),
    ("Turn the cache on in staging before the import.", "Turn the cache off in staging before the import."),
    ("Run the linter before the tests in the pipeline.", "Run the linter after the tests in the pipeline."),
    ("Alert the team above 80 % disk use.", "Alert the team below 20 % disk use."),
    (
        "Always run the linter and the type checker before pushing in the web folder.",
        "Always run the linter and the type checker before pushing in the docs folder.",
    ),
    ("Always run the linter before pushing.", "Always run the linter before pushing in the docs folder."),
    (
        "Use Redux for client state in the admin app.",
        "We switched from Redux to signals for client state in the shop app.",
    ),
    ("We use Redux for client state.", "We switched from Redux to signals in the admin app."),
    ("Answer in English in code review.", "Answer in German in support mails."),
    ("The timeout for uploads is 30 s.", "The timeout for downloads is 60 s."),
    ("The timeout is 30 s for uploads.", "The timeout is now 60 s for downloads."),
    ("Retry payments 3 times after 10 seconds.", "Retry mails 5 times after 10 seconds."),
    ("Never restart host3 by hand.", "Never restart host4 by hand."),
    ("Releases of the app are cut on Tuesdays.", "Releases of the site are cut on Thursdays."),
    ("Deploy main to production with terraform.", "Deploy develop to staging with terraform."),
    ("Tenants in Germany pay in euros.", "Tenants in Peru pay in dollars."),
    ("Never commit to main in the shop repository.", "Commit to main in the docs repository."),
    ("Write the exporter's files as JSON.", "Write the importer's files as YAML."),
    ("Level 1 support answers within 4 hours.", "Level 2 support answers within 8 hours."),
]
"""Two things: the older says nothing about what the newer speaks of, or something else that still holds."""

OVERRULED = [
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Indent with tabs, not spaces.", "Indent with spaces, not tabs."),
    ("The API listens on port 8080.", "The API now listens on port 9090."),
    ("The API port is 8080", "The API port is 9090"),
    ("We use Redux for client state.", "We switched from Redux to signals for client state."),
    ("Releases are cut on Tuesday mornings.", "Releases are cut on Thursday mornings."),
    ("Never squash commits before a merge.", "Squash commits before a merge."),
    ("Sessions are kept for 30 days in the store.", "From now on sessions are kept for 90 days in the store."),
    ("In the web folder always use npm.", "In the web folder always use pnpm."),
    ("In the web folder always use npm.", "We now always use pnpm in the web folder."),
    ("The upload limit is 10 MB.", "We raised the upload limit to 20 MB."),
    ("Step 1 of the import takes 10 minutes.", "Step 1 of the import now takes 20 minutes."),
    ("Service 1 listens on port 4712.", "Service 1 listens on port 4800."),
    ("Staging runs on AWS.", "Staging now runs on GCP."),
    ("We use Redis for the session cache.", "Use Memcached instead of Redis for the session cache."),
    ("Test the web package with jest.", "Test the web package with vitest, not jest."),
    ("Always deploy the API on Fridays.", "Never deploy the API on Fridays."),
    ("Queue A keeps 5 messages.", "Queue A now keeps 7 messages."),
    ("Use npm in this repository.", "We replaced npm with pnpm in this repository."),
    ("Answer in English in code review.", "From now on answer in German in code review."),
    ("A search must answer within 200 ms.", "A search must answer within 300 ms."),
    ("Never merge with fewer than 2 approvals.", "Never merge with fewer than 3 approvals."),
    ("The nightly backup runs at 3:00.", "The nightly backup runs at 4:30."),
    ("We use Redux for client state.", "We no longer use Redux for client state."),
    ("Feature flags live in JSON files.", "Feature flags live in YAML files."),
    ("Wir nutzen npm im Frontend.", "Wir nutzen jetzt pnpm im Frontend."),
]
"""One thing, whose value changed: in the very same words, or in words that say a change."""

TABS, SPACES = "Always use tabs for indentation.", "Always use spaces for indentation."


def between(old: str, new: str) -> Relation:
    return relation(claim_of(new, DECISION), claim_of(old, DECISION), lambda _: 1.0)


def found(store: Store, question: str) -> set[str]:
    return {each.memory for each in store.platform.search(Query(question, "ada", "tool", ("tool-1",), top_k=20))}


def rows(store: Store) -> dict[str, str]:
    """Return what the export tells: each memory's words and the id of what overrules it."""
    return {row["memory"]: row.get("superseded_by", "") for row in exchange.rows(store.path)}


def identity(store: Store, text: str) -> str:
    return next(
        str(row["id"]) for row in exchange.rows(store.path) if row["memory"] == text and "superseded_by" not in row
    )


def forget(store: Store, text: str) -> None:
    deleting.delete(store.path, Whose(memory_id=identity(store, text)), at=NOW)


@pytest.mark.parametrize(("old", "new"), APART)
def test_a_differing_qualifier_makes_two(old: str, new: str) -> None:
    """A folder, a language, an environment, a number, a step, a weekday or a letter: whichever of both came first."""
    assert between(old, new) is Relation.DIFFERENT
    assert between(new, old) is Relation.DIFFERENT


@pytest.mark.parametrize(("old", "new"), OVERRULED)
def test_another_value_for_the_same_overrules(old: str, new: str) -> None:
    """The newest word counts where nothing but the value differs."""
    assert between(old, new) is Relation.OVERRULES


def test_different_decisions_told_in_a_row_are_all_kept(store: Store) -> None:
    """In the store as one by one: the terms' rarity and the others around them decide nothing."""
    for number, pair in enumerate(APART):
        for each, text in enumerate(pair):
            store.tell(f"s{number}.{each}", f"We decided: {text}", app=f"tool{number}")
    kept = rows(store)
    assert not any(kept.values())
    assert [text for pair in APART for text in pair if not any(text.rstrip(".") in each for each in kept)] == []


def test_what_was_overruled_is_exported_with_what_overrules_it(store: Store) -> None:
    """After those that are found, and named so that it can be looked at and forgotten."""
    store.tell("s1", TABS)
    store.tell("s2", SPACES)
    assert rows(store) == {SPACES: "", TABS: identity(store, SPACES)}
    assert found(store, "indentation") == {SPACES}


def test_forgetting_the_newer_brings_the_older_back(store: Store) -> None:
    """By its id or with its session; of several changes, the one before."""
    for number, text in enumerate([TABS, SPACES, TABS]):
        store.tell(f"s{number}", text)
    assert found(store, "indentation") == {TABS}
    deleting.delete(store.path, Whose(run_id="s2"), at=NOW)
    assert found(store, "indentation") == {SPACES}
    forget(store, SPACES)
    assert found(store, "indentation") == {TABS} and rows(store) == {TABS: ""}
    assert_index_is_whole(store.path)


def test_forgetting_one_in_between_leaves_the_first_hidden(store: Store) -> None:
    """By what overruled that one: the newest word stays the only one."""
    for number, day in enumerate(["Mondays", "Tuesdays", "Thursdays"]):
        store.tell(f"s{number}", f"Releases are always cut on {day}.")
    first, last = "Releases are always cut on Mondays.", "Releases are always cut on Thursdays."
    deleting.delete(store.path, Whose(run_id="s1"), at=NOW)
    assert rows(store) == {last: "", first: identity(store, last)} and found(store, "releases") == {last}
    forget(store, last)
    assert found(store, "releases") == {first}
    assert_index_is_whole(store.path)


def test_what_is_forgotten_does_not_come_back_from_what_it_was_hidden_by(store: Store) -> None:
    """The same content, said and overruled before, goes with it."""
    for number, text in enumerate([TABS, SPACES, TABS]):
        store.tell(f"s{number}", text)
    forget(store, TABS)
    forget(store, SPACES)
    assert rows(store) == {}
    assert_index_is_whole(store.path)


def test_what_was_overruled_is_hidden_where_it_is_brought_in(store: Store, tmp_path: Path) -> None:
    """And found there once what overrules it is forgotten, or where that was not taken in."""
    for number, day in enumerate(["Mondays", "Tuesdays", "Thursdays"]):
        store.tell(f"s{number}", f"Releases are always cut on {day}.")
    given = [incoming(row, clean=str, now=2e9) for row in exchange.rows(store.path)]
    other = Store(tmp_path / "other.sqlite3")
    with closing(Intake(other.path, is_forgotten=lambda _: False)) as intake:
        assert intake.take_in(given) == [Arrival.BROUGHT] * 3
    assert list(exchange.rows(other.path)) == list(exchange.rows(store.path))
    for day in ("Thursdays", "Tuesdays"):
        assert found(other, "releases") == {f"Releases are always cut on {day}."}
        forget(other, f"Releases are always cut on {day}.")
    assert found(other, "releases") == {"Releases are always cut on Mondays."}
    assert_index_is_whole(other.path)
    third = Store(tmp_path / "third.sqlite3")
    with closing(Intake(third.path, is_forgotten=lambda _: False)) as intake:
        intake.take_in(given[1:])
    assert found(third, "releases") == {"Releases are always cut on Tuesdays."}
    forget(third, "Releases are always cut on Tuesdays.")
    assert_index_is_whole(third.path)
    other.platform.close()
    third.platform.close()


@pytest.mark.parametrize(
    "pair",
    [
        ("We decided to turn the page cache on.", "We decided to turn the page cache off."),
        ("We decided that queue A is drained by hand.", "We decided that queue B is drained by hand."),
        ("Always run the linter before the tests.", "Always run the linter after the tests."),
    ],
)
def test_contrary_words_that_the_index_leaves_out_make_two(store: Store, tmp_path: Path, pair: tuple[str, str]) -> None:
    """Both are kept, here and where they are brought in, though their terms are the same; said again, neither is new."""
    for session, text in [("s1", pair[0]), ("s2", pair[1]), ("s3", pair[0])]:
        store.tell(session, text)
    assert rows(store) == dict.fromkeys(pair, "")
    with closing(Intake(tmp_path / "other.sqlite3", is_forgotten=lambda _: False)) as intake:
        came = intake.take_in([incoming(row, clean=str, now=2e9) for row in exchange.rows(store.path)])
    assert came == [Arrival.BROUGHT] * 2


def test_looking_for_what_a_memory_hid_reads_no_other(store: Store) -> None:
    """A project of many memories is forgotten in time that grows with their number."""
    store.tell("s1", TABS)
    with closing(sqlite3.connect(store.path)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT number FROM memories WHERE superseded_by = ? AND superseded_by <> ''", ("x",)
        ).fetchall()
    assert "memories_hidden" in str(plan)
