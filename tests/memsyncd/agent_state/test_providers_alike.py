"""Step by step, both backends of every memory give the same answers, over restarts of the one on disk."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memsyncd import agent_state
from memsyncd.agent_state import Episode, GoalState, Procedure, ToolEvent
from memsyncd.clock import Clock

NAMES = st.sampled_from(["a", "A", "", "ä", "a_b", "a%", "\ud83d", "a\x00"])
USERS = st.sampled_from(["u", "v"])
TOPICS = st.sampled_from(["", "t", "\udc00"])
LIMITS = st.integers(-2, 8) | st.just(2**65)
TEXTS = st.text(max_size=5) | st.sampled_from(["\ud800", "7", "null"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=2)
SOURCES = st.sampled_from(["user", "ai_inferred", "mcp", "?"])
WORDS = st.lists(
    st.sampled_from(["red", "Red", "green", "grün", "blue-ish", "++", "red_green", "हिन्दी"]), max_size=4
).map(" ".join)
OFFSETS = st.sampled_from([None, UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-5, minutes=-30))])
TIMES = st.builds(
    lambda minutes, offset: (datetime(2026, 11, 30, 12, tzinfo=UTC) + timedelta(minutes=minutes)).replace(
        tzinfo=offset
    ),
    st.integers(-900, 900),
    OFFSETS,
)
Ask = Callable[[Any], Coroutine[Any, Any, Any]]


class Pair(RuleBasedStateMachine):
    """One store in memory and one in a file, asked the same."""

    kinds = ("InMemoryMemoryProvider", "SqliteMemoryProvider")

    @initialize()
    def begin(self) -> None:
        """Start with nothing."""
        self.directory = tempfile.TemporaryDirectory(prefix="state-", dir="/tmp")
        self.runner = asyncio.Runner()
        self.in_memory = getattr(agent_state, self.kinds[0])(**self.arguments())
        self.on_disk = self.open()

    def arguments(self) -> dict[str, Any]:
        return {}

    def open(self) -> Any:
        return getattr(agent_state, self.kinds[1])(Path(self.directory.name) / "state.sqlite3", **self.arguments())

    def same(self, ask: Ask) -> Any:
        """Ask both; return what both answered."""
        expected, found = self.runner.run(ask(self.in_memory)), self.runner.run(ask(self.on_disk))
        assert found == expected
        assert repr(found) == repr(expected)  # 1 is not True, nor one order of keys another
        return found

    @rule()
    def restart(self) -> None:
        """Close the file and open it again."""
        self.on_disk.close()
        self.on_disk = self.open()

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "on_disk"):
            self.on_disk.close()
            self.runner.close()
            self.directory.cleanup()


class Providers(Pair):
    """The eight stores."""

    def arguments(self) -> dict[str, Any]:
        return {"clock": Clock(wall=lambda: 1_796_083_500.0)}

    @rule(
        user=USERS,
        topic=TOPICS,
        role=NAMES,
        content=TEXTS,
        calls=st.none() | st.lists(OBJECTS, max_size=2),
        metadata=st.none() | OBJECTS,
    )
    def save_message(self, *, user: str, topic: str, role: str, content: str, calls: Any, metadata: Any) -> None:
        """Append, and read all."""
        self.same(lambda store: store.save_message(user, topic, role, content, calls, metadata=metadata, name=role))
        self.same(lambda store: store.get_messages(user, topic, 100))

    @rule(user=USERS, topic=TOPICS, limit=LIMITS)
    def get_messages(self, user: str, topic: str, limit: int) -> None:
        """Read the last."""
        found = self.same(lambda store: store.get_messages(user, topic, limit))
        assert len(found) == max(0, min(limit, self.same(lambda store: store.count_messages(user, topic))))

    @rule(user=USERS, topic=TOPICS, keep=LIMITS)
    def delete_messages(self, user: str, topic: str, keep: int) -> None:
        """Delete what is told to be deleted."""
        before = self.same(lambda store: store.count_messages(user, topic))
        deleted = self.same(lambda store: store.delete_messages_before(user, topic, keep))
        assert deleted == before - min(before, max(keep, 0))
        assert self.same(lambda store: store.count_messages(user, topic)) == before - deleted

    @rule(user=USERS, topic=st.none() | TOPICS, key=NAMES, value=VALUES, source=SOURCES)
    def upsert_fact(self, user: str, topic: str | None, key: str, value: Any, source: str) -> None:
        """Set a fact, and read them in their order."""
        self.same(lambda store: store.upsert_fact(user, key, value, topic, source))
        for where in (None, "", "t"):
            found = self.same(lambda store, where=where: store.get_facts(user, where))
            if where == topic and source == "user":
                assert repr(found[key]) == repr(value)
        self.same(lambda store: store.get_user_profile(user))

    @rule(user=USERS, topic=TOPICS, text=TEXTS, covered=st.integers())
    def save_summary(self, user: str, topic: str, text: str, covered: int) -> None:
        """Replace a summary."""
        self.same(lambda store: store.save_summary(user, topic, text, covered))
        assert self.same(lambda store: store.get_summary(user, topic)) == text
        assert self.same(lambda store: store.get_messages_covered(user, topic)) == covered

    @rule(
        user=USERS, topic=TOPICS, other=TOPICS, title=TEXTS, amount=st.none() | st.integers(), plan=st.none() | OBJECTS
    )
    def save_goal(self, *, user: str, topic: str, other: str, title: str, amount: int | None, plan: Any) -> None:
        """Replace a goal."""
        goal = GoalState(topic, title, amount, amount or 0, title, plan, is_main=amount is None)
        self.same(lambda store: store.save_goal(user, goal))
        assert self.same(lambda store: store.get_active_goal(user, topic)) == goal
        self.same(lambda store: store.get_active_goal(user, other))

    @rule(
        user=USERS,
        topic=TOPICS,
        role=NAMES,
        skills=st.lists(NAMES, max_size=2),
        turns=st.integers(0, 3),
        other=st.none() | NAMES,
    )
    def save_session_state(
        self, *, user: str, topic: str, role: str, skills: list[str], turns: int, other: str | None
    ) -> None:
        """Replace a session state."""
        self.same(
            lambda store: store.save_session_state(
                user,
                topic,
                role,
                skills,
                role,
                delegated_from=other,
                delegation_turn_count=turns,
                delegation_summary=other,
            )
        )
        self.same(lambda store: store.get_session_state(user, topic))

    @rule(user=USERS, phase=TEXTS, notes=TEXTS)
    def save_phase_state(self, user: str, phase: str, notes: str) -> None:
        """Replace a phase; note the user."""
        self.same(lambda store: store.save_phase_state(user, phase, notes))
        self.same(lambda store: store.get_phase_state(user))
        self.same(lambda store: store.ensure_user(user))

    @rule(user=USERS, topic=TOPICS, tool=NAMES, given=st.none() | OBJECTS, limit=LIMITS)
    def save_tool_event(self, user: str, topic: str, tool: str, given: Any, limit: int) -> None:
        """Append a tool event."""
        self.same(lambda store: store.save_tool_event(user, ToolEvent(topic, tool, given, latency_ms=limit)))
        self.same(lambda store: store.get_tool_events(user, topic, limit))
        self.same(lambda store: store.get_tool_events(user, None, limit))


class Episodes(Pair):
    """The episodic memories."""

    kinds = ("InMemoryEpisodicMemory", "SqliteEpisodicMemory")

    @rule(name=NAMES, summary=WORDS, decision=WORDS, moment=TIMES, tags=st.lists(NAMES, max_size=3), metadata=OBJECTS)
    def store(
        self, *, name: str, summary: str, decision: str, moment: datetime, tags: list[str], metadata: Any
    ) -> None:
        """Keep or replace."""
        episode = Episode(name, summary, (decision,), (), timestamp=moment, tags=tuple(tags), metadata=metadata)
        self.same(lambda store: store.store(episode))
        self.same(lambda store: store.count())

    @rule(query=WORDS, limit=LIMITS, tag=NAMES)
    def recall(self, query: str, limit: int, tag: str) -> None:
        """Ask in every way."""
        self.same(lambda store: store.recall(query, top_k=limit))
        self.same(lambda store: store.recall_recent(limit))
        self.same(lambda store: store.recall_by_tag(tag))


class Procedures(Pair):
    """The procedural memories."""

    kinds = ("InMemoryProceduralMemory", "SqliteProceduralMemory")

    @rule(
        name=NAMES,
        words=WORDS,
        trigger=WORDS,
        successes=st.integers(0, 3),
        failures=st.integers(0, 3),
        metadata=OBJECTS,
    )
    def store(self, *, name: str, words: str, trigger: str, successes: int, failures: int, metadata: Any) -> None:
        """Keep or replace."""
        procedure = Procedure(name, words, "", trigger, (), successes, failures, (words,), metadata)
        self.same(lambda store: store.store(procedure))
        self.same(lambda store: store.count())

    @rule(name=NAMES, success=st.booleans())
    def record(self, name: str, *, success: bool) -> None:
        """Count a use."""
        self.same(lambda store: store.record_outcome(name, success=success))
        self.same(lambda store: store.get(name))

    @rule(query=WORDS, limit=LIMITS)
    def suggest(self, query: str, limit: int) -> None:
        """Ask."""
        self.same(lambda store: store.suggest(query, top_k=limit))


class Sessions(Pair):
    """The session backends."""

    kinds = ("InMemorySessionBackend", "SqliteSessionBackend")

    @rule(key=NAMES, state=OBJECTS, other=NAMES, delete=st.booleans())
    def save(self, key: str, state: dict[str, Any], other: str, *, delete: bool) -> None:
        """Save one, and perhaps delete another."""
        self.same(lambda store: store.save(key, state))
        if delete:
            self.same(lambda store: store.delete(other))
        self.same(lambda store: store.load(key))
        self.same(lambda store: store.list_keys())


LIMIT = settings(max_examples=8, stateful_step_count=20, deadline=None)
for machine in (Providers, Episodes, Procedures, Sessions):
    machine.TestCase.settings = LIMIT
TestProviders = Providers.TestCase
TestEpisodes = Episodes.TestCase
TestProcedures = Procedures.TestCase
TestSessions = Sessions.TestCase
