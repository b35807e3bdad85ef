"""What a recall needs of the daemon around it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from daemon.recalling.question import Question
from daemon.searching.answer import Answer
from daemon.searching.request import SearchRequest
from daemon.settings.schema import Recall as RecallSettings
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import Scope
from memsyncd.evidence.store import EvidenceStore


class Searching(Protocol):
    """The one search."""

    def answer(self, request: SearchRequest, *, timeout: float) -> Answer:
        """Answer within `timeout` seconds; raises nothing that a platform does."""


@dataclass(frozen=True)
class Around:
    """What a recall needs of the daemon. `store` raises KeyError for a harness that has no store yet; `scan` takes in
    what hooks have just left, new spools included, within so many seconds. `held` says why a directory is paused or
    excluded, or None. `untold` finds the prompt of a hook that brings none, else "". `on_event(kind, **fields)`
    tells observers."""

    store: Callable[[str], EvidenceStore]
    scan: Callable[[float], bool]
    search: Searching
    resolve: Callable[[str], Scope]
    held: Callable[[str], str | None]
    untold: Callable[[Question], str]
    settings: RecallSettings
    clock: Clock
    counters: Counters
    on_event: Callable[..., None]
