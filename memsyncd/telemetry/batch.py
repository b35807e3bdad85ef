"""The next batch of a claimed file's lines. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memsyncd.telemetry.posthog import MAX_BATCH_BYTES, MAX_BATCH_EVENTS, Unsendable, Wire

Encode = Callable[[bytes], Wire | Unsendable]
"""Turns a line of the spool into what is sent, or says why it never will be."""

_ENVELOPE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Batch:
    """The first `size` bytes of a file: the events in them, their lines as they stand, and the lines never sent."""

    size: int
    events: Sequence[Wire] = ()
    lines: bytes = b""
    unsendable: bytes = b""
    reasons: Mapping[Unsendable, int] = field(default_factory=dict)


def next_batch(content: bytes, encode: Encode) -> Batch:
    """Return as much of `content`, from its beginning, as goes in one request.

    A last line without its end that is no event is left for later, when it stands alone: its writer may be at it.
    """
    events: list[Wire] = []
    lines, unsendable = bytearray(), bytearray()
    reasons: dict[Unsendable, int] = {}
    place, weight = 0, _ENVELOPE_BYTES
    while place < len(content) and len(events) < MAX_BATCH_EVENTS:
        end = content.find(b"\n", place)
        line = content[place : end if end >= 0 else len(content)]
        event = encode(line) if line.strip() else None
        if isinstance(event, Wire):
            weight += len(event.json) + 1
            if events and weight > MAX_BATCH_BYTES:
                break
            events.append(event)
            lines += line + b"\n"
        elif event is not None:
            if end < 0 and place:
                break
            unsendable += line + b"\n"
            reasons[event] = reasons.get(event, 0) + 1
        place += len(line) + (end >= 0)
    return Batch(place, tuple(events), bytes(lines), bytes(unsendable), reasons)
