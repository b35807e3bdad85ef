"""A self-hosted Mem0 server, over HTTP (hooks-and-apis 3B).

Its add is answered when the memories are made: there is no extraction event, and nothing to ask for afterwards.
"""

import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx

from memsyncd import redaction
from memsyncd.clock import Clock
from memsyncd.platforms import answers, authorization, mem0_requests, mem0_server_refusals, mem0_server_requests
from memsyncd.platforms.addresses import Resolve, system_resolver
from memsyncd.platforms.json_api import JsonApi
from memsyncd.platforms.mem0 import RETRY_SEARCH_SECONDS, SEARCH_SECONDS
from memsyncd.platforms.network import Network
from memsyncd.platforms.owned import MAX_OWNED_PAGES, ListingCut, OwnedMemory, Owner, owned
from memsyncd.platforms.platform import (
    Accepted,
    Account,
    Batch,
    Extraction,
    ExtractionState,
    Found,
    Memory,
    NotUnderstood,
    Query,
    Rejected,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings

KEY_HEADER = authorization.KeyHeader("X-API-Key", required=False)
"""A server with its authentication switched off takes no key."""

EXTRACTION_SECONDS = 120.0
"""What an extraction may take (CONTRACT), where nothing else is said."""

MAX_ADD_SECONDS = 600.0
"""Of one add, at most: whatever is between us and the server has long given the connection up by then."""

LOOK_SECONDS = 10.0
"""Of one question when a batch is looked for, as for a page of the hosted platform's listing."""

PING_USER = "memsyncd"
"""Whose memories a ping asks for: nobody's, most likely."""

_NO_SUCH_ROUTE = frozenset({404, 405})


class Mem0ServerPlatform:
    """See `memsyncd.platforms.platform.Platform`. One client for the daemon's life, safe from any thread.

    An add may take a write's time and `extraction_seconds` beyond it, for the server's language model runs inside it:
    to give up early would mean to send again what the server goes on to store. The rest is as for `Mem0Platform`; a
    key is sent if there is one. Raises ValueError for a bad `url`.
    """

    kind = "mem0-server"

    def __init__(
        self,
        url: str,
        key_source: authorization.KeySource,
        http: HttpSettings,
        clock: Clock,
        *,
        extraction_seconds: float = EXTRACTION_SECONDS,
        redact: Callable[[str], str] = redaction.redact,
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        resolve: Resolve = system_resolver,
        open_connection: Callable[[Network], httpx.BaseTransport] | None = None,
    ) -> None:
        self._api = JsonApi(
            url,
            key_source,
            KEY_HEADER,
            http,
            clock,
            probe_path=mem0_server_requests.listing_path(PING_USER, 1),
            redact=redact,
            proxies=proxies,
            resolve=resolve,
            open_connection=open_connection,
            refusal=mem0_server_refusals.refusal,
        )
        self._clock = clock
        self._add_seconds = min(self._api.write_seconds + extraction_seconds, MAX_ADD_SECONDS)
        self.url = self._api.url

    @property
    def longest_call_seconds(self) -> float:
        """How long an add may take."""
        return self._add_seconds

    @property
    def destination(self) -> str:
        """The name under which this platform cools as a whole: its kind and its URL."""
        return f"{self.kind} {self.url}"

    def add(self, batch: Batch) -> Accepted:
        """Send one batch and wait for its memories; none is success too. The body depends on the batch alone."""
        body = mem0_server_requests.add(batch)
        return answers.stored(self._ask("POST", "/memories", body, self._add_seconds, safe=False))

    def extraction(self, event_id: str) -> Extraction:
        """Return MISSING: whatever id this is, it was another platform's."""
        return Extraction(event_id, ExtractionState.MISSING)

    def extractions(self) -> Iterator[Sequence[Extraction]]:
        """List nothing: what was accepted is finished."""
        return iter(())

    def find(
        self,
        packet_id: str,
        batch: int,
        *,
        user_id: str,
        app_id: str,
        posted_at: float | None = None,  # noqa: ARG002  (neither question can be limited to a time)
    ) -> Found | None:
        """Look for the memories of a batch that may have arrived: in the user's listing, which needs no language model,
        then, as that may be cut, by their metadata.

        A batch of which nothing was worth a memory left no trace; it is sent again, and nothing doubles.
        """
        listed = self._count(packet_id, batch, "GET", mem0_server_requests.listing_path(user_id), None)
        if listed:
            return Found(memories=listed)
        body = mem0_server_requests.packet_search(packet_id, user_id=user_id, app_id=app_id)
        try:
            found = self._count(packet_id, batch, "POST", "/search", body)
        except Rejected:
            return None  # the server's store takes no such filters: the listing has to do
        return Found(memories=found) if found else None

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories in every lane of the query, best first. Without a connection it is tried once more."""
        searches = mem0_server_requests.searches(query)
        ends = self._clock.monotonic() + SEARCH_SECONDS
        best: dict[str, Memory] = {}
        for search in searches:
            for memory in self._search(search, query.category, ends):
                if memory.id not in best or _rank(memory) > _rank(best[memory.id]):
                    best[memory.id] = memory
        return sorted(best.values(), key=_rank, reverse=True)[: max(query.top_k, 1)]

    def delete(self, memory_id: str) -> bool:
        """Delete one memory; False when there was none."""
        segment = mem0_requests.path_id(memory_id)
        if segment is None:
            return False
        path, seconds = f"/memories/{segment}", self._api.write_seconds
        try:
            self._api.ask("DELETE", path, None, seconds, safe=False, empty_is_fine=True)
        except Rejected as refused:
            if refused.status == 404:  # noqa: PLR2004  (Not Found)
                return False
            raise
        return True

    def memories_of(
        self,
        owner: Owner,
        *,
        pages: int = MAX_OWNED_PAGES,  # noqa: ARG002  (there is only one)
    ) -> Iterator[Sequence[OwnedMemory]]:
        """List an owner's memories: one page, of the 1,000 that the server lists at most. Raises ListingCut."""
        path = mem0_server_requests.owner_path(owner)
        items = answers.page(self._ask("GET", path, None, LOOK_SECONDS)).items
        yield [memory for item in items if (memory := owned(item)) is not None]
        if len(items) >= mem0_requests.MAX_TOP_K:
            raise ListingCut

    def ping(self) -> Account:
        """Make the cheapest authenticated round trip; the server tells no account."""
        answers.page(self._ask("GET", mem0_server_requests.listing_path(PING_USER, 1), None, SEARCH_SECONDS))
        return Account()

    def drop_connections(self) -> None:
        """Use new connections from now on: the machine slept, or the network changed (never-again 148)."""
        self._api.drop_connections()

    def cancel(self) -> None:
        """End every call in the air now; they and all further ones raise Cancelled."""
        self._api.cancel()

    def close(self) -> None:
        """Release connections; what is in the air is ended."""
        self._api.close()

    def _count(self, packet_id: str, batch: int, method: str, path: str, body: Mapping[str, Any] | None) -> int:
        items = answers.page(self._ask(method, path, body, LOOK_SECONDS)).items
        return sum(answers.belongs({**item, **answers.metadata_of(item)}, packet_id, batch) for item in items)

    def _search(self, search: mem0_server_requests.LaneSearch, category: str, ends: float) -> Sequence[Memory]:
        def left() -> float:
            return max(ends - self._clock.monotonic(), 0.1)

        try:
            value = self._ask("POST", "/search", search.body, left())
        except Unreachable:
            self._api.pause(RETRY_SEARCH_SECONDS)
            value = self._ask("POST", "/search", search.body, left())
        memories = answers.memories(value, top_k=search.body["top_k"], category=category)
        return [memory for memory in memories if not search.directory or _is_of(memory, search.directory)]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float, *, safe: bool = True) -> Any:
        """Ask a route that every such server has; where it is missing, another kind of server is at this address."""
        try:
            return self._api.ask(method, path, body, seconds, safe=safe)
        except Rejected as refused:
            if refused.status not in _NO_SUCH_ROUTE:
                raise
            why = f"{path.partition('?')[0]} is not there ({refused.status}): is platform.url a self-hosted Mem0's?"
            raise NotUnderstood(why, status=refused.status) from None


def _rank(memory: Memory) -> float:
    return float("-inf") if memory.score is None else memory.score


def _is_of(memory: Memory, directory: str) -> bool:
    directories = memory.metadata.get("dirs")
    return isinstance(directories, list) and directory in directories
