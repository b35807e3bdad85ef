"""A whole answer, and the bounds within which it is read."""

import zlib
from dataclasses import dataclass

import httpx

from memsyncd.platforms.platform import NoAnswer, NotUnderstood

MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""More is not read: a listing page of 100 whole batches stays below, unless they are full of escapes."""


class AnswerTooLongError(NotUnderstood):
    """More bytes than we read; a shorter page may do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `body` is unpacked and otherwise as it came."""

    status: int
    headers: httpx.Headers
    body: bytes = b""


def read(response: httpx.Response) -> bytes:
    """Return the body, unpacked, reading no more than MAX_ANSWER_BYTES of it.

    Raises AnswerTooLongError, NotUnderstood for an encoding nobody asked for, NoAnswer for a packed body cut off.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        unpack = None
    elif encoding in ("gzip", "x-gzip", "deflate"):
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: gzip or zlib, whichever it is
    else:
        raise NotUnderstood("the answer is packed in a way nobody asked for", status=response.status_code)
    parts: list[bytes] = []
    size = 0
    try:
        for raw in response.iter_raw():
            part = raw if unpack is None else unpack.decompress(raw, MAX_ANSWER_BYTES + 1 - size)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise AnswerTooLongError(
                    f"the answer is longer than {MAX_ANSWER_BYTES >> 20} MB", status=response.status_code
                )
            parts.append(part)
    except zlib.error:
        raise NotUnderstood("the answer cannot be unpacked", status=response.status_code) from None
    if unpack is not None and not unpack.eof:
        raise NoAnswer("the answer was cut off", status=response.status_code)
    return b"".join(parts)
