"""Evidence for the tests of packets."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from memsyncd.evidence.event import Event

MakeEvent = Callable[..., Event]


@pytest.fixture(name="event")
def event_maker() -> MakeEvent:
    """Return a maker of events with rising ids: a kind, then the payload's keys."""
    ids = itertools.count(1)

    def make(name: str, text: str | None = None, /, **payload: Any) -> Event:
        words = {} if text is None else {"text": text}
        return Event(next(ids), "s", name, {**words, **payload}, "2026-11-30T10:00:00.000Z", "repo", "app")

    return make
