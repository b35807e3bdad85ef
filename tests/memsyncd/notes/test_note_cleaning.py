"""What does not get into a note: secrets, private spans, half characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.notes.cleaning import PRIVATE_REMOVED, REPAIRED, SECRET_REDACTED, clean_value
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import MAX_VALUE_CHARS
from tests.memsyncd.notes.conftest import Asking

SECRET = "ghp_" + "a1B2" * 9


def test_a_secret_in_a_value_is_replaced_and_the_answer_says_so(ask: Asking) -> None:
    """Nothing of it is stored; the rest of the value is."""
    answer = ask("memory_remember", key="ci", value=f"the CI uses {SECRET} to push")
    assert answer["changes"] == [SECRET_REDACTED]
    assert SECRET_REDACTED in answer["message"]
    assert ask("memory_recall", key="ci")["value"] == "the CI uses [REDACTED] to push"


def test_a_key_that_names_a_secret_makes_its_value_one(ask: Asking) -> None:
    """Under `db_password` any value is a secret, whatever it looks like."""
    assert ask("memory_remember", key="db_password", value="correct horse")["changes"] == [SECRET_REDACTED]
    assert ask("memory_recall", key="db_password")["value"] == "[REDACTED]"


@pytest.mark.parametrize("name", [f"token {SECRET}", "a <private>b</private>", "<PRIVATE>"])
def test_a_name_that_holds_a_secret_is_refused(ask: Asking, name: str) -> None:
    """Names are kept as given, so such a one is not kept at all."""
    for names in ({"key": name, "namespace": "n"}, {"key": "k", "namespace": name}):
        answer = ask("memory_remember", value="v", **names)
        assert "choose one" in answer["error"]
        assert SECRET not in answer["error"]
    assert ask("memory_stats")["total_entries"] == 0


def test_private_spans_are_not_stored(ask: Asking) -> None:
    """They are left out, which the answer says; a value that is all private is refused."""
    answer = ask("memory_remember", key="k", value="before <private>between</private> after")
    assert answer["changes"] == [PRIVATE_REMOVED]
    assert ask("memory_recall", key="k")["value"] == "before   after"
    assert "nothing was stored" in ask("memory_remember", key="j", value="<private>all</private>")["error"]


def test_half_characters_are_replaced(ask: Asking) -> None:
    """A value with a surrogate alone is stored with a mark in its place; two halves beside each other are one."""
    answer = ask("memory_remember", key="k", value="a\ud800b\ud83d\ude00")
    assert answer["changes"] == [REPAIRED]
    assert ask("memory_recall", key="k")["value"] == "a\ufffdb😀"


@pytest.mark.parametrize("value", ["x" * (MAX_VALUE_CHARS + 1), "<private>" + "x" * 20 * MAX_VALUE_CHARS])
def test_a_value_that_is_too_long_is_refused(value: str) -> None:
    """It is not cut in silence, and the message says what to do."""
    with pytest.raises(NoteRefused, match="split it"):
        clean_value("k", value)


@given(st.text(st.characters(), min_size=1, max_size=300))
def test_a_clean_value_can_be_stored_and_is_clean(value: str) -> None:
    """Any text is either refused or made fit for UTF-8; cleaning is idempotent."""
    try:
        clean = clean_value("k", value)
    except NoteRefused:
        return
    assert clean.text.encode()
    assert clean_value("k", clean.text).text == clean.text
