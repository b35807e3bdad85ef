"""Redaction: a secret at any place in any text goes, once is enough, and JSON stays JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from daemon.intake.own_words import own_words
from memsyncd.redaction import redact, redact_value
from memsyncd.redaction.private_spans import without_private
from tests.fuzz import planted, seeds
from tests.fuzz.planted import BODY, TELLTALE
from tests.fuzz.target import BREAK, Target, TryOne
from tests.memsyncd.test_redaction_properties import SHAPES, UNITS, in_json, in_json_thrice, in_json_twice, raw

GAPS = (" ", "\n", ", ", "; ", "(", "\t")
WRAPS = (raw, in_json, in_json_twice, in_json_thrice)
MOST_BEFORE = 16
"""Characters before a secret that stands indented below its name's line: a line's start that is far away tells no
indentation, and in JSON within JSON a character may have ten."""

STABLE = 2_000
"""Characters up to which once is certainly enough; beyond, what names of secrets alone make up may take longer."""

FRAMES = str.maketrans("", "", "\\\"'`<>@")
"""Of what stands around a secret that only its surroundings tell, what may be part of those."""


def _try_one(content: bytes) -> None:
    text = planted.into(content).decode("utf-8", "surrogatepass" if _is_plain(content) else "replace")
    _assert_redacted(text)
    assert without_private(without_private(text)) == without_private(text)
    own_words(text)
    before, _, rest = content.partition(BREAK)
    after, _, choice = rest.partition(BREAK)
    around = [part.decode("utf-8", "replace").translate(FRAMES) for part in (before, after)]
    _assert_secret_goes(*around, choice[:3].ljust(3, b"\0"))


def _is_plain(content: bytes) -> bool:
    try:
        content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _assert_redacted(text: str) -> None:
    once = redact(text)
    assert len(text) > STABLE or redact(once) == once, "redacted twice it is another text"
    assert TELLTALE not in once, "a vendor's secret survived"
    value = _parsed(text)
    if value is not None:
        after = json.loads(once)
        assert _shape(after) == _shape(value), "the JSON has another shape"
        assert _shape(redact_value(value)) == _shape(value)
        planted.assert_absent(json.dumps(redact_value(value)))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _shape(value: Any) -> list[int]:
    """Return how many entries there are at every place, in order; -1 where there is neither list nor object. However
    deep it is: this runs nothing within itself."""
    found: list[int] = []
    work = [value]
    while work:
        node = work.pop()
        inner = [*node.values()] if isinstance(node, dict) else node if isinstance(node, list) else None
        found.append(-1 if inner is None else len(inner))
        work += inner or ()
    return found


def _assert_secret_goes(before: str, after: str, choice: bytes) -> None:
    """Plant one of the secrets that only their surroundings tell, behind a gap and before a line's end."""
    shape, gap, wrap = (of[number % len(of)] for of, number in zip((SHAPES, GAPS, WRAPS), choice, strict=True))
    told = shape.format(BODY, BODY)
    if "\n" in shape:
        before = before[-MOST_BEFORE:].rsplit("\n", maxsplit=1)[-1].lstrip()
    assert TELLTALE not in redact(wrap(f"{before}{gap}{told}\n{after}")), f"{shape!r} survived"


@contextmanager
def opened(_: Path) -> Iterator[TryOne]:
    yield _try_one


def inputs() -> Iterator[bytes]:
    """Yield the secrets' shapes amid prose, code and JSON, and what careless patterns choke on."""
    for number, shape in enumerate(SHAPES):
        text = f"before it. {shape.format('@PLANTED@', '@PLANTED@')} and after"
        yield text.encode()
        yield seeds.line({"output": text, "n": [number, {"token": "@PLANTED@"}], "name": "API_KEY", "value": "x"})
        yield BREAK.join((seeds.line({"payload": json.dumps({"output": text})}), b"after it", bytes([number] * 3)))
    for number in range(0, len(UNITS), 3):
        yield " ".join(UNITS[number : number + 3]).encode("utf-8", "surrogatepass")


WORDS = (
    *(unit.encode("utf-8", "surrogatepass") for unit in UNITS),
    *b"password token api_key Authorization Basic Cookie sk- eyJ [REDACTED] :// \\n \\u0022 AKIA <private>".split(),
)
TARGET = Target("redaction", opened, inputs, WORDS, share=4)
