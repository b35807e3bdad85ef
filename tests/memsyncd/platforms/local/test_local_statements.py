"""Statements of a user that are easily taken for requests or complaints, and words that name what is meant."""

import time
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.local.candidate import Candidate
from memsyncd.platforms.local.candidates import memories_from
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message, Query


def kept(*pairs: str) -> list[Candidate]:
    """Return what is kept of texts that begin with `U ` or `A `."""
    return list(memories_from([Message("user" if text[0] == "U" else "assistant", text[2:]) for text in pairs], {}))


def answers(path: Path, question: str, *statements: str) -> list[str]:
    """Return what a store of these statements, each of a session of its own, finds."""
    platform = LocalPlatform(path / "memory.sqlite3", Clock())
    for number, text in enumerate(statements):
        batch = Batch(f"p{number}", 0, [Message("user", text)], "ada", "shop", "team", f"s{number}", {})
        platform.extraction(platform.add(batch).event_id)
    found = [memory.memory for memory in platform.search(Query(question, "ada", "shop", ["team"]))]
    platform.close()
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "I prefer no CSS framework at all.",
        "I'd prefer no ORM at all.",
        "I would prefer not to mock the database.",
        "I'd rather not have comments in templates.",
        "I would rather not see abbreviations in names.",
        "I'm not a fan of class decorators.",
        "I don't care for nested ternaries.",
    ],
)
def test_a_negative_preference_is_a_preference(statement: str) -> None:
    """What somebody would rather not have is kept in this person's lane, word for word."""
    (candidate,) = kept(f"U {statement}")
    assert (candidate.text, candidate.category, candidate.lane) == (
        statement,
        "decisions_and_constraints",
        "personal",
    )


@pytest.mark.parametrize(
    "statement",
    [
        "I tried Tailwind and it was a disaster \N{EN DASH} the purge step dropped half of our classes.",
        "We tested gRPC last year and it turned into a nightmare: the proxy kept cutting streams.",
        "I tried websockets, they didn't work because the proxy cuts idle connections.",
        "We switched to a shared cache once and had to revert, since keys collided.",
        "Ich habe Redis probiert, das war eine Katastrophe, weil der Speicher volllief.",
    ],
)
def test_a_failed_try_and_its_why_are_a_lesson(statement: str) -> None:
    """A negative result is kept whole, among the problems."""
    (candidate,) = kept(f"U {statement}")
    assert (candidate.text, candidate.category) == (statement, "problems_and_fixes")


@pytest.mark.parametrize("why", ["It dropped half of our classes.", "The purge step ate our classes."])
def test_the_why_may_stand_in_the_next_sentence(why: str) -> None:
    """A verdict takes along the sentence that explains it, but not the request that follows."""
    (candidate,) = kept(f"U I tried Tailwind and it was a disaster. {why} Please add a spinner.")
    assert candidate.text == f"I tried Tailwind and it was a disaster. {why}"


@pytest.mark.parametrize(
    "pairs",
    [
        ("U I tried Tailwind and it was a disaster. The password is " + "hunter" + "2" * 6,),
        ("U The login fails with password: " + "hunter" + "2" * 6, "A The failure came from two writers at one file."),
        ("U Comments first, the password is " + "hunter" + "2" * 6 + ". Please write them in English.",),
    ],
)
def test_nothing_secret_is_carried_in(pairs: tuple[str, ...]) -> None:
    """What a sentence leans on stays out where it holds a secret; the sentence itself is kept."""
    (candidate,) = kept(*pairs)
    assert "hunter" not in candidate.text


@pytest.mark.parametrize("complaint", ["I tried it again and it failed", "I tried that, no luck", "it didn't work"])
def test_a_try_without_a_why_is_only_a_complaint(complaint: str) -> None:
    """What just failed is the work at hand, no lesson."""
    assert kept(f"U {complaint}") == []


@pytest.mark.parametrize(
    "instruction",
    [
        "Please answer me in German.",
        "Please write comments in plain English.",
        "Answer briefly and without headings.",
        "Could you reply in French from now on?",
        "Bitte antworte mir auf Deutsch.",
        "Bitte antworte immer auf Deutsch.",
        "Kannst du ab jetzt auf Deutsch antworten?",
        "Bitte antworte knapp und ohne Emojis.",
        "Bitte schreib die Kommentare auf Englisch.",
        "Réponds toujours en français, s'il te plaît.",
        "Responde siempre en español, por favor.",
    ],
)
def test_how_to_write_is_a_preference_of_this_person(instruction: str) -> None:
    """An instruction on language or style is no request for one piece of work."""
    (candidate,) = kept(f"U {instruction}")
    assert (candidate.text, candidate.category, candidate.lane) == (
        instruction,
        "decisions_and_constraints",
        "personal",
    )


def test_them_carries_what_is_meant() -> None:
    """An instruction about "them" says what they are."""
    (candidate,) = kept("U Add docstrings to the public functions. Please write them in English.")
    assert candidate.text == "Add docstrings to the public functions. Please write them in English."


@pytest.mark.parametrize(
    "text",
    [
        "What does the page say in German?",
        "can you explain it in plain English?",
        "I'd rather see the diff",
        "Should we write the docs in English?",
        "can you look at the German page?",
    ],
)
def test_a_question_about_a_language_is_no_instruction(text: str) -> None:
    """Only the polite form of an instruction is one."""
    assert kept(f"U {text}") == []


def test_what_a_team_writes_is_no_preference() -> None:
    """Who says "we" speaks for the project."""
    assert [candidate.lane for candidate in kept("U We write all docs in English.")] == ["project"]


@pytest.mark.parametrize(
    ("instruction", "echo"),
    [
        ("Bitte antworte ab jetzt auf Deutsch.", "Verstanden, ich antworte ab jetzt auf Deutsch."),
        ("Please answer in German.", "Understood, I'll answer in German from now on."),
    ],
)
def test_an_instruction_is_kept_once(instruction: str, echo: str) -> None:
    """The answer's promise to follow it is no memory, least of all a fix."""
    assert [candidate.text for candidate in kept(f"U {instruction}", f"A {echo}")] == [instruction]


@pytest.mark.parametrize(
    "statement",
    [
        "Maria writes the onboarding guide; Tom reviews it; the release is mine.",
        "Maria writes the onboarding guide; the API reference belongs to Tom.",
        "Releases are approved by two people; Maria signs off the notes.",
    ],
)
def test_responsibilities_are_kept_whole(statement: str) -> None:
    """Clauses between semicolons belong together."""
    assert [candidate.text for candidate in kept(f"U {statement}")] == [statement]


def test_a_long_row_of_clauses_is_cut_at_its_semicolons() -> None:
    """What does not fit into one memory does not lose its end."""
    row = "; ".join(
        f"The host of region {number} must never be restarted by hand during a release" for number in range(8)
    )
    found = " ".join(candidate.text for candidate in kept(f"U {row}."))
    assert all(f"region {number}" in found for number in range(8))


@pytest.mark.parametrize(
    ("request_", "answer", "expected"),
    [
        (
            "The import dies with `database is locked`. Find out why.",
            "The failure came from two writers at the same file.",
            "The import dies with `database is locked` \N{EM DASH} the failure came from two writers at the same file.",
        ),
        (
            "The map is too slow on phones. Please look.",
            "The problem was that tiles loaded before the table.",
            "The map is too slow on phones \N{EM DASH} the problem was that tiles loaded before the table.",
        ),
        (
            "Please look at the import.",
            "I see a `PermissionError` in the log. The cause was a wrong umask in the unit file.",
            "I see a `PermissionError` in the log \N{EM DASH} the cause was a wrong umask in the unit file.",
        ),
        (
            "The import is broken.",
            "The failure in `load_rows` came from two writers.",
            "The failure in `load_rows` came from two writers.",
        ),
    ],
)
def test_the_failure_is_named(request_: str, answer: str, expected: str) -> None:
    """Where an answer only says "the failure", the error or the complaint it speaks of is carried in."""
    assert [candidate.text for candidate in kept(f"U {request_}", f"A {answer}")] == [expected]


def test_a_bare_request_leaves_its_subject_to_the_sentence_before() -> None:
    """A request like "can you look into it?" says nothing beside an answer; what it is about does."""
    (candidate,) = kept(
        "U The map is slow on phones. Can you look into it?", "A The first paint went from 4.2 s to 1.1 s."
    )
    assert candidate.text == "The map is slow on phones \N{EM DASH} The first paint went from 4.2 s to 1.1 s."


@pytest.mark.parametrize(
    "answer",
    [
        "Committed as 'Serialise the writers of the store'.",
        "Committed as `a1b2c3d` on main.",
        'Done. Committed as "Fix 3 roundings" and pushed to `feature/tide`.',
        "Pushed to `origin/main`.",
    ],
)
def test_a_commit_is_no_memory(answer: str) -> None:
    """That something was committed is told by the repository."""
    assert kept("U commit it", f"A {answer}") == []


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("on which port does the test environment listen?", "The test system is reachable on port 8081."),
        ("which port for the test server?", "The test system is reachable on port 8081."),
        ("on which port does production listen?", "The production environment listens on port 8443."),
        ("what port do I use locally?", "For local development the port is 5173."),
    ],
)
def test_the_named_environment_comes_first(tmp_path: Path, question: str, wanted: str) -> None:
    """A memory of another environment, however alike otherwise, comes behind."""
    found = answers(
        tmp_path,
        question,
        "The test system is reachable on port 8081.",
        "For local development the port is 5173.",
        "The production environment listens on port 8443.",
    )
    assert found[0] == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("the backups, how long are they kept?", "Backups are dropped after 30 days."),
        ("how many backups are kept?", "Backups: we keep 3 of them on the second host."),
    ],
)
def test_how_long_asks_for_a_duration(tmp_path: Path, question: str, wanted: str) -> None:
    """A figure that is no duration does not answer "how long"."""
    found = answers(
        tmp_path, question, "Backups are dropped after 30 days.", "Backups: we keep 3 of them on the second host."
    )
    assert found[0] == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("on what port do I find the scale service?", "The scale service is on port 1883."),
        (
            "how do I flash a scale over its port?",
            "To flash a scale, use `make flash PORT=/dev/ttyUSB0`, never the web page.",
        ),
    ],
)
def test_a_digit_in_a_name_is_no_port(tmp_path: Path, question: str, wanted: str) -> None:
    """Who asks for a port wants its number; who asks how, the command."""
    statements = (
        "The scale service is on port 1883.",
        "To flash a scale, use `make flash PORT=/dev/ttyUSB0`, never the web page.",
    )
    assert answers(tmp_path, question, *statements)[0] == wanted


@pytest.mark.parametrize("text", ["A" * 4_000, "I tried " * 500, "the error " * 400, "write x " * 500, "`a" * 2_000])
def test_odd_text_costs_no_time(text: str) -> None:
    """Patterns stay linear on text made to repeat what they begin with."""
    started = time.process_time()
    kept(f"U {text}", f"A The failure was {text}", f"A {text}. The failure came from two writers.")
    assert time.process_time() - started < 2.0
