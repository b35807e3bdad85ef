"""The recall's answers: what is told, to whom, how often, and that nothing holds up a hook."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.recalling.limit import ANSWER_SECONDS
from daemon.recalling.recaller import THREADS
from memsyncd.hooks.recalling import TOTAL_SECONDS
from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import HEADING
from tests.daemon.recalling.asking import PORT, PROMPT, SHELL, Asking
from tests.daemon.recalling.conftest import PATIENCE


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Asking]:
    made = Asking(tmp_path)
    yield made
    made.close()


def rows(at: Asking, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(at.root / "evidence.sqlite3")) as connection:
        return connection.execute(statement).fetchall()


def test_an_answer_has_the_contracts_shape(at: Asking) -> None:
    """The context under its heading, the memories in it, how many were found and how many known."""
    answer = at.ask()
    assert answer["context"] == f"{HEADING}\n1. {PORT.memory}\n2. {SHELL.memory} [learnt on branch feat/x]"
    assert [memory["id"] for memory in answer["memories"]] == ["m1", "m2"]
    assert (answer["matched"], answer["already_shown"], answer["outcome"]) == (2, 0, "found")
    [(request, seconds)] = at.requests
    assert (request.query, request.cwd, request.top_k, request.scope) == (PROMPT, "/w/tool", 5, "repo")
    assert PATIENCE / 2 < seconds < PATIENCE
    assert ANSWER_SECONDS < TOTAL_SECONDS, "less than its hook waits"
    assert at.counted() == {"recalls": 1}
    [(kind, told)] = at.events
    assert (kind, told["outcome"], told["memories"], told["harness"]) == ("recall", "found", 2, "claude-code")


@pytest.mark.parametrize(("configured", "asked"), [({}, 5), ({"top_k": 2}, 2), ({"top_k": 20}, 20)])
def test_as_many_as_are_configured_and_else_five(tmp_path: Path, configured: dict[str, int], asked: int) -> None:
    """Five, unless the user chose another number; the scope is the configured one (facts 7.4)."""
    at = Asking(tmp_path, scope="mine", **configured)
    at.ask()
    assert (at.requests[0][0].top_k, at.requests[0][0].scope) == (asked, "mine")
    at.close()


def test_a_session_is_told_once(at: Asking) -> None:
    """Not again for the same prompt, another one, or after a restart; another session is."""
    assert at.outcome() == "found"
    at.record(PROMPT)
    assert at.outcome() == at.outcome("And the production database, which port is that?") == "spent"
    at.restart()
    assert at.outcome("And once more, which port is it?") == "spent"
    assert at.outcome(session="t") == "found"
    assert len(at.requests) == 2


@pytest.mark.parametrize("is_recorded", [False, True])
def test_its_own_handoff_may_be_taken_in_first(at: Asking, is_recorded: bool) -> None:
    """It makes no difference whether the ingest was faster than the question."""
    if is_recorded:
        at.record(PROMPT)
    assert at.outcome() == "found"


def test_a_failed_search_keeps_the_chance_and_an_empty_one_does_not(at: Asking) -> None:
    """The next prompt is searched for after a failure, restarted or not; a search that found nothing was the one."""
    at.succeeds = False
    assert at.outcome() == "failed"
    at.record(PROMPT)
    at.restart()
    assert at.outcome("Which port is it, then, I ask again?") == "failed"
    at.succeeds, at.found = True, []
    assert at.outcome("Which port is it, then, I ask again?") == "nothing new"
    at.found = [PORT]
    assert at.outcome() == "spent"
    logged = rows(at, "SELECT operation, success, item_count, error FROM operations ORDER BY id")
    assert [row[:3] for row in logged] == [("first-prompt-search", ok, 0) for ok in (0, 0, 1)]
    assert logged[0][3] == "The platform is away."
    assert at.counted() == {"recalls": 3, "recalls_failed": 1, "recalls_empty": 2}


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_short_first_prompt_was_the_chance(at: Asking, is_recorded: bool) -> None:
    """Whether the evidence has it or only this daemon knows of it (facts 7.2, 7.3)."""
    assert at.outcome("hi there") == "not asked"
    if is_recorded:
        at.record("hi there")
        at.restart()
    assert at.outcome() == "spent"
    assert at.requests == []


def test_what_is_shown_is_on_record_before_it_is_told(at: Asking) -> None:
    """Rank, score, words and their length; where that cannot be written nothing is told, and the chance stays."""
    at.ask()
    shown = rows(at, "SELECT session_id, repo_id, memory_id, rank, score, memory_text, context_chars FROM retrievals")
    assert shown[0] == ("s", "https://git.example.org/team/tool", "m1", 1, 0.9, PORT.memory, len(PORT.memory))
    assert shown[1][2:5] == ("m2", 2, None)
    with closing(sqlite3.connect(at.root / "evidence.sqlite3", isolation_level=None)) as other:
        other.execute("ALTER TABLE retrievals RENAME TO elsewhere")
    assert at.ask(session="t")["context"] == ""
    with closing(sqlite3.connect(at.root / "evidence.sqlite3", isolation_level=None)) as other:
        other.execute("ALTER TABLE elsewhere RENAME TO retrievals")
    assert at.outcome(session="t") == "found"


def test_what_did_not_fit_was_not_shown(tmp_path: Path) -> None:
    """Only memories in the text count; the first that does not fit ends it (facts 8.4)."""
    at = Asking(tmp_path, max_context_chars=1_000)
    at.found = [PORT, Memory("long", "x" * 990), SHELL]
    answer = at.ask()
    assert [memory["id"] for memory in answer["memories"]] == ["m1"]
    assert len(answer["context"]) <= 1_000
    assert rows(at, "SELECT memory_id FROM retrievals") == [("m1",)]
    at.close()


def test_a_subagent_is_told_once_what_its_parent_was_shown(at: Asking) -> None:
    """Nothing before the parent was told; then the same words, once an agent, restarted or not (facts 11.1, 11.2)."""
    assert at.start_subagent("a")["context"] == ""
    shown = at.ask()["context"]
    assert at.start_subagent("a")["context"] == shown
    assert at.start_subagent("a")["outcome"] == "spent"
    at.restart()
    assert at.start_subagent("a")["context"] == ""
    assert at.start_subagent("b")["context"] == shown
    assert at.start_subagent("c", session="t")["context"] == ""
    assert at.start_subagent("d", agent_type="")["context"] == ""
    assert len(at.requests) == 1
    runs = rows(at, "SELECT agent_id, agent_type, context_chars FROM subagent_runs ORDER BY agent_id")
    assert runs == [("a", "explorer", len(shown)), ("b", "explorer", len(shown))]


@pytest.mark.parametrize("reason", ["paused", "its project is excluded"])
def test_what_is_held_is_not_asked_for(at: Asking, reason: str) -> None:
    """Pause and exclusion hold here too, and use up nothing."""
    at.held = reason
    answer = at.ask()
    assert (answer["context"], answer["outcome"], answer["why"]) == ("", "disabled", reason)
    assert at.start_subagent("a")["outcome"] == "disabled"
    at.held = None
    assert at.outcome() == "found"


def test_switched_off_it_asks_nobody(tmp_path: Path) -> None:
    """`recall.enabled = false`."""
    at = Asking(tmp_path, enabled=False)
    assert at.outcome() == "disabled"
    assert at.requests == []
    at.close()


def test_a_prompt_of_no_session_is_told_nothing(at: Asking) -> None:
    """Once a session cannot be held for the placeholder's."""
    assert at.outcome(session="") == "not asked"


def test_the_very_first_hook_of_a_harness_finds_its_store_made(at: Asking) -> None:
    """Its spool is taken in while it waits; where that does not help it is told nothing, and keeps its chance."""
    at.has_store = False
    assert at.outcome() == "found"
    assert len(at.scans) == 1 and 0.0 < at.scans[0] < PATIENCE / 2


def test_a_search_that_hangs_is_given_up_in_time_and_shows_nothing_late(at: Asking) -> None:
    """The answer comes by the caller's time; what the search finds afterwards is neither shown nor the chance."""
    go_on = threading.Event()
    at.before_answer = go_on.wait
    began = time.monotonic()
    assert at.outcome(until=time.time() + 1.0) == "timed out"
    assert time.monotonic() - began < PATIENCE / 2
    go_on.set()
    until(lambda: rows(at, "SELECT success FROM operations") == [(0,)])
    assert rows(at, "SELECT * FROM retrievals") == []
    assert at.outcome() == "found"


def test_a_question_nobody_waits_for_any_more_is_not_searched_for(at: Asking) -> None:
    """A daemon that went on after a stop finds the questions of hooks that are gone."""
    assert at.outcome(until=time.time() - 1) == "timed out"
    assert at.requests == []
    assert at.outcome() == "found"


def test_two_hooks_of_one_prompt_get_one_answer(at: Asking) -> None:
    """A harness that loads another's hooks too runs them side by side (hooks-and-apis 1C)."""
    both = threading.Barrier(2, timeout=60)
    at.before_answer = lambda: time.sleep(0.1)

    def hook() -> str:
        both.wait()
        return at.outcome()

    async def run() -> list[str]:
        return list(await asyncio.gather(asyncio.to_thread(hook), asyncio.to_thread(hook)))

    assert sorted(asyncio.run(run())) == ["found", "spent"]


def test_a_hung_platform_piles_up_no_threads(at: Asking) -> None:
    """Beyond a few questions in the air a further one is told nothing at once; then all is as ever."""
    go_on = threading.Event()
    at.before_answer = go_on.wait
    names = [f"s{number}" for number in range(THREADS)]

    async def run() -> list[dict[str, Any]]:
        soon = time.time() + 4.0
        waiting = [asyncio.ensure_future(at.recaller.answer(at.body(session=name), soon)) for name in names]
        while len(at.requests) < THREADS:  # noqa: ASYNC110  (what is waited for tells nobody)
            await asyncio.sleep(0.005)
        further = await at.recaller.answer(at.body(session="one-more"))
        assert not any(each.done() for each in waiting)
        return [further, *(await asyncio.gather(*waiting))]

    answers = asyncio.run(asyncio.wait_for(run(), 60))
    assert [answer["outcome"] for answer in answers] == ["failed"] + ["timed out"] * THREADS
    go_on.set()
    until(lambda: at.outcome(session="one-more") == "found")


def test_a_caller_that_goes_away_is_shown_nothing(at: Asking) -> None:
    """Cancelled while it waits: what is found then is not on record as shown."""
    go_on = threading.Event()
    at.before_answer = go_on.wait

    async def run() -> None:
        waiting = asyncio.ensure_future(at.recaller.answer(at.body()))
        await asyncio.to_thread(at.asked.wait, PATIENCE)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    go_on.set()
    until(lambda: rows(at, "SELECT success FROM operations") == [(0,)])
    assert rows(at, "SELECT * FROM retrievals") == []


def until(condition: Any) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
