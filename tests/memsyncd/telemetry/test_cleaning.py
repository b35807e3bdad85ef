"""What may be told of an event's properties (facts 12.5)."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.redaction import redact
from memsyncd.telemetry.cleaning import CUT, MAX_DEPTH, MAX_KEY, MAX_TEXT, MAX_VALUES, clean

FORBIDDEN = [
    "apikey", "authorization", "password", "query", "secret", "prompt", "token", "text", "memory", "message", "error",
    "path", "cwd", "userid", "agentid", "runid", "repoid", "repositoryid", "projectid", "appid", "filters",
]  # fmt: skip
"""Facts 12.5, written out here a second time: a key that falls out of the code's list must be noticed."""

FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
SEPARATORS = st.sampled_from(["", "", "", "_", "-", ".", " ", "__", "/", ":", "\u200b", "\u00ad", "\u0301", "$", "\n"])


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """Spell a forbidden key in any case, with anything but letters and digits between its letters, also in full width."""
    word = draw(st.sampled_from(FORBIDDEN))
    upper, separated = draw(st.integers(0, 2**16 - 1)), draw(st.integers(0, 2**16 - 1))
    separator, width = draw(SEPARATORS), draw(st.sampled_from([{}, FULL_WIDTH]))
    letters = [letter.upper() if upper >> at & 1 else letter for at, letter in enumerate(word)]
    key = "".join(letter + separator * (separated >> at & 1) for at, letter in enumerate(letters))
    return (separator + key).translate(width)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
STRANGE = (
    st.binary(max_size=5)
    | st.builds(object)
    | st.just(Path("x"))
    | st.just(10**400)
    | st.sets(st.integers(), max_size=2)
)
KEYS = spelled() | st.text(max_size=12) | st.integers() | st.none()
ANYTHING = st.recursive(
    LEAVES | STRANGE,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5) | st.tuples(inner, inner),
    max_leaves=10,
)


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from keys_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def entries_of(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(entries_of, value.values()))
    if isinstance(value, list):
        return len(value) + sum(map(entries_of, value))
    return 0


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, ANYTHING, max_size=6))
def test_no_private_key_survives_and_all_is_json(properties: dict[str, Any]) -> None:
    """Whatever comes in, JSON comes out, without a key of 12.5 in any spelling at any depth, in lists too."""
    cleaned = clean(properties, redact)
    json.dumps(cleaned, allow_nan=False).encode("ascii")
    for key in keys_of(cleaned):
        plain = re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKC", key).lower())
        assert plain not in FORBIDDEN
        assert re.sub(r"[\W_]", "", key.lower()) not in FORBIDDEN
        assert len(key) <= MAX_KEY
    assert depth_of(cleaned) <= MAX_DEPTH
    assert entries_of(cleaned) <= MAX_VALUES + 1


@pytest.mark.parametrize("word", FORBIDDEN)
def test_each_key_of_the_list_is_dropped(word: str) -> None:
    """Each of the 21 keys goes with all below it, at every depth, and its neighbours stay (12.5)."""
    spelling = f"{word[:3].upper()}_{word[3:]}-"
    properties = {word: 1, "kept": [{spelling: {"inner": "x"}, "kept": [{word: ["x"], "n": 2}]}]}
    assert clean(properties, redact) == {"kept": [{"kept": [{"n": 2}]}]}


@pytest.mark.parametrize("key", ["session_id", "Repository", "repo", "directory", "branch", "transcript-path", "email", "userName", "hostname"])  # fmt: skip
def test_what_names_somebody_is_dropped_too(key: str) -> None:
    """Sessions and repositories are told as hashes only (12.6), people not at all."""
    assert clean({key: "x", "harness": "codex"}, redact) == {"harness": "codex"}


@pytest.mark.parametrize("key", ["access_token", "clientSecret", "db_password", "X-Api-Key", "Cookie"])
def test_a_name_that_announces_a_secret_takes_its_value_along(key: str) -> None:
    """A value under such a name is a secret whatever it looks like."""
    assert clean({key: 12345, "n": {key: "abc"}}, redact) == {"n": {}}


@pytest.mark.parametrize("key", ["token_count", "max_tokens", "error_type", "query_length", "memories", "path_count"])
def test_counts_and_labels_stay(key: str) -> None:
    """Only the whole name counts: numbers about private things are what telemetry is for."""
    assert clean({key: 3}, redact) == {key: 3}


SECRET_BODY = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=40, max_size=48).map(
    "Zq7{}".format
)
SHAPES = st.sampled_from(["ghp_{}", "m0-{}", "password={}", "https://bob:{}@host.example/x", "Authorization: Bearer {}", '{{"api_key": "{}"}}'])  # fmt: skip
AROUND = st.text("abc xyz,.\n\u00e4", max_size=60)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SECRET_BODY, AROUND, AROUND, st.integers(0, 1_000))
def test_a_secret_survives_nowhere(shape: str, body: str, before: str, after: str, padding: int) -> None:
    """A secret in a value, in a list, or in a key is redacted, wherever in the text the length's bound falls."""
    text = f"{'p ' * (padding // 2)}{before} {shape.format(body)} {after}"
    told = json.dumps(clean({"a": text, "b": [{"c": [text]}], text: 1, "d": {text: [text]}}, redact))
    for size in (len(body), 20, 12):
        assert body[:size] not in told
        assert body[-size:] not in told


def test_texts_are_redacted_before_they_are_cut() -> None:
    """A text cut in the middle of a secret would show its first half and no longer what it is."""
    token = "ghp_" + "a1B2" * 10
    cleaned = clean({"label": "x" * (MAX_TEXT - 10) + " " + token}, redact)
    assert token[:8] not in cleaned["label"]
    assert len(cleaned["label"]) == MAX_TEXT


def test_what_is_cut_is_counted() -> None:
    """Every bound has its count in the event itself; an event within them has none."""
    deep: dict[str, Any] = {"n": 1}
    for _ in range(MAX_DEPTH):
        deep = {"deeper": deep}
    assert clean({"a": 1, "b": None}, redact) == {"a": 1}
    assert clean(deep, redact)[CUT] == 1
    assert clean({"long": "x" * (MAX_TEXT + 1)}, redact) == {"long": "x" * MAX_TEXT, CUT: 1}
    assert clean({"huge": "x" * 10_000_000}, redact) == {CUT: 1}
    assert clean({"x" * 10_000: 1, 3: 4, "": 5}, redact) == {CUT: 3}
    assert clean({"a": b"x", "b": object(), "c": float("nan"), "d": 2**63, "e": -(2**63)}, redact) == {
        "e": -(2**63),
        CUT: 4,
    }
    assert clean({"list": list(range(1_000))}, redact)[CUT] == 1_001 - MAX_VALUES
    assert len(clean({f"k{number}": number for number in range(1_000)}, redact)) == MAX_VALUES + 1


@pytest.mark.parametrize("key", ["path" + "_" * MAX_KEY + "x", "query" + "-" * (MAX_KEY - 5) + "s"])
def test_a_key_that_becomes_private_when_cut_is_dropped(key: str) -> None:
    """The key as it would be told is judged too."""
    assert clean({key: "x"}, redact) == {}


def test_two_keys_that_become_one_are_counted() -> None:
    """Redaction may make two keys the same; the second is left out and counted, not put in the first one's place."""
    first, second = ("ghp_" + letter * 36 for letter in "ab")
    cleaned = clean({first: 1, second: 2}, redact)
    assert sorted(cleaned.values()) == [1, 1]
    assert cleaned[CUT] == 1


class Endless(Mapping[str, Any]):
    """A mapping of a hundred million keys."""

    def __getitem__(self, key: str) -> int:
        return 1

    def __len__(self) -> int:
        return 100_000_000

    def __iter__(self) -> Iterator[str]:
        return (f"key-{number}" for number in range(len(self)))


def test_only_so_much_is_looked_at() -> None:
    """The work is bounded too: of an endless mapping, and of one that holds itself, only the first entries are read."""
    assert clean(Endless(), redact)[CUT] == 100_000_000 - MAX_VALUES
    wheel: dict[str, Any] = {}
    wheel |= {f"k{number}": wheel for number in range(10)}
    assert entries_of(clean(wheel, redact)) <= MAX_VALUES + 1


def test_half_a_surrogate_pair_is_mended() -> None:
    """What UTF-8 cannot carry becomes U+FFFD, in keys too."""
    assert clean({"a\ud800": "x\udfff", "b": "\ud83d\ude00"}, redact) == {"a\ufffd": "x\ufffd", "b": "\U0001f600"}
