"""Bytes become lines, in whatever pieces they come, and none is longer than the bound."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as some

from memsyncd.mcp_server.lines import KEPT_BYTES, LineSplitter, TooLong

LIMIT = 40


def split(pieces: Iterable[bytes], limit: int = LIMIT) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.end()]


@settings(max_examples=40, deadline=None)
@given(some.lists(some.binary(max_size=60).map(lambda data: data.replace(b"\n", b"")), max_size=8), some.data())
def test_lines_do_not_depend_on_how_they_come(lines: list[bytes], data: some.DataObject) -> None:
    """Every cutting of the same bytes gives the same lines, short ones whole and long ones as their ends."""
    whole = b"\n".join(lines)
    cuts = sorted(data.draw(some.lists(some.integers(0, len(whole)), max_size=6)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    expected = [
        line if len(line) <= LIMIT else TooLong(line[:KEPT_BYTES], line[-KEPT_BYTES:])
        for line in lines
        if line.strip() or len(line) > LIMIT
    ]
    assert split(pieces) == expected


def test_a_line_without_end_is_not_kept() -> None:
    """A client that never ends its line fills no memory, and the line after it is whole."""
    splitter = LineSplitter(1_000)
    for _ in range(1_000):
        assert list(splitter.feed(b"x" * 1_000)) == []
        assert sum(map(len, splitter._parts)) <= 1_000 + KEPT_BYTES
    found = list(splitter.feed(b"end\nnext\n"))
    assert found[1] == b"next"
    assert isinstance(found[0], TooLong)
    assert found[0].tail.endswith(b"xend")
