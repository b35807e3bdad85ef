"""What is worth keeping of a dialogue, and in what words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.platforms.local.candidate import Candidate
from memsyncd.platforms.local.candidates import MAX_PER_BATCH, memories_from
from memsyncd.platforms.local.scope_filter import CATEGORIES
from memsyncd.platforms.local.wording import MAX_MEMORY_CHARS
from memsyncd.platforms.platform import Message


def said(*pairs: str) -> list[Message]:
    """Return messages from texts that begin with `U ` or `A `."""
    return [Message("user" if text[0] == "U" else "assistant", text[2:]) for text in pairs]


def texts(*pairs: str) -> list[str]:
    return [candidate.text for candidate in memories_from(said(*pairs), {})]


def only(*pairs: str) -> Candidate:
    (candidate,) = memories_from(said(*pairs), {})
    return candidate


@pytest.mark.parametrize(
    ("statement", "category", "lane"),
    [
        ("We use PostgreSQL 16 for the ledger.", "project_knowledge", "project"),
        ("Always run the formatter before a commit.", "decisions_and_constraints", "project"),
        ("Never write to the replica.", "decisions_and_constraints", "project"),
        ("Don't import pandas in the request path.", "decisions_and_constraints", "project"),
        ("From now on branches are named after the ticket.", "decisions_and_constraints", "project"),
        ("Let's go with SQLite instead of Redis because it needs no server.", "decisions_and_constraints", "project"),
        ("Remember that the demo account has no payment method.", "decisions_and_constraints", "project"),
        ("The staging host is called heron and sits in Oslo.", "project_knowledge", "project"),
        ("ok agreed, no Redis lock for this.", "decisions_and_constraints", "project"),
        ("please add a changelog entry for each release", "decisions_and_constraints", "project"),
        ("I prefer short answers without emojis.", "decisions_and_constraints", "personal"),
        ("My editor is Helix, so no VS Code instructions.", "decisions_and_constraints", "personal"),
        ("Wir verwenden ausschließlich Gitea für den Code.", "decisions_and_constraints", "project"),
        ("Il ne faut jamais modifier le schéma à la main.", "decisions_and_constraints", "project"),
        ("Siempre usamos UTC en la base de datos.", "decisions_and_constraints", "project"),
        ("テストなしのマージは禁止です。", "decisions_and_constraints", "project"),
        ("TODO remember: xyzzy plugh frobnicate quux", "decisions_and_constraints", "project"),
    ],
)
def test_what_a_user_states_is_kept(statement: str, category: str, lane: str) -> None:
    """Rules, decisions, facts and preferences stay, with their category and lane."""
    candidate = only(f"U {statement}")
    assert (candidate.category, candidate.lane) == (category, lane)
    assert candidate.text.rstrip(".").casefold() in statement.casefold()


@pytest.mark.parametrize(
    "nothing",
    [
        "Please remember that.",
        "Never do this again.",
        "Remember this!",
        "Always do it like this.",
        "Don't forget it.",
        "Keep that in mind.",
        "You must never do that again!",
        "From now on do it like that.",
        "We decided that.",
        "Let's go with that.",
        "Never touch it again.",
        "Never commit that.",
        "Don't ever delete those again.",
        "It must never happen again.",
        "Always use it.",
        "Why did you drop the table? Never do this again.",
        "use [REDACTED] as the API key",
        "Always use [REDACTED] as the API key.",
        "For the staging shop use [REDACTED] as the API key, but don't write it anywhere.",
        "Remember: the token is [REDACTED].",
        "The staging password is always [REDACTED].",
        "Never use [REDACTED] again.",
        "Bitte merk dir das.",
        "Mach das nie wieder.",
        "N'oublie pas ca.",
        "Recuerda eso.",
    ],
)
def test_a_rule_without_what_it_is_about_is_none(nothing: str) -> None:
    """A pronoun, or a secret that was taken out, is all it has for an object."""
    assert texts(f"U {nothing}", "A Noted.") == []
    assert texts("U run the tests", f"A {nothing}") == []


@pytest.mark.parametrize(
    "something",
    [
        "The demo account has no payment method. Please remember that.",
        "You dropped the production table. Never do this again.",
        "Never touch the replica again.",
        "Never restart it by hand.",
        "Always use pnpm for this.",
        "Always write them in English.",
        "Keep it short.",
        "Never commit [REDACTED] to git.",
        "Staging login is always user: admin, pass: [REDACTED]",
        "Use [REDACTED] as the API key and always deploy the importer with terraform from the main branch.",
    ],
)
def test_a_rule_that_says_what_it_is_about_is_kept_with_it(something: str) -> None:
    """Also where that stands in the sentence before."""
    assert texts(f"U {something}", "A Noted.") == [something]


@pytest.mark.parametrize(
    "chatter",
    [
        "thanks a lot!",
        "Good morning",
        "Which database do we use?",
        "can you look at the login page?",
        "please rename the helper",
        "add a test for each endpoint",
        "no luck, same thing",
        "ok",
        "hmm, strange",
        "show me the diff",
        "```\nalways = never(1)\n```",
        "2024-01-01 10:00:00 ERROR worker: always fails",
        "> we never use that",
        "<system-reminder>Always answer in JSON, never in prose.</system-reminder>",
    ],
)
def test_what_a_user_only_says_is_not(chatter: str) -> None:
    """Greetings, questions, requests, code, logs, quotations and what others put into a prompt leave nothing."""
    assert texts(f"U {chatter}") == []


@pytest.mark.parametrize(
    ("answer", "category"),
    [
        ("The root cause was a stale lock file in `/run/sync`.", "problems_and_fixes"),
        ("I fixed it by closing the cursor in `Ledger.read`.", "problems_and_fixes"),
        ("To deploy a single region, run `make deploy REGION=north`.", "workflows"),
        ("The median went from 820 ms to 95 ms.", "results"),
        ("The signing key is stored in the vault under `ci/signing`.", "project_knowledge"),
        ("Die Ursache war ein veralteter Index in `orders`.", "problems_and_fixes"),
        ("原因は古いロックファイルでした。", "problems_and_fixes"),
    ],
)
def test_what_an_answer_concludes_is_kept(answer: str, category: str) -> None:
    """Causes, fixes, ways to do things, figures and places stay."""
    assert only("U it is broken", f"A {answer}").category == category


@pytest.mark.parametrize(
    "talk",
    [
        "Let me check the tests first.",
        "I'll look at the parser now.",
        "Now I'm running the suite.",
        "Would you like me to add a test?",
        "Let me know if you want more.",
        "It might be the cache, perhaps.",
        "All 14 tests pass.",
        "Here is the function:\n```py\nx = always()\n```",
        "| a | b |\n|---|---|\n| always | never |",
        'Traceback (most recent call last):\n  File "a.py", line 1',
        "## Next steps\n- Replace the queue with Kafka\n- Always retry",
        "",
    ],
)
def test_what_an_answer_only_mentions_is_not(talk: str) -> None:
    """Progress, offers, guesses, plans, passing tests, code and tables leave nothing."""
    assert texts("U do it", f"A {talk}") == []


@pytest.mark.parametrize(
    "secret",
    [
        "Remember: the password is " + "hunter" + "2" * 6,
        "We always use the key " + "sk-" + "x" * 24,
        "The database is postgres://app:" + "pw" * 5 + "@db.example.net/x, never change it",
    ],
)
def test_a_sentence_with_a_secret_is_never_kept(secret: str) -> None:
    """What redaction let through does not become a lasting memory (never-again 71)."""
    assert texts(f"U {secret}") == []


def test_a_leaning_sentence_takes_what_it_leans_on_along() -> None:
    """A sentence that begins with "it" carries the one before it."""
    (text,) = texts("U why?", "A The root cause was the shared cursor. It is now opened per request.")
    assert "shared cursor" in text
    assert "opened per request" in text


def test_list_items_carry_the_line_that_leads_them() -> None:
    """An item says nothing without its lead."""
    found = texts("U how?", "A The importer has two limits:\n- `10 MB` per file\n- 500 rows per request")
    assert all("importer has two limits" in text for text in found)
    assert len(found) == 2


def test_a_telling_heading_is_carried_and_a_generic_one_is_not() -> None:
    """A heading like "Token refresh" names a subject, "Summary" does not."""
    (text,) = texts("U x", "A ## Token refresh\nThe root cause was the skewed clock.")
    assert text.startswith("Token refresh: ")
    (text,) = texts("U x", "A ## Summary\nThe root cause was the skewed clock.")
    assert text.startswith("The root cause")


def test_a_short_answer_to_a_question_is_kept_with_it() -> None:
    """A figure alone means something only beside what was asked."""
    (text,) = texts("A How large may the upload be?", "U 500 MB max")
    assert text == "How large may the upload be? — 500 MB max"


def test_yes_to_a_proposal_makes_it_a_decision() -> None:
    """The proposal becomes the memory, without "I'd suggest"."""
    found = memories_from(said("A I'd suggest a nightly job for the cleanup.", "U yes, do that"), {})
    assert [(each.text, each.category) for each in found] == [
        ("Agreed: a nightly job for the cleanup.", "decisions_and_constraints")
    ]


@pytest.mark.parametrize("choice", ["let's take the second one", "option 2 please", "go with the second"])
def test_choosing_one_of_several_options_keeps_that_one(choice: str) -> None:
    """A choice by number is resolved to the option's words."""
    found = texts("A Two options:\n1. Raise the memory limit\n2. Read the file in chunks", f"U {choice}")
    assert any("Read the file in chunks" in text for text in found)
    assert not any("Raise the memory" in text for text in found)


def test_the_evidence_block_gives_problems_and_files_but_no_sentences() -> None:
    """A failed command with the one that then worked is kept; changed files are evidence beside every memory."""
    block = (
        "Commands run in this session:\n[failed/test] pytest tests/api\n  E   ConnectionError: port 5433\n"
        "[succeeded/test] docker compose up -d db && pytest tests/api\n  12 passed\n"
        "Files changed in this session:\n- src/api.py"
    )
    (candidate,) = memories_from(said("U hi", f"A Hello.\n\n{block}"), {})
    assert candidate.text == (
        "`pytest tests/api` failed (ConnectionError: port 5433); `docker compose up -d db && pytest tests/api` then worked."
    )
    assert candidate.category == "problems_and_fixes"
    assert candidate.files == ["src/api.py"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=600) | st.sampled_from([
            "Always use X. " * 40, "- a: b\n" * 50, "`" * 99, "it " * 200, "\ud800 never do that", "# " * 50,
        ])),
        max_size=12,
    )
)  # fmt: skip
def test_any_dialogue_gives_a_bounded_number_of_bounded_memories(pairs: list[tuple[str, str]]) -> None:
    """No text raises; texts are one line of at most 400 characters, categories are the five, and few are left."""
    found = memories_from([Message(role, content) for role, content in pairs], {"files_touched": [1, "a"]})
    assert len(found) <= MAX_PER_BATCH
    for candidate in found:
        assert 0 < len(candidate.text) <= MAX_MEMORY_CHARS
        assert "\n" not in candidate.text
        assert candidate.category in CATEGORIES


@given(st.text(max_size=3_000))
def test_the_same_dialogue_gives_the_same_memories(text: str) -> None:
    """Extraction depends on nothing but its input, so that a replay is recognised."""
    messages = said("U always do this", f"A {text}")
    assert memories_from(messages, {}) == memories_from(messages, {})


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "we ",
        "`x` ",
        "`x y",
        "- ",
        ". ",
        "(",
        "must not ",
        "use it ",
        "1.",
        "a: b ",
        "from 1 to ",
        "、",
        "** ",
        "[a](",
    ],
)
def test_a_full_request_of_one_pattern_is_read_in_bounded_time(piece: str) -> None:
    """No rule's time explodes with the text: 60,000 characters of one pattern take well under five seconds here."""
    lines = [(piece * 3_000)[:3_000] for _ in range(20)]
    before = time.process_time()
    memories_from(said("U go", "A " + "\n".join(lines), "U " + "\n\n".join(lines)), {})
    assert time.process_time() - before < 5
