"""One search: whose memories, who answers, and what is said where nobody can."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from daemon.gate import EXCLUDED, no_search
from daemon.searching.answer import LOCAL_INDEX
from daemon.searching.request import SearchRequest
from daemon.searching.search import Search, query_of
from memsyncd.counters import Counters
from memsyncd.evidence.event import Scope
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    Memory,
    NoAnswer,
    NotUnderstood,
    Platform,
    PlatformError,
    Query,
    QuotaExceeded,
    Rejected,
    Unreachable,
)
from tests.clocks import HandClock
from tests.fakes.scripted_platform import ScriptedPlatform
from tests.memsyncd.platforms.grounds import Remote, confirmed, hosted, packet, self_hosted

SCOPE = Scope("https://git.example.org/team/tool", "team-tool", "team-tool-0123456789", "/w/tool", directory="web/src")
REQUEST = SearchRequest("which package manager?", "/w/tool/web/src")
FOUND = Memory("m1", "The package manager is pnpm.", "decisions_and_constraints", 0.7, "2026-01-02T00:00:00Z", {"x": 1})


@dataclass
class Asked(ScriptedPlatform):
    """A platform that finds FOUND, or does what the test wants."""

    kind: str = "mem0"
    queries: list[Query] = field(default_factory=list)
    act: Callable[[], Sequence[Memory]] = lambda: [FOUND]

    def search(self, query: Query) -> Sequence[Memory]:
        self.queries.append(query)
        return self.act()


def searching(platform: Platform, index: LocalIndex | None = None, **more: Any) -> Search:
    return Search(
        platform,
        **{"resolve": lambda _: SCOPE, "user_id": lambda: "ada", "hold": lambda _: None, "index": index, **more},
    )


def indexed(path: Path, platform: Platform) -> LocalIndex:
    return LocalIndex(
        path / "memory.sqlite3", HandClock().clock(), Counters(), platform=platform.destination, redact=str
    )


def raising(error: Exception) -> Callable[[], Sequence[Memory]]:
    def act() -> Sequence[Memory]:
        raise error

    return act


def test_the_platform_answers_in_the_agreed_shape() -> None:
    """Everything of a memory, its source, and no reason where there is none to give."""
    assert searching(Asked()).answer(REQUEST).document() == {
        "succeeded": True,
        "source": "mem0",
        "memories": [
            {
                "id": "m1",
                "memory": "The package manager is pnpm.",
                "category": "decisions_and_constraints",
                "score": 0.7,
                "created_at": "2026-01-02T00:00:00Z",
                "metadata": {"x": 1},
            }
        ],
        "why": "",
    }


def test_metadata_without_end_stays_out_of_an_answer() -> None:
    """Who asks waits for a memory: a hook takes a million bytes, and drops an answer that is longer."""
    found = replace(FOUND, metadata={"branch": "main", "log": "x" * 300_000})
    answer = searching(Asked(act=lambda: [found] * 5)).answer(REQUEST)
    assert [each["metadata"] for each in answer.document()["memories"]] == [{"branch": "main"}] * 5


@pytest.mark.parametrize(
    ("scope", "agents"),
    [
        (SCOPE, ("team-tool-0123456789", "team-tool")),
        (replace(SCOPE, project_id="team-tool"), ("team-tool",)),
        (Scope("local:/w/tool", "tool", "local-tool-0123456789", "/w/tool"), ("local-tool-0123456789",)),
        (replace(SCOPE, project_id=""), ("team-tool",)),
    ],
)
def test_identities_follow_from_the_directory_and_the_settings(scope: Scope, agents: tuple[str, ...]) -> None:
    """Facts 5.16, 5.25: the user's lane and the project's, for a remote under its older id too; the request says
    neither."""
    request = SearchRequest("x", "/w", top_k=7, category="results", scope="dir", run_id="s1")
    assert query_of(request, scope, "ada") == Query(
        "x", "ada", scope.app_id, agents, 7, "results", "s1", scope.directory, "dir"
    )


def test_what_is_paused_or_excluded_is_not_searched() -> None:
    """Nobody is asked, and the answer says why (never-again 74)."""
    platform = Asked()
    answer = searching(platform, hold=lambda _: EXCLUDED).answer(REQUEST)
    assert (answer.succeeded, answer.memories, answer.why) == (False, (), no_search(EXCLUDED))
    assert platform.queries == []


AWAY = [
    Unreachable("no route"),
    NoAnswer("no answer came"),
    Busy("busy (503)", status=503),
    NotUnderstood("a page"),
    KeyRefused("the key was refused (401)", status=401),
    QuotaExceeded("the quota is used up (402)", status=402),
]


@pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
def test_the_local_index_answers_for_a_platform_that_is_away(tmp_path: Path, error: PlatformError) -> None:
    """With what the platform found before, and says that it does, and why."""
    platform = Asked()
    index = indexed(tmp_path, platform)
    search = searching(platform, index)
    search.answer(REQUEST)
    platform.act = raising(error)
    answer = search.answer(replace(REQUEST, query="what manages packages"))
    index.close()
    assert (answer.succeeded, answer.source, answer.why) == (True, LOCAL_INDEX, error.message)
    assert [memory.id for memory in answer.memories] == ["m1"]


@pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
def test_an_index_that_knows_nothing_is_no_success(tmp_path: Path, error: PlatformError) -> None:
    """That nothing is known here does not mean that there is nothing (facts 8.6)."""
    platform = Asked(act=raising(error))
    index = indexed(tmp_path, platform)
    answer = searching(platform, index).answer(REQUEST)
    index.close()
    assert (answer.succeeded, answer.memories, answer.why) == (False, [], error.message)


def test_a_cooling_platform_is_not_asked(tmp_path: Path) -> None:
    """Nobody waits for what is known to be away."""
    platform = Asked()
    index = indexed(tmp_path, platform)
    searching(platform, index).answer(REQUEST)
    answer = searching(platform, index, away=lambda: "The platform is away: busy (503)").answer(REQUEST)
    index.close()
    assert (answer.succeeded, answer.source, len(platform.queries)) == (True, LOCAL_INDEX, 1)


def test_a_refused_question_fails_whoever_else_could_answer(tmp_path: Path) -> None:
    """The index must not answer what the platform refuses."""
    platform = Asked()
    index = indexed(tmp_path, platform)
    search = searching(platform, index)
    search.answer(REQUEST)
    platform.act = raising(Rejected("a wildcard is no user id"))
    answer = search.answer(REQUEST)
    index.close()
    assert (answer.succeeded, answer.source, answer.why) == (False, "mem0", "a wildcard is no user id")


def test_a_late_platform_is_not_waited_for(tmp_path: Path) -> None:
    """The time given is kept whatever the platform does, also when many wait for it."""
    platform, end = Asked(), threading.Event()
    index = indexed(tmp_path, platform)
    search = searching(platform, index)
    search.answer(REQUEST)
    platform.act = lambda: [FOUND] * end.wait(60)
    answers = [search.answer(REQUEST, timeout=0.01) for _ in range(6)]
    end.set()
    index.close()
    assert {(answer.succeeded, answer.source) for answer in answers} == {(True, LOCAL_INDEX)}
    assert answers[0].why == "no answer within 0.01 s"
    assert "have not come back" in answers[-1].why


def test_the_embedded_platform_has_no_other_to_answer() -> None:
    """Its file is all there is."""
    answer = searching(Asked(kind="local", act=raising(Unreachable("the memory store cannot be opened")))).answer(
        REQUEST
    )
    assert (answer.succeeded, answer.source) == (False, "local")
    assert answer.why == "the memory store cannot be opened"


QUESTIONS: list[dict[str, Any]] = [
    {},
    {"scope": "mine"},
    {"scope": "dir"},
    {"run_id": "session-1"},
    {"run_id": "session-2"},
    {"category": "results"},
    {"top_k": 1},
]


@pytest.mark.parametrize("ground", [hosted, self_hosted])
def test_index_and_platform_answer_alike(tmp_path: Path, ground: Callable[[], Any]) -> None:
    """Over HTTP, then with nobody there: the same memories for every way to narrow the question, as far as the platform
    has ever shown them."""
    scope = Scope("https://x.example.org/shop", "shop", "shop-1a2b", "/w", directory="billing")
    with ground() as remote:
        assert isinstance(remote, Remote)
        for number, text in enumerate(("We use pnpm here.", "We use esbuild here.")):
            sent = packet(f"p-{number}")
            messages = [replace(sent.messages[0], content=text)]
            confirmed(remote.platform, remote.platform.add(replace(sent, messages=messages)))
        index = indexed(tmp_path, remote.platform)
        search = searching(remote.platform, index, resolve=lambda _: scope)
        search.answer(SearchRequest("what do we use here?", top_k=20))
        asked = [SearchRequest("what do we use here?", **narrower) for narrower in QUESTIONS]
        there = [search.answer(request) for request in asked]
        gone = searching(remote.platform, index, resolve=lambda _: scope, away=lambda: "gone")
        here = [gone.answer(request) for request in asked]
        index.close()
    assert [found(one)[0] for one in there] == [2, 2, 2, 2, 0, 0, 1]
    assert [found(one) for one in here] == [found(one) for one in there]


def found(answer: Any) -> tuple[int, set[str]]:
    one_of_equals = len(answer.memories) == 1
    return len(answer.memories), set() if one_of_equals else {memory.memory for memory in answer.memories}
