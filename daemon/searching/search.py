"""One search for all: within the scope of a directory, from the platform, or from the local index while it is away."""

from collections.abc import Callable, Sequence
from typing import Protocol

from daemon.gate import no_search
from daemon.searching.answer import LOCAL_INDEX, Answer
from daemon.searching.request import SearchRequest
from memsyncd.evidence.event import Scope
from memsyncd.lifecycle.timed_search import SearchBusy, ask, slots
from memsyncd.platforms.platform import Memory, Platform, PlatformError, Query, Rejected
from memsyncd.scope.remote import shared_ids

ANSWER_SECONDS = 8.0
"""What a search takes at most where its asker says nothing: less than the socket's ten."""


class LocalIndex(Protocol):
    """What this machine knows of a hosted platform's memories."""

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories as the platform would. Raises PlatformError."""

    def remember(self, query: Query, memories: Sequence[Memory]) -> None:
        """Keep what the platform has just told. Raises nothing."""


class Search:
    """Safe from any thread. `resolve` gives a directory's scope, `user_id` the asker's id; `hold` says why a scope is
    paused or excluded, or None. `away` says why the platform need not be asked at present (it cools), or None.
    `index` is None on the embedded platform, which is never away."""

    def __init__(
        self,
        platform: Platform,
        *,
        resolve: Callable[[str], Scope],
        user_id: Callable[[], str],
        hold: Callable[[Scope], str | None],
        away: Callable[[], str | None] = lambda: None,
        index: LocalIndex | None = None,
    ) -> None:
        self._platform = platform
        self._resolve = resolve
        self._user_id = user_id
        self._hold = hold
        self._away = away
        self._index = index
        self._room = slots()

    def answer(self, request: SearchRequest, *, timeout: float = ANSWER_SECONDS) -> Answer:
        """Answer within `timeout` seconds, and raise nothing that a platform does."""
        scope = self._resolve(request.cwd)
        held = self._hold(scope)
        if held is not None:
            return Answer(succeeded=False, source=self._platform.kind, why=no_search(held))
        query = query_of(request, scope, self._user_id())
        why = self._away()
        if why is None:
            try:
                return Answer(succeeded=True, source=self._platform.kind, memories=self._ask(query, timeout))
            except Rejected as refused:
                return Answer(succeeded=False, source=self._platform.kind, why=refused.message)
            except PlatformError as error:
                why = error.message
            except (SearchBusy, TimeoutError) as error:
                why = str(error)
        return self._from_index(query, why)

    def _ask(self, query: Query, timeout: float) -> Sequence[Memory]:
        found: list[Memory] = []

        def search(_: str) -> None:
            found.extend(self._platform.search(query))

        ask(search, query.text, seconds=timeout, room=self._room)
        if self._index is not None:
            self._index.remember(query, found)
        return found

    def _from_index(self, query: Query, why: str) -> Answer:
        if self._index is None:
            return Answer(succeeded=False, source=self._platform.kind, why=why)
        try:
            found = self._index.search(query)
        except PlatformError as error:
            return Answer(succeeded=False, source=self._platform.kind, why=f"{why}; {error.message}")
        return Answer(succeeded=bool(found), source=LOCAL_INDEX, memories=found, why=why)


def query_of(request: SearchRequest, scope: Scope, user_id: str) -> Query:
    """Return the platform's query: this user's lane and the project's, whatever was asked (facts 5.24 to 5.28)."""
    return Query(
        text=request.query,
        user_id=user_id,
        app_id=scope.app_id,
        agent_ids=shared_ids(scope.app_id, scope.project_id, scope.repo_id),
        top_k=request.top_k,
        category=request.category,
        run_id=request.run_id,
        directory=scope.directory,
        scope=request.scope,
    )
