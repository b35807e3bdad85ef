"""Whose memories an explicit request means: a user, and on request an agent and a run (facts 18.24). Pure."""

from memsyncd.lifecycle.scopes import required


def entity_parameters(
    *, user_id: object = None, agent_id: object = None, run_id: object = None, default_user: str
) -> dict[str, str]:
    """Return the entities of a request, trimmed: the user or `default_user`; a blank agent or run is left out.

    A wildcard is no entity and would widen the request: InvalidMemoryScope names which one it was.
    """
    named = {"user_id": user_id if _told(user_id) else default_user, "agent_id": agent_id, "run_id": run_id}
    return {key: required(key, value) for key, value in named.items() if key == "user_id" or _told(value)}


def _told(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
