"""From the bytes of a handoff file to a handoff. Pure: what to do with what does not parse is the ingest's business."""

import json
import math
from typing import Any

import msgspec

from memsyncd.hooks.handoff import Handoff, NotAHandoffError, parse

MAX_BYTES = 96 * 1024 * 1024
"""The largest handoff read: a hook's 64 MB of input, every byte escaped half again. Larger ones are set aside."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_decoder = msgspec.json.Decoder()


class TornError(ValueError):
    """Not (yet) one whole JSON document."""


def handoff_from(content: bytes, *, stem: str) -> Handoff:
    """Return the handoff in `content`, read from a file named `stem`.

    Text that is no Unicode (a lone surrogate, a broken byte) is replaced by U+FFFD rather than refused, for one stray
    character must not cost a session (never-again 113). Raises TornError where there is no whole JSON document, and
    NotAHandoffError where there is one of another shape.
    """
    document: Any
    try:
        document = _decoder.decode(content)
    except (msgspec.DecodeError, RecursionError):
        document = _cleaned(content)
    return parse(document, stem=stem)


def _cleaned(content: bytes) -> Any:
    text = content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace")
    try:
        return _storable(json.loads(text, parse_int=_integer))
    except ValueError as error:
        raise TornError("not one whole JSON document") from error
    except RecursionError as error:
        raise NotAHandoffError("nested too deeply") from error


def _integer(digits: str) -> int | str:
    """Return a whole number, as text where it has more digits than Python turns into one (4,300)."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _storable(value: Any) -> Any:
    """Return a value without what neither UTF-8 nor JSON can hold: lone surrogates, and numbers beyond a double."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value
