"""The memory provider that keeps everything in this process: for tests and programs that need nothing to last."""

from collections import defaultdict, deque

from memsyncd.agent_state.provider import KEPT_TOOL_EVENTS, DocumentKind, StateProvider
from memsyncd.agent_state.sources import rank
from memsyncd.clock import Clock

_Topic = tuple[str, str]


class InMemoryMemoryProvider(StateProvider):
    """A MemoryProvider without a file. For one event loop; its methods never wait, so each is done in one piece."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock or Clock())
        self._messages: dict[_Topic, list[str]] = {}
        self._fact_rows: dict[tuple[str, str | None], dict[str, tuple[str, str]]] = {}
        self._documents: dict[tuple[DocumentKind, str, str], str] = {}
        self._tool_events: dict[str, deque[tuple[str, str]]] = {}
        self._tool_events_seen: dict[str, int] = defaultdict(int)

    async def _append_message(self, user_id: str, topic_id: str, body: str) -> None:
        self._messages.setdefault((user_id, topic_id), []).append(body)

    async def _last_messages(self, user_id: str, topic_id: str, limit: int) -> list[str]:
        return self._messages.get((user_id, topic_id), [])[-limit:]

    async def _count_messages(self, user_id: str, topic_id: str) -> int:
        return len(self._messages.get((user_id, topic_id), []))

    async def _cut_messages(self, user_id: str, topic_id: str, kept: int) -> int:
        messages = self._messages.get((user_id, topic_id), [])
        gone = max(len(messages) - kept, 0)
        del messages[:gone]
        return gone

    async def _put_fact(self, user_id: str, topic_id: str | None, key: str, value: str, source: str) -> None:
        facts = self._fact_rows.setdefault((user_id, topic_id), {})
        if key not in facts or rank(facts[key][1]) <= rank(source):
            facts[key] = (value, source)

    async def _facts(self, user_id: str, topic_id: str | None) -> list[tuple[str, str]]:
        scopes = [None] if topic_id is None else [None, topic_id]
        return [
            (key, value) for scope in scopes for key, (value, _) in self._fact_rows.get((user_id, scope), {}).items()
        ]

    async def _put(self, kind: DocumentKind, user_id: str, topic_id: str, body: str, *, replace: bool = True) -> None:
        if replace:
            self._documents[kind, user_id, topic_id] = body
        else:
            self._documents.setdefault((kind, user_id, topic_id), body)

    async def _get(self, kind: DocumentKind, user_id: str, topic_id: str) -> str | None:
        return self._documents.get((kind, user_id, topic_id))

    async def _append_tool_event(self, user_id: str, topic_id: str, body: str) -> None:
        self._tool_events.setdefault(user_id, deque(maxlen=KEPT_TOOL_EVENTS)).append((topic_id, body))
        self._tool_events_seen[user_id] += 1

    async def _last_tool_events(self, user_id: str, topic_id: str | None, limit: int) -> list[str]:
        events = self._tool_events.get(user_id, ())
        return [body for topic, body in events if topic_id is None or topic == topic_id][-limit:]

    async def _dropped_tool_events(self, user_id: str) -> int:
        return self._tool_events_seen.get(user_id, 0) - len(self._tool_events.get(user_id, ()))
