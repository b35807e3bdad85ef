"""Whether a prompt is searched for, and what of the answer is new."""

import pytest

from daemon.recalling import policy
from memsyncd.evidence.retrievals import Recalled, Shown
from memsyncd.lifecycle.recall import Outcome
from memsyncd.platforms.platform import Memory

LONG, SHORT = "Which port does staging use?", "hi there"
NOTHING = Recalled()


@pytest.mark.parametrize(
    ("prompt", "known", "was_short", "refusal"),
    [
        (LONG, NOTHING, None, None),
        (LONG, NOTHING, False, None),  # the one before failed
        (LONG, NOTHING, True, Outcome.SPENT),  # the one before was short, and is not recorded yet
        (SHORT, NOTHING, True, Outcome.NOT_ASKED),
        (LONG, Recalled(first_prompt=LONG), None, None),  # its own handoff was taken in before it asked
        (LONG, Recalled(first_prompt="An earlier one, of which nobody knew."), None, None),  # no daemon then
        (LONG, Recalled(first_prompt=SHORT), False, Outcome.SPENT),  # a restart forgot nothing
        (LONG, Recalled(first_prompt=f"  {SHORT}\n" + " " * 30), None, Outcome.SPENT),
        (LONG, Recalled(is_answered=True), None, Outcome.SPENT),
        (LONG, Recalled(is_answered=True, first_prompt=LONG), False, Outcome.SPENT),
        ("x" * 19, NOTHING, None, Outcome.NOT_ASKED),
        ("x" * 20, NOTHING, None, None),
        ("", NOTHING, None, Outcome.NOT_ASKED),
    ],
)
def test_one_chance_a_session(prompt: str, known: Recalled, was_short: bool | None, refusal: Outcome | None) -> None:
    """It is used up by a search that succeeded or by a first prompt that was too short, and by nothing else."""
    assert policy.refused(prompt, known, was_short=was_short, min_characters=20) is refusal


@pytest.mark.parametrize(("given", "asked"), [(6_000, 6_000), (6_001, 6_000), (900_000, 6_000), (20, 20)])
def test_a_question_has_an_end(given: int, asked: int) -> None:
    """Of a long prompt its beginning is searched for."""
    assert policy.query("x" * given) == "x" * asked


def test_a_question_halves_no_character() -> None:
    """A cut within a character's parts goes before it."""
    assert policy.query("x" * 5_999 + "e\u0301 and more") == "x" * 5_999


def test_what_is_new_comes_once_and_in_order() -> None:
    """Shown ones, repeated ones and empty ones go; the platform's order stays (facts 7.6, 7.8)."""
    a, b, c = Memory("a", "A"), Memory("b", "B"), Memory("", "C")
    known = Recalled(shown=(Shown("b", "B"),))
    found = policy.news([c, a, b, a, c, Memory("d", " ")], known)
    assert (list(found.memories), found.matched, found.already_shown) == ([c, a], 3, 1)
    assert policy.news([], known) == policy.News([], 0, 0)


def test_what_is_kept_of_the_shown_is_what_was_read() -> None:
    """Words on one line with the branch, ranks from 1, no score where there was none (facts 7.10)."""
    memories = [Memory("a", "A\nfact", score=0.5, metadata={"branch": "feat/x"}), Memory("", "B")]
    assert policy.shown(memories) == [
        Shown("a", "A fact [learnt on branch feat/x]", 1, 0.5),
        Shown("B", "B", 2, None),
    ]
