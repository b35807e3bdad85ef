"""A platform in memory that behaves by a script and then tells the truth about what it has."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from memsyncd.platforms.platform import (
    Accepted,
    Account,
    Batch,
    Busy,
    Extraction,
    ExtractionState,
    Found,
    KeyRefused,
    Memory,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    Query,
    Rejected,
    Unreachable,
)


class Add(Enum):
    """What becomes of one add: whether it is carried out, and what its sender hears."""

    ACCEPT = auto()
    FINISH = auto()
    """Carried out before the answer, which names no event."""
    NO_ID = auto()
    """Carried out; the answer names no event."""
    COMMIT_UNHEARD = auto()
    """Carried out; no answer comes."""
    COMMIT_502 = auto()
    LOST = auto()
    """Not carried out; no answer comes."""
    BUSY_503 = auto()
    BUSY_429 = auto()
    OFFLINE = auto()
    REJECT = auto()
    KEY = auto()
    ODD = auto()
    """Not carried out; the answer is no answer of this platform."""


_ERRORS: dict[Add, Callable[[], PlatformError]] = {
    Add.COMMIT_UNHEARD: lambda: NoAnswer("no answer came"),
    Add.COMMIT_502: lambda: Busy("busy (502)", status=502),
    Add.LOST: lambda: NoAnswer("no answer came"),
    Add.BUSY_503: lambda: Busy("busy (503)", status=503),
    Add.BUSY_429: lambda: Busy("busy (429)", status=429, retry_after=3.0),
    Add.OFFLINE: lambda: Unreachable("no route"),
    Add.REJECT: lambda: Rejected("refused (400)", status=400),
    Add.KEY: lambda: KeyRefused("the key was refused (401)", status=401),
    Add.ODD: lambda: NotUnderstood("a page"),
}
_COMMITTING = frozenset({Add.ACCEPT, Add.FINISH, Add.NO_ID, Add.COMMIT_UNHEARD, Add.COMMIT_502})


@dataclass
class Committed:
    """A batch that was carried out; `state` is what its extraction has come to."""

    event_id: str
    batch: Batch
    state: ExtractionState
    has_event: bool = True


@dataclass
class ScriptedPlatform:
    """`adds` and `fates` are used up one for each add and each commit; after them everything goes well.

    `questions` is raised or answered in turn by single questions, then the truth is told. `on_call` is called before
    anything is done, `on_commit` after a commit; either may raise. `why` is what a failed extraction of a batch says.
    """

    adds: deque[Add] = field(default_factory=deque)
    fates: deque[ExtractionState] = field(default_factory=deque)
    questions: deque[PlatformError] = field(default_factory=deque)
    finds: deque[PlatformError] = field(default_factory=deque)
    kind: str = "scripted"
    url: str = ""
    lists: bool = True
    on_call: Callable[[str], None] = lambda _: None
    on_commit: Callable[[], None] = lambda: None
    why: Callable[[Batch], str] = lambda _: ""
    committed: list[Committed] = field(default_factory=list)
    calls: list[tuple[str, object]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def longest_call_seconds(self) -> float:
        return 15.0

    @property
    def destination(self) -> str:
        return "scripted"

    def add(self, batch: Batch) -> Accepted:
        self._called("add", batch.number)
        what = self.adds.popleft() if self.adds else Add.ACCEPT
        entry = None
        if what in _COMMITTING:
            entry = self._commit(batch, what)
            self.on_commit()
        if (error := _ERRORS.get(what)) is not None:
            raise error()
        if what is Add.FINISH:
            return Accepted("", finished=True, memories=1)
        return Accepted("" if entry is None or what is Add.NO_ID else entry.event_id)

    def extraction(self, event_id: str) -> Extraction:
        self._called("extraction", event_id)
        if self.questions:
            raise self.questions.popleft()
        return self._told(event_id)

    def extractions(self) -> Iterator[Sequence[Extraction]]:
        self._called("extractions", None)
        if not self.lists:
            raise Rejected("no such route (404)", status=404)
        newest_first = [entry.event_id for entry in reversed(self.committed) if entry.has_event]
        for start in range(0, len(newest_first), 100):
            yield [self._told(event_id) for event_id in newest_first[start : start + 100]]

    def find(
        self, packet_id: str, batch: int, *, user_id: str, app_id: str, posted_at: float | None = None
    ) -> Found | None:
        self._called("find", batch)
        if self.finds:
            raise self.finds.popleft()
        mine = [e for e in reversed(self.committed) if (e.batch.packet_id, e.batch.number) == (packet_id, batch)]
        known = [entry for entry in mine if entry.state is not ExtractionState.MISSING]
        best = sorted(known, key=lambda entry: entry.state is ExtractionState.FAILED)
        if not best:
            return None
        return Found(best[0].event_id if best[0].has_event else "", 1)

    def search(self, query: Query) -> Sequence[Memory]:
        return []

    def delete(self, memory_id: str) -> bool:
        return False

    def ping(self) -> Account:
        return Account()

    def drop_connections(self) -> None: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...

    def count(self, call: str) -> int:
        """Return how often a method was called."""
        return Counter(name for name, _ in self.calls)[call]

    def delivered(self) -> list[str]:
        """Return the texts that became memories, in the order of their commits."""
        return [
            message.content
            for entry in self.committed
            if entry.state is ExtractionState.SUCCEEDED
            for message in entry.batch.messages
        ]

    def end(self, state: ExtractionState = ExtractionState.SUCCEEDED) -> None:
        """End every extraction that is still open."""
        for entry in self.committed:
            if not entry.state.is_terminal:
                entry.state = state

    def _called(self, name: str, about: object) -> None:
        self.on_call(name)
        self.calls.append((name, about))

    def _commit(self, batch: Batch, what: Add) -> Committed:
        state = self.fates.popleft() if self.fates else ExtractionState.SUCCEEDED
        done = what is Add.FINISH
        entry = Committed(
            f"evt-{next(self._numbers)}", batch, ExtractionState.SUCCEEDED if done else state, has_event=not done
        )
        self.committed.append(entry)
        return entry

    def _told(self, event_id: str) -> Extraction:
        for entry in self.committed:
            if entry.event_id == event_id and entry.has_event:
                metadata = dict(entry.batch.metadata)
                made = 1 if entry.state is ExtractionState.SUCCEEDED else 0
                error = self.why(entry.batch) if entry.state is ExtractionState.FAILED else ""
                return Extraction(event_id, entry.state, made, error=error, metadata=metadata)
        return Extraction(event_id, ExtractionState.MISSING)
