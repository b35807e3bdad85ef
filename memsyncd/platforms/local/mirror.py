"""Rows that mirror another platform's memories: kept as it tells them, beside the embedded platform's own and never
among them. Inside the caller's transaction."""

# ruff: noqa: E501  (a statement's columns stand together)

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.platforms.local import memories
from memsyncd.platforms.local.candidate import PERSONAL, PROJECT
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.local.scope_filter import UNPLACED
from memsyncd.platforms.metadata import bounded
from memsyncd.platforms.platform import Memory

MAX_TEXT_CHARS = 4_000
"""Of a mirrored memory's text (facts 7.10 keep as much of a shown one)."""

_IDS = ("user_id", "agent_id", "app_id", "run_id")


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom the platform told memories: the identities its answer was limited to, and the packet whose they are."""

    user_id: str
    app_id: str
    agent_ids: Sequence[str]
    run_id: str = ""
    packet_id: str = ""


def row_of(memory: Memory, asker: Asker, *, platform: str, now: str) -> NewMemory | None:
    """Return what to keep of a memory, in the lanes that the platform names; None for one of nobody's the asker may
    see, for that was told by mistake."""
    told = {name: memory.metadata.get(name) for name in _IDS}
    lanes = _lanes(told, asker)
    if not memory.id or not memory.memory.strip() or lanes is None or (told["app_id"] or asker.app_id) != asker.app_id:
        return None
    run_id = told["run_id"] or asker.run_id
    return NewMemory(
        id=memory.id,
        text=memory.memory[:MAX_TEXT_CHARS],
        category=memory.category,
        lane=lanes,
        user_id=asker.user_id,
        app_id=asker.app_id,
        agent_id=str(told["agent_id"]) if PROJECT in lanes else "",
        run_id=run_id if isinstance(run_id, str) else "",
        packet_id=asker.packet_id,
        batch=0,
        metadata=bounded(memory.metadata),
        score=0.0,
        context="",
        created_at=memory.created_at if from_rfc3339(memory.created_at) is not None else now,
        platform=platform,
    )


def keep(connection: sqlite3.Connection, new: NewMemory) -> None:
    """Keep a mirrored memory in the place of what was known of it. One that was forgotten here stays so."""
    if is_news(connection, new):
        memories.delete(connection, new.id, new.created_at, bury=False, platform=new.platform)
        memories.insert(connection, new)


def is_news(connection: sqlite3.Connection, new: NewMemory) -> bool:
    """Whether keeping it changes anything: asked first, so that a repeated search writes nothing."""
    known = connection.execute(
        "SELECT platform, lane, text, category, user_id, app_id, agent_id, run_id, metadata FROM memories WHERE id = ?",
        (new.id,),
    ).fetchone()
    if known is None:
        return not memories.is_buried(connection, memories.grave(new.platform, new.id))
    platform, lane, *shown = known
    if platform != new.platform or (new.lane == UNPLACED and lane != UNPLACED):
        return False
    ids = (new.user_id, new.app_id, new.agent_id, new.run_id)
    return [lane, *shown] != [new.lane, new.text, new.category, *ids, json.dumps(new.metadata)]


def make_room(connection: sqlite3.Connection, *, platform: str, most: int) -> int:
    """Delete the oldest beyond `most` of a platform's memories; return how many went."""
    rows = connection.execute(
        "SELECT id, last_seen FROM memories WHERE platform = ? AND platform <> 'local' ORDER BY last_seen DESC LIMIT -1 OFFSET ?",
        (platform, most),
    ).fetchall()
    return sum(memories.delete(connection, name, at, bury=False, platform=platform) for name, at in rows)


def _lanes(told: Mapping[str, Any], asker: Asker) -> str | None:
    if not told["user_id"] and not told["agent_id"]:
        return UNPLACED
    lanes = [PROJECT] if told["agent_id"] and told["agent_id"] in asker.agent_ids else []
    lanes += [PERSONAL] if told["user_id"] == asker.user_id else []
    return " ".join(lanes) or None
