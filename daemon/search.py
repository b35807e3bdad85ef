"""`POST /search`: a question to the platform, within the scope of a directory."""

from collections.abc import Callable, Mapping
from typing import Any

from memsyncd.evidence.event import Scope
from memsyncd.platforms.platform import Memory, Platform, PlatformError, Query

MAX_TOP_K = 20
"""Facts 7.12."""


def search(
    request: Mapping[str, Any], *, platform: Platform, resolve: Callable[[str], Scope], user_id: str
) -> dict[str, Any]:
    """Return CONTRACT's search shape. A platform that fails answers `succeeded: false`, never an empty success."""
    scope = resolve(str(request.get("cwd") or ""))
    query = Query(
        text=str(request["query"]),
        user_id=user_id,
        app_id=scope.app_id,
        agent_ids=(scope.project_id,),
        top_k=min(max(int(request.get("top_k") or 5), 1), MAX_TOP_K),
        category=str(request.get("category") or ""),
        run_id=str(request.get("run_id") or ""),
        directory=scope.directory,
        scope=str(request.get("scope") or "repo"),
    )
    try:
        memories = platform.search(query)
    except PlatformError as error:
        return {"succeeded": False, "source": platform.kind, "memories": [], "error": error.message}
    return {"succeeded": True, "source": platform.kind, "memories": [_document(memory) for memory in memories]}


def _document(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "memory": memory.memory,
        "category": memory.category,
        "score": memory.score,
        "created_at": memory.created_at,
        "metadata": dict(memory.metadata),
    }
