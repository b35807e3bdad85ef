"""Answers `POST /recall`: a session's first prompt, once, from memories it has not been shown.

The answer is made in a thread of few and given up in time, whatever the platform does. What is shown is on record
before it is told, so that neither a restart nor a second hook repeats it.
"""

import asyncio
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import structlog

from daemon.recalling import policy
from daemon.recalling.around import Around
from daemon.recalling.limit import RESERVE_SECONDS, Limit
from daemon.recalling.question import Question, question_from
from daemon.searching.answer import memory_document
from daemon.searching.request import SearchRefused, SearchRequest
from daemon.settings.schema import Recall as RecallSettings
from memsyncd.evidence.event import Scope
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.retrievals import Recalled
from memsyncd.evidence.schema import FIRST_PROMPT_SEARCH
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.record import UNKNOWN_SESSION
from memsyncd.lifecycle.recall import Outcome, Recall
from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import HEADED, clamped, context

THREADS = 4
"""Answers made at a time; a further question is answered with nothing at once rather than piled up."""

SESSIONS = 1_000
"""Sessions whose first prompt is remembered until it is recorded."""

MOST_CHARACTERS = {"cursor": 9_500}
"""Below what a harness drops a longer context altogether (hooks-and-apis 1C)."""

NO_RECALL = Recall(Outcome.NOT_ASKED)

log = structlog.get_logger()


class Recaller:
    """Safe from any thread; `answer` is for the socket's loop."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recall")
        self._room = threading.Semaphore(THREADS)
        self._lock = threading.Lock()
        self._being_answered: set[tuple[str, str]] = set()
        self._was_short: OrderedDict[tuple[str, str], bool] = OrderedDict()
        top_k = around.settings.top_k
        self._top_k = policy.MEMORIES if top_k == RecallSettings().top_k else top_k

    async def answer(self, body: bytes, until: float | None = None) -> dict[str, Any]:
        """Return CONTRACT's answer to a body that `question_from` takes; an empty one on any trouble.

        `until` is how long the caller waits, Unix seconds. Raises NotAQuestion.
        """
        around, started = self._around, self._around.clock.monotonic()
        limit = Limit.of(around.clock, until)
        if not self._room.acquire(blocking=False):
            return self._told("", Recall(Outcome.FAILED, reason="too many questions at once"), started)
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._make, body, limit)
        work.add_done_callback(_look_at)
        try:
            await asyncio.wait((work,), timeout=limit.left)
        finally:
            limit.is_abandoned = not work.done()
        harness, recall = work.result() if work.done() else ("", Recall(Outcome.TIMED_OUT))
        return self._told(harness, recall, started)

    def close(self) -> None:
        """Begin no more answers."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _make(self, body: bytes, limit: Limit) -> tuple[str, Recall]:
        try:
            limit.check()
            question = question_from(body)
            return question.harness, self._alone(question, limit)
        except TimeoutError as error:
            return "", Recall(Outcome.TIMED_OUT, reason=str(error))
        finally:
            self._room.release()

    def _alone(self, question: Question, limit: Limit) -> Recall:
        """Answer one question of a session at a time: two hooks of one prompt run side by side, and one prints."""
        with self._lock:
            if question.session in self._being_answered:
                return Recall(Outcome.SPENT, reason="the session is being answered")
            self._being_answered.add(question.session)
        try:
            return self._recall(question, limit)
        except (KeyError, OSError, sqlite3.Error, SearchRefused) as error:
            outcome = Outcome.TIMED_OUT if isinstance(error, TimeoutError) else Outcome.FAILED
            return Recall(outcome, reason=f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._being_answered.discard(question.session)

    def _recall(self, question: Question, limit: Limit) -> Recall:
        around = self._around
        if not around.settings.enabled:
            return Recall(Outcome.DISABLED, reason="recall is switched off")
        if question.session_id == UNKNOWN_SESSION:
            return NO_RECALL
        held = around.held(question.cwd)
        if held is not None:
            return Recall(Outcome.DISABLED, reason=held)
        scope = around.resolve(question.cwd)
        store = self._store(question.harness, limit)
        known = store.recalled(question.session_id)
        if question.agent_id:
            return self._to_subagent(question, scope, known, store)
        if not question.prompt and not known.is_answered:
            question = replace(question, prompt=around.untold(question))
        if not question.prompt:
            return NO_RECALL
        was_short = self._first_was_short(question)
        no = policy.refused(question.prompt, known, was_short=was_short, min_characters=around.settings.min_query_chars)
        return Recall(no) if no is not None else self._search(question, scope, known, store, limit)

    def _store(self, harness: str, limit: Limit) -> EvidenceStore:
        """Return the store of a harness; that of one whose very first hook has just asked is made by a scan."""
        try:
            return self._around.store(harness)
        except KeyError:
            self._around.scan(limit.left / 2)
            return self._around.store(harness)

    def _first_was_short(self, question: Question) -> bool:
        is_short = len(question.prompt) < self._around.settings.min_query_chars
        with self._lock:
            was_short = self._was_short.setdefault(question.session, is_short)
            self._was_short.move_to_end(question.session)
            while len(self._was_short) > SESSIONS:
                self._was_short.popitem(last=False)
        return was_short

    def _search(self, question: Question, scope: Scope, known: Recalled, store: EvidenceStore, limit: Limit) -> Recall:
        around, started = self._around, self._around.clock.monotonic()
        cwd = question.cwd if os.path.isabs(question.cwd) else ""
        request = SearchRequest(policy.query(question.prompt), cwd=cwd, top_k=self._top_k, scope=around.settings.scope)
        answer = around.search.answer(request, timeout=max(0.0, limit.left - RESERVE_SECONDS))
        found = policy.news(answer.memories, known)
        made = context(found.memories, budget=self._budget(question.harness), frame=HEADED)
        succeeded = answer.succeeded and not limit.is_abandoned and limit.left > 0.0
        done = Operation(
            FIRST_PROMPT_SEARCH,
            question.session_id,
            scope.repo_id,
            duration_ms=(around.clock.monotonic() - started) * 1_000,
            success=succeeded,
            item_count=len(made.included) if succeeded else 0,
            request_chars=len(request.query),
            response_chars=len(made.text) if succeeded else 0,
            error=answer.why if not succeeded else "",
        )
        if not succeeded:
            store.record_recall(done)
            return Recall(Outcome.FAILED if not answer.succeeded else Outcome.TIMED_OUT, reason=answer.why)
        store.record_recall(done, policy.shown(made.included))
        outcome = Outcome.FOUND if made.text else Outcome.NOTHING_NEW
        return Recall(outcome, made.text, made.included, found.matched, found.already_shown)

    def _to_subagent(self, question: Question, scope: Scope, known: Recalled, store: EvidenceStore) -> Recall:
        """Tell a subagent what its parent was shown; once, and nothing where that was nothing (facts 11.1, 11.2)."""
        if not question.agent_type:
            return NO_RECALL
        parents = [Memory(shown.memory_id, shown.text) for shown in known.shown]
        made = context(parents, budget=self._budget(question.harness), frame=HEADED)
        if not made.text:
            return Recall(Outcome.NOTHING_NEW)
        session, agent = (question.session_id, scope.repo_id), (question.agent_id, question.agent_type)
        if not store.tell_subagent(session, agent, characters=len(made.text)):
            return Recall(Outcome.SPENT, matched=len(parents), already_shown=len(parents))
        return Recall(Outcome.FOUND, made.text, made.included, len(parents))

    def _budget(self, harness: str) -> int:
        budget = clamped(self._around.settings.max_context_chars)
        return min(budget, MOST_CHARACTERS.get(harness, budget))

    def _told(self, harness: str, recall: Recall, started: float) -> dict[str, Any]:
        around = self._around
        milliseconds = round((around.clock.monotonic() - started) * 1_000)
        around.counters.add("recalls")
        around.counters.add("recall_milliseconds", milliseconds)
        has_failed = recall.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)
        if has_failed:
            around.counters.add("recalls_failed")
            log.info("recall", harness=harness, outcome=recall.outcome.value, why=recall.reason)
        elif not recall.text:
            around.counters.add("recalls_empty")
        numbers = {"matched": recall.matched, "already_shown": recall.already_shown}
        around.on_event(
            "recall",
            harness=harness,
            outcome=recall.outcome.value,
            memories=len(recall.memories),
            milliseconds=milliseconds,
            **numbers,
        )
        return {
            "context": recall.text,
            "memories": _documents(recall.memories),
            **numbers,
            "outcome": recall.outcome.value,
            "why": recall.reason,
        }


def _documents(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    return [memory_document(memory) for memory in memories]


def _look_at(work: "asyncio.Future[tuple[str, Recall]]") -> None:
    """Look at a late answer, so that the loop reports no error nobody asked for."""
    if not work.cancelled():
        work.exception()
