"""The hosted platform, over HTTP (hooks-and-apis 3A)."""

import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx

from memsyncd import redaction
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.platforms import answers, authorization, mem0_requests
from memsyncd.platforms.addresses import Resolve, system_resolver
from memsyncd.platforms.http_answer import AnswerTooLongError
from memsyncd.platforms.json_api import JsonApi
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
    Query,
    Rejected,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings

DEFAULT_URL = "https://api.mem0.ai"

PING_PATH = "/v1/ping/"

KEY_HEADER = authorization.KeyHeader("Authorization", "Token ")

SEARCH_SECONDS = 5.0
"""Of a search, and of what else somebody waits for (hooks-and-apis 3A, plugin conventions)."""

LONGEST_POLL = 10.0
"""Of one question about an extraction: this, or the poll interval and 5 s if that is less (facts 2.25)."""

RETRY_SEARCH_SECONDS = 0.25
"""Before a search that got no connection is tried once more (facts 7.14)."""

MAX_PAGES = 20
"""Pages of a listing that are read at most: 2,000 extraction events."""

POSTED_BEFORE_SECONDS = 3600.0
"""How far the platform's clock may be behind ours when a listing is searched for what we posted at a known time."""

_NO_SUCH_ROUTE = frozenset({404, 405, 410, 501})


class Mem0Platform:
    """See `memsyncd.platforms.platform.Platform`. One client for the daemon's life, safe from any thread.

    `http.timeout_seconds` is a write's time, except on loopback, to which no setting of `[http]` applies (CONTRACT).
    `poll_seconds` is the shortest interval between two questions about one extraction. `redact` goes over whatever
    words of the platform end up in an error. `open_connection` is the seam for tests. Raises ValueError for a bad
    `url`.
    """

    kind = "mem0"

    def __init__(
        self,
        url: str,
        key_source: authorization.KeySource,
        http: HttpSettings,
        clock: Clock,
        *,
        poll_seconds: float = 1.0,
        redact: Callable[[str], str] = redaction.redact,
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        resolve: Resolve = system_resolver,
        open_connection: Callable[[Network], httpx.BaseTransport] | None = None,
    ) -> None:
        self._api = JsonApi(
            url or DEFAULT_URL,
            key_source,
            KEY_HEADER,
            http,
            clock,
            probe_path=PING_PATH,
            redact=redact,
            proxies=proxies,
            resolve=resolve,
            open_connection=open_connection,
        )
        self._redact = redact
        self._poll_seconds = min(LONGEST_POLL, poll_seconds + 5.0)
        self.url = self._api.url

    @property
    def longest_call_seconds(self) -> float:
        """A write: its whole answer is waited for that long."""
        return self._api.write_seconds

    @property
    def destination(self) -> str:
        """The name under which this platform cools as a whole: its kind and its URL."""
        return f"{self.kind} {self.url}"

    def add(self, batch: Batch) -> Accepted:
        """Send one batch. The body depends on the batch alone."""
        value = self._api.ask(
            "POST", "/v3/memories/add/", mem0_requests.add(batch), self._api.write_seconds, safe=False
        )
        return answers.accepted(value)

    def extraction(self, event_id: str) -> Extraction:
        """Ask for one extraction event; an id the platform does not know is MISSING, not an error."""
        segment = mem0_requests.path_id(event_id)
        if segment is None:
            return Extraction(event_id, ExtractionState.MISSING)
        try:
            value = self._api.ask("GET", f"/v1/event/{segment}/", None, self._poll_seconds)
        except Rejected as refused:
            if refused.status in (404, 410):
                return Extraction(event_id, ExtractionState.MISSING)
            raise
        return answers.extraction(value, event_id, self._redact)

    def extractions(self) -> Iterator[Sequence[Extraction]]:
        """List recent extraction events, newest first, a page at a time, up to MAX_PAGES."""
        for page in self._pages("GET", "/v1/events/", None):
            yield answers.extractions(page, self._redact)

    def find(
        self, packet_id: str, batch: int, *, user_id: str, app_id: str, posted_at: float | None = None
    ) -> Found | None:
        """Look for a batch that may have arrived: in the event listing, then by its metadata among the memories.

        `posted_at` (Unix seconds), where known, ends the listing early. An extraction that did not fail is preferred
        to one that did; a failed one is still an answer, so that the batch's attempts are counted.
        """
        failed: Found | None = None
        try:
            for page in self.extractions():
                for event in page:
                    if not answers.belongs(event.metadata, packet_id, batch):
                        continue
                    if event.state is not ExtractionState.FAILED:
                        return Found(event.event_id, event.memories)
                    failed = failed or Found(event.event_id)
                if _is_past(page, posted_at):
                    break
        except Rejected as refused:
            if refused.status not in _NO_SUCH_ROUTE:
                raise
        return failed or self._find_memories(packet_id, batch, user_id=user_id, app_id=app_id)

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories, in the platform's order. Without a connection it is tried once more."""
        body = mem0_requests.search(query)
        try:
            value = self._api.ask("POST", "/v3/memories/search/", body, SEARCH_SECONDS)
        except Unreachable:
            self._api.pause(RETRY_SEARCH_SECONDS)
            value = self._api.ask("POST", "/v3/memories/search/", body, SEARCH_SECONDS)
        return answers.memories(value, top_k=body["top_k"], category=query.category)

    def delete(self, memory_id: str) -> bool:
        """Delete one memory; False when there was none."""
        segment = mem0_requests.path_id(memory_id)
        if segment is None:
            return False
        try:
            self._api.ask(
                "DELETE", f"/v1/memories/{segment}/", None, self._api.write_seconds, safe=False, empty_is_fine=True
            )
        except Rejected as refused:
            if refused.status in (404, 410):
                return False
            raise
        return True

    def memories_of(self, owner: Owner, *, pages: int = MAX_OWNED_PAGES) -> Iterator[Sequence[OwnedMemory]]:
        """List an owner's memories, newest first, a page at a time, up to `pages` (facts 14.8). Raises ListingCut."""
        body = {"filters": mem0_requests.owner_filters(owner)}
        for number, page in enumerate(self._pages("POST", "/v3/memories/", body, most=pages), start=1):
            yield [memory for item in page.items if (memory := owned(item)) is not None]
            if number == pages and page.next:
                raise ListingCut

    def ping(self) -> Account:
        """Make the cheapest authenticated round trip."""
        return answers.account(self._api.ask("GET", PING_PATH, None, SEARCH_SECONDS))

    def drop_connections(self) -> None:
        """Use new connections from now on: the machine slept, or the network changed (never-again 148)."""
        self._api.drop_connections()

    def cancel(self) -> None:
        """End every call in the air now; they and all further ones raise Cancelled."""
        self._api.cancel()

    def close(self) -> None:
        """Release connections; what is in the air is ended."""
        self._api.close()

    def _find_memories(self, packet_id: str, batch: int, *, user_id: str, app_id: str) -> Found | None:
        body = {"filters": mem0_requests.packet_filters(packet_id, user_id=user_id, app_id=app_id)}
        found = 0
        try:
            for page in self._pages("POST", "/v3/memories/", body):
                found += sum(answers.belongs(answers.metadata_of(item), packet_id, batch) for item in page.items)
        except Rejected as refused:
            if refused.status not in _NO_SUCH_ROUTE:
                raise
        return Found(memories=found) if found else None

    def _pages(
        self, method: str, path: str, body: Mapping[str, Any] | None, *, most: int = MAX_PAGES
    ) -> Iterator[answers.Page]:
        asked = mem0_requests.page_path(path, 1)
        seen = {asked}
        for pages_read in range(most):
            try:
                page = answers.page(self._api.ask(method, asked, body, LONGEST_POLL))
            except AnswerTooLongError:  # an event repeats its whole batch, and a hundred of them may be too much
                asked = mem0_requests.shorter_page_path(path, asked, pages_read)
                page = answers.page(self._api.ask(method, asked, body, LONGEST_POLL))
            yield page
            following = mem0_requests.next_path(page.next, asked, self._api.base)
            if following is None or following in seen:
                return
            seen.add(following)
            asked = following


def _is_past(page: Sequence[Extraction], posted_at: float | None) -> bool:
    """Return whether all of a page is older than what is looked for; what has no time is not."""
    if posted_at is None or not page:
        return False
    times = [from_rfc3339(event.created_at) for event in page]
    return all(moment is not None and moment < posted_at - POSTED_BEFORE_SECONDS for moment in times)
