"""From candidates to stored memories: what is new, what is known, what is overruled. One transaction of the caller."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsyncd.platforms.local import memories, merge, searching
from memsyncd.platforms.local.candidate import PERSONAL, Candidate
from memsyncd.platforms.local.memories import NewMemory, Source
from memsyncd.platforms.local.merge import Claim, Relation
from memsyncd.platforms.local.ranking import rarity
from memsyncd.platforms.local.scope_filter import lane_token
from memsyncd.platforms.local.terms import terms_of
from memsyncd.platforms.platform import Batch

MAX_PER_SESSION = 80
"""Memories one session leaves in search (issue 2: dozens, not hundreds). Beyond it a stronger one takes the place of
the session's weakest."""

NEIGHBOURS = 16
"""Memories each candidate is compared with: those that share its rarest words."""

MIN_DOCUMENTS = 50
"""Rarity is told as in a store of at least so many memories: in a nearly empty one every word would be common."""


def store(
    connection: sqlite3.Connection,
    candidates: Sequence[Candidate],
    batch: Batch,
    *,
    now: str,
    new_id: Callable[[], str],
) -> int:
    """Store what a batch says; return how many memories it made or gave better words. Exact repeats make none."""
    return sum(_store_one(connection, candidate, batch, now, new_id) for candidate in candidates)


def _store_one(
    connection: sqlite3.Connection, candidate: Candidate, batch: Batch, now: str, new_id: Callable[[], str]
) -> int:
    owner = batch.user_id if candidate.lane == PERSONAL else batch.agent_id
    fingerprint = merge.fingerprint(candidate.text, lane=candidate.lane, owner=owner, app_id=batch.app_id)
    source = Source(fingerprint, batch.packet_id, batch.number, now)
    if memories.is_buried(connection, fingerprint):
        return 0
    for number, text, superseded_by in memories.with_fingerprint(connection, fingerprint):
        if not superseded_by and not merge.are_contrary(candidate.text, text):
            memories.add_source(connection, number, source)
            return 0
    terms = terms_of(candidate.text)
    claim = merge.claim_of(candidate.text, candidate.category, terms)
    lane = lane_token(candidate.lane, user_id=batch.user_id, app_id=batch.app_id, agent_id=batch.agent_id)
    near = searching.alike(connection, [*terms.words, *terms.grams], lane, limit=NEIGHBOURS)
    weight = _weights(connection, [claim, *(merge.claim_of(text, category) for _, _, text, category in near)])
    overruled = []
    for number, _, text, category in near:
        old = merge.claim_of(text, category)
        relation = merge.relation(claim, old, weight)
        if relation is Relation.SAME:
            kept = merge.fuller(claim, old, weight)
            return _join(connection, number, source, "" if kept == old.text else kept, candidate.made_by)
        if relation is Relation.OVERRULES:
            overruled.append(number)
    if not overruled and not _has_room(connection, candidate, batch, now):
        return 0
    memory_id = new_id()
    number = memories.insert(connection, _memory(memory_id, candidate, batch, now))
    connection.execute(
        "INSERT INTO sources VALUES(?,?,?,?,?)", (number, fingerprint, batch.packet_id, batch.number, now)
    )
    for old_number in overruled:
        memories.supersede(connection, old_number, memory_id)
    return 1


def _join(connection: sqlite3.Connection, number: int, source: Source, better: str, made_by: str) -> int:
    """Add a source to a memory that says the same, and give it the `better` text, if any; return 1 if that was news."""
    news = memories.add_source(connection, number, source)
    if not better:
        return 0
    memories.replace_text(connection, number, better)
    connection.execute(
        "UPDATE memories SET metadata = json_set(metadata, '$.made_by', ?) WHERE number = ?", (made_by, number)
    )
    return 1 if news else 0


def _has_room(connection: sqlite3.Connection, candidate: Candidate, batch: Batch, now: str) -> bool:
    while True:
        count, weakest, score = memories.weakest_of_run(connection, batch.app_id, batch.run_id)
        if count < MAX_PER_SESSION:
            return True
        if candidate.score <= score:
            return False
        memories.delete(connection, weakest, now, bury=False)  # what it overruled, which is found again, may be next


def _memory(memory_id: str, candidate: Candidate, batch: Batch, now: str) -> NewMemory:
    metadata: dict[str, Any] = {**batch.metadata, "made_by": candidate.made_by}
    if candidate.files:
        metadata["files"] = list(candidate.files)
    return NewMemory(
        id=memory_id,
        text=candidate.text,
        category=candidate.category,
        lane=candidate.lane,
        user_id=batch.user_id,
        app_id=batch.app_id,
        agent_id=batch.agent_id,
        run_id=batch.run_id,
        packet_id=batch.packet_id,
        batch=batch.number,
        metadata=metadata,
        score=candidate.score,
        context=candidate.context,
        created_at=now,
    )


def _weights(connection: sqlite3.Connection, claims: Sequence[Claim]) -> Callable[[str], float]:
    counts: Mapping[str, int] = memories.documents(connection, {term for claim in claims for term in claim.terms})
    newest: int = connection.execute("SELECT coalesce(max(number), 0) FROM memories").fetchone()[0]
    total = max(newest, MIN_DOCUMENTS)
    return lambda term: rarity(counts.get(term, 0), total)
