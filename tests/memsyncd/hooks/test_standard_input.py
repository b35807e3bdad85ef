"""When a hook's input is over, and what counts as one whole document."""

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.hooks import standard_input
from memsyncd.hooks.standard_input import is_object, is_plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from(["", " ", "\r\n\t"]))
def test_any_object_is_whole(value: dict[str, Any], space: str) -> None:
    """Whatever JSON object is written, in either escaping, is told as whole, with white space around it."""
    assert is_object((space + json.dumps(value) + space).encode())
    assert is_object((space + json.dumps(value, ensure_ascii=False) + space).encode("utf-8", "replace"))


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_no_part_of_an_object_is_whole(value: dict[str, Any], data: st.DataObject) -> None:
    """Cut anywhere, an object is no object any more."""
    text = json.dumps(value).encode()
    assert not is_object(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"1",
        b'"{}"',
        b"{} {}",
        b"{}, {}",
        b'{}, "action": "flush", "hook_input": {}',
        b"{}}",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": "line\nbreak"}',
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        b"\xef\xbb\xbf{}",
        b"\xc2\xa0{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_object_cannot_pass_for_one(raw: bytes) -> None:
    """Text that is no single JSON object, above all one that would smuggle in keys of the handoff, is refused."""
    assert not is_object(raw)


def test_numbers_of_any_length_pass() -> None:
    """A number longer than Python's integers may be read from is still JSON."""
    assert is_object(b'{"a": ' + b"9" * 10_000 + b', "b": 1e999999}')


@pytest.mark.parametrize(
    ("raw", "plain"), [(rb'{"a": "\u00e4"}', True), (rb'{"a": "\ud83d"}', False), (rb'{"a": "\uDE00"}', False)]
)
def test_surrogate_escapes_are_looked_at(raw: bytes, plain: bool) -> None:
    """A document with escapes that may be half a character is not taken byte for byte."""
    assert is_plain(raw) == plain


def test_a_slow_writer_is_heard_out(every: Any) -> None:
    """Input that pauses for less than its time is read to its end, though it takes longer than that in all."""
    process = start_with(every, "standard_input.IDLE_SECONDS = 3.0")
    for part in (b'{"a": {}', b', "b": {}', b', "c": {}', b"}"):
        process.stdin.write(part)
        process.stdin.flush()
        time.sleep(0.8)  # the pause is what is tested
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert every.only()["hook_input"] == {"a": {}, "b": {}, "c": {}}


def test_a_pipe_left_open_ends_with_the_document(every: Any) -> None:
    """A whole document ends the reading, however long silence would have to last, though the pipe stays open."""
    process = start_with(every, "standard_input.IDLE_SECONDS = 600.0")
    process.stdin.write(b'{"a": "}"}\n')
    process.stdin.flush()
    assert process.wait(timeout=60) == 0
    assert every.only()["hook_input"] == {"a": "}"}


def at_most(megabytes: int) -> Callable[[], None]:
    """Return what limits a process's address space; a peak read afterwards would count that of its parent too."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def start_with(drop: Any, setting: str) -> Any:
    """Start a drop with another setting in its module."""
    code = f"import sys; sys.path.insert(0, sys.argv[1]); from memsyncd.hooks import drop, standard_input; {setting}; "
    code += "drop.main(sys.argv[2:])"
    root = str(Path(standard_input.__file__).parents[2])
    return drop.start(before=["-I", "-S", "-c", code, root])


@pytest.mark.parametrize(("sent", "raw"), [(b"", None), (b'{"a": 1', '{"a": 1')])
def test_a_silent_pipe_is_over_after_a_second(drop: Any, sent: bytes, raw: str | None) -> None:
    """Where nothing comes for a second the hook ends, with what has come."""
    process = drop.start()
    process.stdin.write(sent)
    process.stdin.flush()
    assert process.wait(timeout=60) == 0
    assert (drop.only()["hook_input"], drop.only().get("raw")) == ({}, raw)


@pytest.mark.parametrize("close", [True, False])
def test_sixteen_megabytes_come_through(every: Any, close: bool) -> None:
    """16 MB arrive whole, with bounded work and memory, whether or not the pipe is closed behind them."""
    piece = json.dumps({"tool": "Write", "text": "}" * 1000 + "\u00e4\n"}, ensure_ascii=False).encode()
    payload = b'{"pieces": [' + b", ".join([piece] * (16_000_000 // len(piece))) + b"]}"
    process = every.start(preexec_fn=at_most(200))  # the document, its text, and the scanner's objects
    process.stdin.write(payload)
    process.stdin.flush()
    if close:
        process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_utime + usage.ru_stime < 3
    [path] = every.files()
    assert path.read_bytes().endswith(payload + b"}\n")
    assert every.log() == []


def test_a_document_that_looks_finished_often_is_not_parsed_often(drop: Any) -> None:
    """A writer that stops at every closing brace does not make the reading quadratic."""
    process = drop.start()
    piece = b'{"text": "' + b"x" * 65_000 + b'"}'
    process.stdin.write(b'{"pieces": [')
    for _ in range(200):
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(0.001)  # lets the reader find the pipe empty
        process.stdin.write(b", ")
    process.stdin.write(b"{}]}")
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert usage.ru_utime + usage.ru_stime < 1.0
    assert len(drop.only()["hook_input"]["pieces"]) == 201


def test_what_is_too_large_is_drained_and_told(drop: Any) -> None:
    """Above 64 MB the writer sees no broken pipe, and the handoff holds the size and the head; memory stays low."""
    process = drop.start(preexec_fn=at_most(220))
    block = b"x" * (1 << 20)
    process.stdin.write(b'{"session_id": "s1", "text": "')
    for _ in range(66):
        process.stdin.write(block)
    process.stdin.write(b'"}')
    process.stdin.close()
    _, status, _ = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    hook_input = drop.only()["hook_input"]
    assert (hook_input["memsyncd_oversized"], hook_input["bytes"]) == (True, 66 * (1 << 20) + 32)
    assert len(hook_input["head"]) == 4096
    assert hook_input["head"].startswith('{"session_id": "s1", "text": "xxx')
    assert drop.log()[0][3] == "OversizedInputError"


def test_a_file_and_an_empty_device_are_read(drop: Any, tmp_path: Path) -> None:
    """Standard input may be a file or the empty device, too."""
    path = tmp_path / "input.json"
    path.write_bytes(b'{"a": 1}\n')
    for source in (str(path), os.devnull):
        with open(source, "rb") as stream:
            drop.start(stdin=stream).wait(timeout=60)
    assert [handoff["hook_input"] for handoff in drop.handoffs()] == [{"a": 1}, {}]


def test_closed_standard_input_leaves_a_handoff_and_a_line(drop: Any) -> None:
    """Without standard input there is still a handoff, and the log says why it is empty."""
    process = drop.start(stdin=None, preexec_fn=lambda: os.close(0))
    assert process.wait(timeout=60) == 0
    assert drop.only()["hook_input"] == {}
    assert [words[3:] for words in drop.log()] == [["OSError", "EBADF"]]


def test_the_writer_sees_no_broken_pipe(drop: Any) -> None:
    """What comes behind the whole document, even a little later, is read away before the hook ends."""
    process = start_with(drop, "standard_input.LINGER_SECONDS = 600.0")
    process.stdin.write(b"{}")
    process.stdin.flush()
    while not drop.files():
        time.sleep(0.005)
    process.stdin.write(b" " * 300_000 + b"\n")
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert drop.only()["hook_input"] == {}
