"""The self-hosted server's requests (hooks-and-apis 3B): the same values make the same bytes. Pure.

It knows no app: that is a key of the metadata. Its filters are flat, one condition for each key, which every vector
store behind it understands; what needs an "or" is asked in several searches. What must not be sent raises Rejected.
"""

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms import instructions
from memsyncd.platforms.mem0_requests import MAX_TOP_K, check, identity
from memsyncd.platforms.owned import Owner
from memsyncd.platforms.platform import Batch, Query, Rejected

APP = "app_id"
"""The metadata key that stands for the project."""

NARROWED_TOP_K = 100
"""Of a search whose result is narrowed here: enough that a directory's memories are among them."""

PROMPT = f"""\
Make memories of two kinds.

First, what belongs to the project. {instructions.SHARED}

Second, what belongs to the person. {instructions.PERSONAL}"""
"""The server takes one text for all memories of a request, where the hosted platform takes one for each kind."""


@dataclass(frozen=True, slots=True)
class LaneSearch:
    """The body of one search, and the directory that its memories must be of (empty: any)."""

    body: Mapping[str, Any]
    directory: str = ""


def add(batch: Batch) -> dict[str, Any]:
    """Return the body that adds `batch`."""
    if not batch.messages:
        raise Rejected("a batch without messages")
    narrower = {"agent_id": ("agent", batch.agent_id), "run_id": ("run", batch.run_id)}
    return {
        "messages": [{"role": message.role, "content": message.content} for message in batch.messages],
        "user_id": entity("user", batch.user_id),
        **{key: entity(what, given) for key, (what, given) in narrower.items() if given},
        "metadata": {**batch.metadata, APP: identity("app", batch.app_id)},
        "infer": True,
        "prompt": PROMPT,
    }


def searches(query: Query) -> Sequence[LaneSearch]:
    """Return one search for each lane of a query, the shared ones first (facts 5.24 to 5.28).

    Whether a list in the metadata can be searched for one of its values depends on the server's store, so a directory
    is looked for here, among more memories. Categories are the hosted platform's: here a memory has one only where its
    metadata names it.
    """
    check(query)
    shared = [{"agent_id": entity("agent", agent)} for agent in query.agent_ids] if query.scope != "mine" else []
    directory = query.directory if query.scope == "dir" else ""
    narrowing = {
        APP: identity("app", query.app_id),
        **({"category": query.category} if query.category else {}),
        **({"run_id": entity("run", query.run_id)} if query.run_id else {}),
    }
    top_k = min(max(query.top_k, 1), MAX_TOP_K)

    def body(owner: Mapping[str, str], most: int) -> Mapping[str, Any]:
        return {"query": query.text, "filters": {**owner, **narrowing}, "top_k": most}

    wide = max(top_k, NARROWED_TOP_K) if directory else top_k
    lanes = [LaneSearch(body(owner, wide), directory) for owner in shared]
    return [*lanes, LaneSearch(body({"user_id": entity("user", query.user_id)}, top_k))]


def packet_search(packet_id: str, *, user_id: str, app_id: str) -> Mapping[str, Any]:
    """Return the search for the memories made from a packet, however little they are like anything.

    It names no batch: whether a number in the metadata matches depends on the server's store.
    """
    filters = {"user_id": entity("user", user_id), APP: identity("app", app_id), "memsyncd_packet": packet_id}
    return {"query": "memory", "filters": filters, "top_k": MAX_TOP_K, "threshold": 0.0}


def listing_path(user_id: str, top_k: int = MAX_TOP_K) -> str:
    """Return the path that lists a user's memories, `top_k` of them."""
    return f"/memories?{urllib.parse.urlencode({'user_id': entity('user', user_id), 'top_k': top_k})}"


def owner_path(owner: Owner) -> str:
    """Return the path that lists an owner's memories. The server's listing knows no app."""
    given = {"user": owner.user_id, "agent": owner.project_id, "run": owner.run_id}
    if not owner.user_id and not owner.project_id:
        raise Rejected("memories of nobody")
    asked = {f"{what}_id": entity(what, each) for what, each in given.items() if each}
    return f"/memories?{urllib.parse.urlencode({**asked, 'top_k': MAX_TOP_K})}"


def entity(what: str, given: str) -> str:
    """Return the id `given` as the server takes it: trimmed, and each blank inside percent-encoded, for it refuses them
    and a person's or a folder's name may have some."""
    trimmed = identity(what, given).strip()
    return re.sub(r"\s", lambda blank: urllib.parse.quote(blank[0], safe=""), trimmed)
