"""The checkpoint: how much of a session's evidence is due for delivery. Pure; reads no further than it must."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsyncd.evidence.event import Event
from memsyncd.packets import spoken

ANSWERS_DUE = 5
MESSAGES_DUE = 10
CHARACTERS_DUE = 40_000
"""Facts 3.2: any one of the three makes a prefix due, looked at only where it ends on an answer."""

PERIODIC = "periodic"
SESSION_START = "session_start"


@dataclass(frozen=True, slots=True)
class Tally:
    """What a prefix of evidence holds. A message is a prompt, an answer or a subagent's result that has words."""

    answers: int = 0
    messages: int = 0
    characters: int = 0

    def with_event(self, event: Event) -> "Tally":
        """Return the tally with one more event (facts 3.8). Tool events, a subagent's too, count for nothing."""
        words = source_text(event)
        if not words:
            return self
        return Tally(self.answers + (event.kind == spoken.ANSWER), self.messages + 1, self.characters + len(words))

    @property
    def is_due(self) -> bool:
        """Whether a threshold is reached."""
        return self.answers >= ANSWERS_DUE or self.messages >= MESSAGES_DUE or self.characters >= CHARACTERS_DUE


def source_text(event: Event) -> str:
    """Return the words by which an event is measured: of an answer with a transcript, the transcript's."""
    if event.kind == spoken.PROMPT:
        return spoken.text(event)
    if event.kind == spoken.ANSWER:
        return "\n".join(message.content for message in spoken.transcript(event)) or spoken.text(event)
    if event.kind in spoken.SUBAGENT_RESULTS:
        return spoken.result(event)
    return ""


def select(events: Iterable[Event], *, forced: bool) -> Sequence[Event]:
    """Return the first and the last event of the next packet, which may be one: it is the first prefix that is due,
    which ends on an answer (facts 3.2, 3.3).

    If none is due, `forced` takes everything (facts 3.7), else nothing is taken. Nothing is read past the prefix, and
    no more kept of it, however long it is.
    """
    first: Event | None = None
    last: Event | None = None
    tally = Tally()
    for last in events:
        first = first or last
        tally = tally.with_event(last)
        if last.kind == spoken.ANSWER and tally.is_due:
            return first, last
    return (first, last) if forced and first is not None and last is not None else ()


def continues(next_event: Event, reason: str, *, is_due: bool = True) -> bool:
    """Tell whether a delivery goes on with what is left after a success (facts 2.27).

    Not into a resumed session, whose events begin with a session start; and periodically only if the next block
    `is_due`, which a `select` that is not forced decides as well.
    """
    return next_event.kind != SESSION_START and (reason != PERIODIC or is_due)
