"""The next batch of a file's lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memsyncd.telemetry.batch import Batch, next_batch
from memsyncd.telemetry.posthog import MAX_BATCH_BYTES, Unsendable, Wire
from tests.memsyncd.telemetry.spooling import line


def encode(text: bytes) -> Wire | Unsendable:
    return Wire("u", "", text) if text.startswith(b"e") else Unsendable.CORRUPT


def test_a_batch_ends_at_a_hundred_events() -> None:
    """Lines that are not sent do not count (facts 12.12)."""
    content = b"e\nx\n" * 150
    batch = next_batch(content, encode)
    assert (len(batch.events), batch.size) == (100, 4 * 100 - 2)
    assert batch.unsendable == b"x\n" * 99
    assert batch.reasons == {Unsendable.CORRUPT: 99}


def test_a_batch_ends_before_it_is_too_large() -> None:
    """The whole body stays below five mebibytes (hooks-and-apis 4); one event alone always goes."""
    large = b"e" * (MAX_BATCH_BYTES // 3)
    batch = next_batch((large + b"\n") * 4, encode)
    assert len(batch.events) == 2
    assert len(next_batch(large * 4 + b"\n", encode).events) == 1


def test_an_unfinished_line_waits_until_it_stands_alone() -> None:
    """Its writer may be at it; when nothing else is left it is taken for what it is."""
    assert next_batch(b"e\nx", encode) == Batch(2, (Wire("u", "", b"e"),), b"e\n")
    assert next_batch(b"x", encode).unsendable == b"x\n"
    assert next_batch(b"e\ne", encode).size == 3


@given(st.lists(st.sampled_from([b"e", b"x", b"", b" ", b"ee"]), max_size=300), st.booleans())
def test_nothing_is_skipped(parts: list[bytes], is_ended: bool) -> None:
    """Batch by batch every line is either sent or kept, in order, once; and each batch takes something."""
    content = b"\n".join(parts) + (b"\n" if is_ended else b"")
    sent, kept = b"", b""
    while content:
        batch = next_batch(content, encode)
        assert 0 < batch.size <= len(content)
        sent += batch.lines
        kept += batch.unsendable
        content = content[batch.size :]
    assert sent.split() == [part for part in parts if part.startswith(b"e")]
    assert kept.split() == [part for part in parts if part == b"x"]


def test_lines_are_kept_as_they_stand() -> None:
    """What a refused batch leaves behind is what was recorded."""
    recorded = line(1) + line(2)
    batch = next_batch(recorded, lambda text: Wire(json.loads(text)["uuid"], "", text))
    assert batch.lines == recorded
