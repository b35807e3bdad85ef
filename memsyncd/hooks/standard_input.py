"""A hook's standard input: how to know that it is all there, and whether it is one JSON object."""

import _json  # `json` costs 90 % of a bare start, for the regular expressions behind it
import posix
import select
import time

IDLE_SECONDS = 1.0
"""Input that stays away this long is over (issue 2, item 2); never a limit on the total."""

QUIET_SECONDS = 0.1
READ_SECONDS = 590.0
"""A ceiling for input that drips for ever: harnesses give a hook up after 600 s (hooks-and-apis 1A)."""

MAX_INPUT = 64 << 20
"""Bytes of input that are kept; beyond them only the head is, and the rest is read and counted."""

HEAD = 4096
"""Characters kept of input above MAX_INPUT."""

CHUNK = 1 << 16
SPACE = " \t\r\n"
SPACE_BYTES = b" \t\r\n"
LINGER_SECONDS = 0.05
"""How long a pipe left open is watched after its document, for a line break that comes by itself."""

MAX_LINGER_CHUNKS = 1024

stopped = False
"""Set by a signal: what is here already is all that comes."""


class _Form:
    """What the C scanner asks of its owner. Numbers and objects become their lengths: only the form matters here.

    NaN and Infinity, which are not JSON, raise KeyError. Longer numbers than `int` takes are fine so, too.
    """

    strict = True
    object_hook = None
    object_pairs_hook = len
    parse_float = len
    parse_int = len
    parse_constant: object = {}.__getitem__


def read(oddities: list[BaseException]) -> tuple[bytes, int]:
    """Return the input (above MAX_INPUT: its head) and its whole size in bytes.

    The end is the end of input, or a second without any, or one whole document where the writer keeps the pipe
    open. Looking for that costs a parse, so it is done when nothing more is ready, and then only when the input
    has doubled since the last look or stays quiet for a while: linear in all. Input that cannot be read is over.
    """
    chunks: list[bytes] = []
    size = looked = 0
    last = b""
    until = time.monotonic() + READ_SECONDS
    try:
        while time.monotonic() < until:
            for wait in (0.0, QUIET_SECONDS, IDLE_SECONDS - QUIET_SECONDS):
                if select.select([0], [], [], wait)[0]:
                    break
                if stopped:
                    return b"".join(chunks), size
                due = size >= 2 * looked if wait == 0.0 else size > looked
                if due and last == b"}" and size <= MAX_INPUT:
                    looked = size
                    chunks = [b"".join(chunks)]
                    if is_object(chunks[0]):
                        return chunks[0], size
            else:
                break
            chunk = posix.read(0, CHUNK)
            if not chunk:
                break
            size += len(chunk)
            last = chunk.rstrip(SPACE_BYTES)[-1:] or last
            chunks.append(chunk)
            if size > MAX_INPUT:
                chunks = [b"".join(chunks)[: 4 * HEAD]]
    except OSError as error:  # closed, or a directory
        oddities.append(error)
    return b"".join(chunks), size


def drain() -> None:
    """Take what comes behind the document, so that the writer sees no broken pipe (never-again 33).

    Costs nothing where the input has ended, as it has with most harnesses.
    """
    try:
        for _ in range(MAX_LINGER_CHUNKS):
            if not select.select([0], [], [], LINGER_SECONDS)[0] or not posix.read(0, CHUNK):
                return
    except OSError:
        pass  # there is nothing to read from


def is_object(raw: bytes) -> bool:
    """Whether `raw` is the UTF-8 text of exactly one JSON object and nothing else but white space.

    The handoff is put together as text around it: nothing in it may pass for a key of ours.
    """
    try:
        text = raw.decode("utf-8").strip(SPACE)
        end: int = _json.make_scanner(_Form)(text, 0)[1]  # type: ignore[arg-type]
    except (ValueError, KeyError, StopIteration, RecursionError, SystemError):
        # SystemError is how the scanner fails, up to Python 3.11, where `json` with its error class is not loaded.
        return False
    return text[:1] == "{" and end == len(text)


def is_plain(document: bytes) -> bool:
    r"""Whether `document` can be kept byte for byte: an object, and free of `\ud…` escapes, which may be halves."""
    return b"\\ud" not in document and b"\\uD" not in document and is_object(document)
