"""What a scope becomes in a search and in an add (facts 18.21 to 18.23). Pure; never a wildcard, never untrimmed."""

from memsyncd.lifecycle.scopes import MemoryIdentity, MemoryScope, required

_KEYS = {
    MemoryScope.PROJECT: ("user_id", "app_id"),
    MemoryScope.SESSION: ("user_id", "app_id", "run_id"),
    MemoryScope.GLOBAL: ("user_id",),
}
"""Every scope pins a user; `global` needs no more, so a project that cannot be told does not matter there."""


def search_filters(scope: MemoryScope, identity: MemoryIdentity) -> dict[str, str]:
    """Return the filters of a search within `scope`: `user_id`, and `app_id` and `run_id` where the scope is narrower.

    Raises InvalidMemoryScope, whose `key` names the identity that is missing or a wildcard.
    """
    return {key: required(key, getattr(identity, key)) for key in _KEYS[scope]}


def add_parameters(scope: MemoryScope, identity: MemoryIdentity, *, camel_case: bool = False) -> dict[str, str]:
    """Return whom an added memory belongs to: the keys of `search_filters`, so that what is added is found again.

    `camel_case` spells them `userId`, `appId`, `runId`, as the TypeScript client takes them; the REST API and the
    Python client take them as they are. Raises InvalidMemoryScope.
    """
    filters = search_filters(scope, identity)
    return {_camel(key): value for key, value in filters.items()} if camel_case else filters


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(map(str.capitalize, others))
