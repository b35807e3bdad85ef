"""The hosted platform's requests: the same values make the same bytes. Pure.

A request that must not be sent (a wildcard in place of an identity, facts 2.15 and 5.27) raises Rejected.
"""

import json
import urllib.parse
from collections.abc import Mapping
from typing import Any

import httpx

from memsyncd.platforms import instructions
from memsyncd.platforms.owned import Owner
from memsyncd.platforms.platform import Batch, Query, Rejected
from memsyncd.platforms.wildcards import holds_asterisk

PAGE_SIZE = 100
"""Objects on a page of a listing; the platform's own default and at most half of what it allows."""

SHORT_PAGE_SIZE = 10
"""Where PAGE_SIZE objects are longer than an answer may be."""

MAX_TOP_K = 1_000
"""The platform's limit."""

_PORTS = {"http": 80, "https": 443}

Filter = Mapping[str, Any]


def encode(body: Mapping[str, Any]) -> bytes:
    """Return `body` as JSON with sorted keys; half surrogates, which no UTF-8 can carry, become question marks.

    Raises Rejected for what JSON cannot say.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise Rejected("the request holds values that are no JSON") from None
    return text.encode("utf-8", "replace")


def add(batch: Batch) -> dict[str, Any]:
    """Return the body that adds `batch` (facts 2.30 to 2.32)."""
    if not batch.messages:
        raise Rejected("a batch without messages")
    narrower = {"agent_id": ("agent", batch.agent_id), "run_id": ("run", batch.run_id)}
    return {
        "messages": [{"role": message.role, "content": message.content} for message in batch.messages],
        "user_id": identity("user", batch.user_id),
        "app_id": identity("app", batch.app_id),
        **{key: identity(what, given) for key, (what, given) in narrower.items() if given},
        "metadata": dict(batch.metadata),
        "infer": True,
        "custom_instructions": instructions.PERSONAL,
        "agent_custom_instructions": instructions.SHARED,
        "custom_categories": [{name: description} for name, description in instructions.CATEGORIES.items()],
    }


def search(query: Query) -> dict[str, Any]:
    """Return the body of a search: no threshold, no identity outside the filters (facts 7.11, hooks-and-apis 3A)."""
    return {
        "query": query.text,
        "filters": search_filters(query),
        "top_k": min(max(query.top_k, 1), MAX_TOP_K),
        "rerank": False,
        "latest_only": True,
    }


def check(query: Query) -> None:
    """Raise Rejected for a query without words, or of an unknown scope or category."""
    if not query.text.strip():
        raise Rejected("a search without a question")
    if query.scope not in ("repo", "dir", "mine"):
        raise Rejected(f"Unknown search scope: {query.scope!r}")
    if query.category and query.category not in instructions.CATEGORIES:
        raise Rejected(f"Unknown category: {query.category!r}")


def search_filters(query: Query) -> Filter:
    """Return the filters of a search (facts 5.24 to 5.28).

    `mine` is the user's lane; `repo` adds the lanes the project's people share; `dir` narrows those to memories whose
    `dirs` contain the directory. Every branch pins an owned identity and the app.
    """
    app = {"app_id": identity("app", query.app_id)}
    personal: Filter = {"AND": [{"user_id": identity("user", query.user_id)}, app]}
    lanes: list[Filter] = [{"AND": [{"agent_id": identity("agent", agent)}, app]} for agent in query.agent_ids]
    check(query)
    filters = personal
    if lanes and query.scope != "mine":
        shared: Filter = lanes[0] if len(lanes) == 1 else {"OR": lanes}
        if query.scope == "dir" and query.directory:
            directory = identity("directory", query.directory)
            shared = {"AND": [shared, {"metadata": {"dirs": {"contains": directory}}}]}
        filters = {"OR": [shared, personal]}
    if query.category:
        filters = {"AND": [filters, {"categories": {"contains": query.category}}]}
    if query.run_id:
        filters = {"AND": [filters, {"run_id": identity("run", query.run_id)}]}
    return filters


def packet_filters(packet_id: str, *, user_id: str, app_id: str) -> Filter:
    """Return the filters that list the memories made from one packet."""
    return {
        "AND": [
            {"user_id": identity("user", user_id)},
            {"app_id": identity("app", app_id)},
            {"metadata": {"memsyncd_packet": packet_id}},
        ]
    }


def owner_filters(owner: Owner) -> Filter:
    """Return the filters that list an owner's memories."""
    given = {"user": owner.user_id, "agent": owner.project_id, "app": owner.app_id, "run": owner.run_id}
    if not owner.user_id and not owner.project_id:
        raise Rejected("memories of nobody")
    return {"AND": [{f"{what}_id": identity(what, each)} for what, each in given.items() if each]}


def page_path(path: str, number: int, size: int = PAGE_SIZE) -> str:
    """Return the path of a listing's page; `number` counts from 1."""
    return f"{path}?page={number}&page_size={size}"


def shorter_page_path(path: str, too_long: str, pages_read: int) -> str:
    """Return the path from which to go on in shorter pages after `pages_read` whole ones, for one that was too long.

    A page that is short already is asked for again, to fail again.
    """
    if f"page_size={PAGE_SIZE}" not in too_long:
        return too_long
    return page_path(path, pages_read * PAGE_SIZE // SHORT_PAGE_SIZE + 1, SHORT_PAGE_SIZE)


def path_id(given: str) -> str | None:
    """Return the id `given` for use as one segment of a path, or None where it cannot be one."""
    if not given or not given.strip("."):
        return None  # "..", even encoded, may be taken for a step upwards on the way
    return urllib.parse.quote(given, safe="", errors="replace")


def next_path(next_address: str, asked: str, base: httpx.URL) -> str | None:
    """Return path and query, below `base`, of the page at `next_address`, given in the answer to the path `asked`.

    None at the end, or where the address leads to another origin: no key goes there. An http address of an https
    platform's own host is the platform's, whose front door took the TLS off.
    """
    if not next_address:
        return None
    root = base.path.rstrip("/")
    origin = f"{base.scheme}://{base.netloc.decode('ascii')}"
    try:
        parts = urllib.parse.urlsplit(urllib.parse.urljoin(f"{origin}{root}{asked}", next_address))
        place = (parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme))
    except ValueError:
        return None
    home = (base.scheme, base.host.lower(), base.port or _PORTS[base.scheme])
    if place != home and (home[::2], place) != (("https", 443), ("http", home[1], 80)):
        return None
    path = urllib.parse.quote(parts.path, safe="/%:@!$&'()*+,;=~", errors="replace")
    query = urllib.parse.quote(parts.query, safe="/%:@!$&'()*+,;=?~", errors="replace")
    below = path.removeprefix(root) if path.startswith(f"{root}/") else path
    return f"{below}?{query}" if query else below


def identity(what: str, given: str) -> str:
    """Return the id `given` of a user, app, agent, run or directory (`what`).

    Raises Rejected for none and for a wildcard.
    """
    if holds_asterisk(given):
        raise Rejected(f"a wildcard is no {what} id")
    if not given.strip():
        raise Rejected(f"no {what} id")
    return given
