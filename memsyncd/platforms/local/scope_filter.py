"""Who and where a memory is for, as tokens of the index, and a query's filter over them (facts 5.24 to 5.28).

Each token is one word that stands for a whole condition, so that the full-text match itself filters and no row of
another project is ever looked at. Hashed, because ids may hold any character.
"""

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from memsyncd.platforms.local.candidate import PERSONAL, PROJECT
from memsyncd.platforms.local.schema import EMBEDDED
from memsyncd.platforms.platform import Query, Rejected
from memsyncd.platforms.wildcards import is_wildcard

CATEGORIES = frozenset({"project_knowledge", "decisions_and_constraints", "workflows", "problems_and_fixes", "results"})
"""Facts 2.36."""

UNPLACED = "unplaced"
"""The lane of a mirrored memory of which the platform has not told whether it is the person's or the project's: shown
to that person where the project's memories are, and not among what is only theirs."""

_SCOPES = frozenset({"repo", "dir", "mine"})


def require_identity(**ids: str) -> None:
    """Raise Rejected for an id that is missing or a wildcard (facts 2.15, 5.27; never-again 161)."""
    for name, value in ids.items():
        if not value.strip():
            raise Rejected(f"{name} is missing")
        if is_wildcard(value):
            raise Rejected(f"{name} is a wildcard")


def lane_token(lane: str, *, user_id: str, app_id: str, agent_id: str, platform: str = EMBEDDED) -> str:
    """Return the token of a lane: a person's in one project, or a project's (facts 5.25). Lanes of two platforms have
    nothing in common."""
    where = () if platform == EMBEDDED else (platform,)
    return _token(lane, agent_id if lane == PROJECT else user_id, app_id, *where)


def memory_tokens(
    *lanes: str,
    user_id: str,
    app_id: str,
    agent_id: str,
    run_id: str,
    category: str,
    directories: Sequence[str],
    platform: str = EMBEDDED,
) -> Sequence[str]:
    """Return all tokens of one memory."""
    ids = {"user_id": user_id, "app_id": app_id, "agent_id": agent_id, "platform": platform}
    tokens = [*(lane_token(lane, **ids) for lane in lanes), _token("category", category), _token("run", run_id)]
    return [*tokens, *(_token("dir", directory) for directory in directories)]


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """What a query may see: `personal` or any of `shared` lanes, these narrowed by `directory` if given, and all of
    `narrowed` (category, run)."""

    personal: str
    shared: Sequence[str]
    directory: str = ""
    narrowed: Sequence[str] = ()

    @property
    def lanes(self) -> Sequence[str]:
        """The tokens of the lanes."""
        return [self.personal, *self.shared]

    @property
    def expression(self) -> str:
        """The filter as an FTS5 expression. No text has words like these tokens, so no column is named."""
        branches = [self.personal]
        if self.shared:
            within = f" AND {self.directory}" if self.directory else ""
            branches.append(f"(({' OR '.join(self.shared)}){within})")
        return " AND ".join([f"({' OR '.join(branches)})", *self.narrowed])

    def admits(self, tokens: AbstractSet[str]) -> bool:
        """Whether a memory with these tokens may be seen: the same as the expression, for one row."""
        shared = not tokens.isdisjoint(self.shared) and (not self.directory or self.directory in tokens)
        return (self.personal in tokens or shared) and all(token in tokens for token in self.narrowed)


def filter_of(query: Query, platform: str = EMBEDDED) -> ScopeFilter:
    """Return a query's filter over one platform's memories.

    Raises Rejected on a wildcard or missing id, or an unknown scope or category.
    """
    require_identity(user_id=query.user_id, app_id=query.app_id)
    if query.scope not in _SCOPES:
        raise Rejected(f"unknown search scope: {query.scope[:40]}")
    if query.category and query.category not in CATEGORIES:
        raise Rejected(f"unknown category: {query.category[:40]}")
    if any(is_wildcard(agent) for agent in query.agent_ids) or is_wildcard(query.run_id):
        raise Rejected("an id is a wildcard")
    lanes = [(PROJECT, agent) for agent in query.agent_ids if agent.strip()]
    if platform != EMBEDDED:
        lanes.append((UNPLACED, ""))

    def token(lane: str, agent_id: str = "") -> str:
        return lane_token(lane, user_id=query.user_id, app_id=query.app_id, agent_id=agent_id, platform=platform)

    return ScopeFilter(
        personal=token(PERSONAL),
        shared=[token(lane, agent) for lane, agent in lanes] if query.scope != "mine" else [],
        directory=_token("dir", query.directory) if query.scope == "dir" and query.directory else "",
        narrowed=[
            *([_token("category", query.category)] if query.category else []),
            *([_token("run", query.run_id)] if query.run_id else []),
        ],
    )


def _token(*parts: str) -> str:
    return "x" + hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
