"""Who and where a memory is for, as tokens of the index, and a query's filter over them (facts 5.24 to 5.28).

Each token is one word that stands for a whole condition, so that the full-text match itself filters and no row of
another project is ever looked at. Hashed, because ids may hold any character.
"""

import hashlib
from collections.abc import Sequence

from memsyncd.platforms.local.candidates import PERSONAL
from memsyncd.platforms.platform import Query, Rejected

CATEGORIES = frozenset({"project_knowledge", "decisions_and_constraints", "workflows", "problems_and_fixes", "results"})
"""Facts 2.36."""

_SCOPES = frozenset({"repo", "dir", "mine"})


def is_wildcard(identity: str) -> bool:
    """Whether an id is only asterisks, which is never an identity (facts 5.17)."""
    return not identity.strip().strip("*") and bool(identity.strip())


def require_identity(**ids: str) -> None:
    """Raise Rejected for an id that is missing or a wildcard (facts 2.15, 5.27; never-again 161)."""
    for name, value in ids.items():
        if not value.strip():
            raise Rejected(f"{name} is missing")
        if is_wildcard(value):
            raise Rejected(f"{name} is a wildcard")


def lane_token(lane: str, *, user_id: str, app_id: str, agent_id: str) -> str:
    """Return the token of a lane: a person's in one project, or a project's (facts 5.25)."""
    return _token("personal", user_id, app_id) if lane == PERSONAL else _token("project", agent_id, app_id)


def memory_tokens(
    lane: str, *, user_id: str, app_id: str, agent_id: str, run_id: str, category: str, directories: Sequence[str]
) -> Sequence[str]:
    """Return all tokens of one memory."""
    lane_of = lane_token(lane, user_id=user_id, app_id=app_id, agent_id=agent_id)
    tokens = [lane_of, _token("category", category), _token("run", run_id)]
    return [*tokens, *(_token("dir", directory) for directory in directories)]


def lanes_of(query: Query) -> Sequence[str]:
    """Return the tokens of the lanes a query may see. Raises Rejected on a wildcard or missing id, or an unknown
    scope or category."""
    require_identity(user_id=query.user_id, app_id=query.app_id)
    if query.scope not in _SCOPES:
        raise Rejected(f"unknown search scope: {query.scope[:40]}")
    if query.category and query.category not in CATEGORIES:
        raise Rejected(f"unknown category: {query.category[:40]}")
    if any(is_wildcard(agent) for agent in query.agent_ids) or is_wildcard(query.run_id):
        raise Rejected("an id is a wildcard")
    personal = _token("personal", query.user_id, query.app_id)
    if query.scope == "mine":
        return [personal]
    return [personal, *(_token("project", agent, query.app_id) for agent in query.agent_ids if agent.strip())]


def match_expression(query: Query) -> str:
    """Return the FTS5 expression over the `scope` column for a query; raises as lanes_of."""
    personal, *shared = lanes_of(query)
    branches = [personal]
    if shared:
        narrowed = f" AND {_token('dir', query.directory)}" if query.scope == "dir" and query.directory else ""
        branches.append(f"(({' OR '.join(shared)}){narrowed})")
    expression = f"({' OR '.join(branches)})"
    if query.category:
        expression += f" AND {_token('category', query.category)}"
    if query.run_id:
        expression += f" AND {_token('run', query.run_id)}"
    return f"scope : ({expression})"


def _token(*parts: str) -> str:
    return "x" + hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
