"""A cut leaves no half of anything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.recall.cutting import ELLIPSIS, cut, repaired, whole
from memsyncd.redaction import REPLACEMENT


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab…"),
        ("abc", 1, ""),
        ("abc", 0, ""),
        ("abc", -1, ""),
        ("", 0, ""),
        ("ae\u0301xyz", 3, "a…"),
        ("a👩\u200d🔧xyz", 4, "a…"),
        ("a👍🏽xyz", 3, "a…"),
        ("a\ud83d\ude00xyz", 3, "a…"),
        (f"a {REPLACEMENT} b", 8, "a…"),
        (f"a {REPLACEMENT} b", 13, f"a {REPLACEMENT}…"),
        ("\u0301" * 100, 50, "\u0301" * 49 + "…"),
    ],
)
def test_the_cut_falls_between_characters(text: str, limit: int, kept: str) -> None:
    """Before marks, joined characters, pairs of surrogates and marks of redaction, never within."""
    assert cut(text, limit) == kept


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("", ""),
        ("aé😀\ufeff", "aé😀\ufeff"),
        ("\ud83d\ude00", "😀"),
        ("\ud83da", "\ufffda"),
        ("a\ude00", "a\ufffd"),
        ("\ufeff\ud83d", "\ufeff\ufffd"),
    ],
)
def test_a_broken_text_is_mended(text: str, mended: str) -> None:
    """Halves that belong together become one, a half alone is replaced, and nothing else is touched."""
    assert repaired(text) == mended


PIECES = st.lists(
    st.sampled_from(["a", " ", "é", "e\u0301", "😀", "👩\u200d🔧", "\ud83d\ude00", REPLACEMENT, "["]), max_size=20
)


@given(pieces=PIECES, limit=st.integers(-2, 60))
@settings(deadline=None)
def test_what_stays_is_a_beginning_of_whole_pieces(pieces: list[str], limit: int) -> None:
    """Never over the limit, and cut only where a piece ends."""
    text = "".join(pieces)
    kept = cut(text, limit)
    assert len(kept) <= max(limit, 0)
    if kept == text:
        return
    beginnings = {"".join(pieces[:count]).rstrip() for count in range(len(pieces) + 1)}
    assert kept.removesuffix(ELLIPSIS) in beginnings | {""}


@given(text=st.text(alphabet=st.sampled_from("a\u0301\u200d\ud83d\ude00😀"), max_size=80), end=st.integers(-3, 90))
@settings(deadline=None)
def test_no_text_has_its_pairs_of_surrogates_halved(text: str, end: int) -> None:
    """However many marks stand in a row."""
    place = whole(text, end)
    assert 0 <= place <= max(0, min(end, len(text)))
    assert not (text[:place][-1:] == "\ud83d" and text[place:][:1] == "\ude00")
