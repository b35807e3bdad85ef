"""A session's memory policies for any host: what is searched for, what is shown, and what counts as shown.

The decisions are plain and synchronous, so one object serves blocking hosts (`recall`, with the search in a thread)
and asynchronous ones (`recall_async`, on their loop). No recall raises for what a search does, and none takes longer
than its time limit. Safe from any thread.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from memsyncd.clock import Clock
from memsyncd.lifecycle import capture, timed_search
from memsyncd.lifecycle.formatting import compact_line
from memsyncd.lifecycle.found import memories_of
from memsyncd.lifecycle.recall import Outcome, Recall
from memsyncd.lifecycle.timed_search import AsyncSearch, Search
from memsyncd.platforms.answers import EPISODE
from memsyncd.platforms.platform import Memory, Message
from memsyncd.recall.context import DEFAULT_BUDGET, HEADING, Context, context, tagged
from memsyncd.recall.cutting import whole
from memsyncd.redaction import bounded

DEFAULT_TIMEOUT_SECONDS = 2.0
"""Facts 18.2."""

MAX_QUERY = 6_000
"""Characters of a prompt that are searched for (facts 7.3)."""

_MAX_REASON = 300

Delivered = Callable[[str], bool]
"""Whether the host can give, or gave, this text to its agent."""


@dataclass(frozen=True, slots=True)
class _Question:
    query: str
    session: int


class MemoryLifecycle:
    """One conversation's recall and capture. The host begins sessions, brings the search, and says what arrived.

    A memory counts as shown once the host says so, either through `delivered` given to a recall, or later by
    `mark_delivered`; until then it may be found again (facts 18.4, 20.34).
    """

    def __init__(
        self,
        *,
        enabled: bool = True,
        budget: int = DEFAULT_BUDGET,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        heading: str = HEADING,
        min_query_characters: int = 1,
        once_per_session: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Begin the first session.

        `budget` is the characters of a whole text, tags and `heading` included (facts 18.5). Prompts shorter than
        `min_query_characters` are not searched for. With `once_per_session` the first search that came to something
        ends searching until the next session: one that failed, or whose text was not delivered, does not (facts 7.2
        has it otherwise). `enabled` False means no search; capture is the host's own choice.
        """
        self._enabled = enabled
        self._budget = budget
        self._timeout_seconds = timeout_seconds
        self._frame = tagged(heading)
        self._min_query_characters = max(1, min_query_characters)
        self._once_per_session = once_per_session
        self._clock = clock or Clock()
        self._room = timed_search.slots()
        self._lock = threading.Lock()
        self._session = 1
        self._shown: set[str] = set()
        self._spent = False

    def begin_session(self, shown: Iterable[str] = ()) -> None:
        """Begin anew: nothing counts as shown but the memory ids in `shown`, which a resumed session brings along."""
        with self._lock:
            self._session += 1
            self._shown = set(shown)
            self._spent = False

    @property
    def shown(self) -> frozenset[str]:
        """The ids of the memories this session has been shown; of one without an id, its text."""
        with self._lock:
            return frozenset(self._shown)

    def prepare_user_text(self, content: object) -> str:
        """Return a prompt's words as they may be kept: see `memsyncd.prepare_user_text`."""
        return capture.prepare_user_text(content)

    def prepare_conversation(self, messages: Iterable[Message | Mapping[str, object]]) -> list[Message]:
        """Return the messages that may be kept: see `memsyncd.prepare_conversation`."""
        return capture.prepare_conversation(messages)

    def recall(self, prompt: object, search: Search, *, delivered: Delivered | None = None) -> Recall:
        """Search for what helps with `prompt`, and return it as text. For hosts that may block for the time limit.

        Without `delivered` nothing counts as shown before `mark_delivered`.
        """
        question = self._question(prompt)
        if isinstance(question, Recall):
            return question
        try:
            answer = timed_search.ask(search, question.query, seconds=self._timeout_seconds, room=self._room)
            return self._told(answer, question.session, delivered)
        except Exception as error:  # noqa: BLE001  (whatever a host's search raises is a failed search)
            return _failed(error, question.session)

    async def recall_async(self, prompt: object, search: AsyncSearch, *, delivered: Delivered | None = None) -> Recall:
        """Do what `recall` does, on the running asyncio loop; cancelling it cancels the search."""
        question = self._question(prompt)
        if isinstance(question, Recall):
            return question
        try:
            answer = await timed_search.ask_async(search, question.query, seconds=self._timeout_seconds)
            return self._told(answer, question.session, delivered)
        except Exception as error:  # noqa: BLE001  (as above)
            return _failed(error, question.session)

    def mark_delivered(self, recall: Recall) -> bool:
        """Count a recall's memories as shown, as its text reached the agent. Repeating it changes nothing.

        Returns False for one without a text, or of an earlier session, whose agent is not this one's.
        """
        with self._lock:
            if not recall.text or recall.session != self._session:
                return False
            self._shown.update(map(_key, recall.memories))
            self._spent = self._once_per_session
            return True

    def _question(self, prompt: object) -> _Question | Recall:
        """Return what to search for, or why nothing is."""
        with self._lock:
            session, spent = self._session, self._spent
        if not self._enabled:
            return Recall(Outcome.DISABLED, reason="memory is switched off", session=session)
        if spent:
            return Recall(Outcome.SPENT, reason="this session's search has been made", session=session)
        text = capture.prepare_user_text(prompt)
        if len(text) < self._min_query_characters:
            return Recall(Outcome.NOT_ASKED, reason="the prompt is too short", session=session)
        return _Question(text[: whole(text, MAX_QUERY)], session)

    def _told(self, answer: object, session: int, delivered: Delivered | None) -> Recall:
        found: dict[str, Memory] = {}
        for memory in memories_of(answer):
            if memory.memory and memory.metadata.get("type") != EPISODE:
                found.setdefault(_key(memory), memory)
        with self._lock:
            is_current = session == self._session
            known = self._shown & found.keys() if is_current else set()
            new = [memory for key, memory in found.items() if key not in known]
            if is_current and not new:
                self._spent = self._once_per_session
        line = partial(compact_line, now=self._clock.wall())
        made = context(new, budget=self._budget, frame=self._frame, line=line)
        recall = Recall(
            _outcome(made, new),
            text=made.text,
            memories=made.included,
            matched=len(found),
            already_shown=len(known),
            session=session,
        )
        if delivered is not None and made.text and _arrived(delivered, made.text):
            self.mark_delivered(recall)
        return recall


def _key(memory: Memory) -> str:
    return memory.id or memory.memory


def _outcome(made: Context, new: Sequence[Memory]) -> Outcome:
    if made.text:
        return Outcome.FOUND
    return Outcome.NO_ROOM if new else Outcome.NOTHING_NEW


def _arrived(delivered: Delivered, text: str) -> bool:
    try:
        return bool(delivered(text))
    except Exception:  # noqa: BLE001  (a host that cannot tell has not delivered; the text it gets all the same)
        return False


def _failed(error: Exception, session: int) -> Recall:
    outcome = Outcome.TIMED_OUT if isinstance(error, TimeoutError) else Outcome.FAILED
    reason = bounded(f"{type(error).__name__}: {error}".removesuffix(": "), _MAX_REASON)
    return Recall(outcome, reason=reason, session=session)
