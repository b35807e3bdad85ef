"""How wide memory reaches, and what is refused."""

import pytest

from memsyncd.lifecycle.entities import entity_parameters
from memsyncd.lifecycle.filters import add_parameters, search_filters
from memsyncd.lifecycle.scopes import (
    GlobalScopeRefused,
    InvalidMemoryScope,
    MemoryIdentity,
    MemoryScope,
    MemoryScopeError,
    scope_of,
    tool_scope,
)

ADA = MemoryIdentity(user_id="ada", app_id="team-tool", run_id="run-1")


@pytest.mark.parametrize(
    ("value", "scope"),
    [
        ("project", MemoryScope.PROJECT),
        ("session", MemoryScope.SESSION),
        (" GLOBAL ", MemoryScope.GLOBAL),
        (MemoryScope.GLOBAL, MemoryScope.GLOBAL),
        ("team", MemoryScope.PROJECT),
        ("", MemoryScope.PROJECT),
        (None, MemoryScope.PROJECT),
        (3, MemoryScope.PROJECT),
    ],
)
def test_anything_unknown_means_the_project(value: object, scope: MemoryScope) -> None:
    """Facts 18.20."""
    assert scope_of(value) is scope


@pytest.mark.parametrize(
    ("requested", "configured", "scope"),
    [
        (None, MemoryScope.SESSION, MemoryScope.SESSION),
        (" ", MemoryScope.GLOBAL, MemoryScope.GLOBAL),
        ("session", MemoryScope.PROJECT, MemoryScope.SESSION),
        ("project", MemoryScope.GLOBAL, MemoryScope.PROJECT),
        ("global", MemoryScope.GLOBAL, MemoryScope.GLOBAL),
        ("everything", MemoryScope.GLOBAL, MemoryScope.PROJECT),
    ],
)
def test_a_tool_chooses_within_what_the_user_chose(
    requested: object, configured: MemoryScope, scope: MemoryScope
) -> None:
    """Facts 18.20: the session from the project is allowed, nothing asked for is what is configured."""
    assert tool_scope(requested, configured) is scope


@pytest.mark.parametrize("configured", [MemoryScope.PROJECT, MemoryScope.SESSION])
def test_a_tool_may_not_reach_for_everything(configured: MemoryScope) -> None:
    """Facts 18.20: the refusal says what the user can do."""
    with pytest.raises(GlobalScopeRefused, match="select global scope"):
        tool_scope("global", configured)


@pytest.mark.parametrize(
    ("scope", "filters"),
    [
        (MemoryScope.PROJECT, {"user_id": "ada", "app_id": "team-tool"}),
        (MemoryScope.SESSION, {"user_id": "ada", "app_id": "team-tool", "run_id": "run-1"}),
        (MemoryScope.GLOBAL, {"user_id": "ada"}),
    ],
)
def test_a_scope_becomes_filters_and_parameters(scope: MemoryScope, filters: dict[str, str]) -> None:
    """Facts 18.21: snake case, and camel case for the TypeScript client."""
    assert search_filters(scope, ADA) == filters
    assert add_parameters(scope, ADA) == filters
    camel = {"user_id": "userId", "app_id": "appId", "run_id": "runId"}
    assert add_parameters(scope, ADA, camel_case=True) == {camel[key]: value for key, value in filters.items()}


@pytest.mark.parametrize("bad", ["", "  ", "*", "***", " * ", "* *", "\uff0a", "\u2217*"])
@pytest.mark.parametrize("key", ["user_id", "app_id", "run_id"])
def test_a_missing_or_wildcard_identity_is_refused_by_name(bad: str, key: str) -> None:
    """Facts 18.22, for every key a scope needs, in searches and adds alike."""
    identity = MemoryIdentity(**{"user_id": "ada", "app_id": "team-tool", "run_id": "run-1", key: bad})
    for make in (search_filters, add_parameters):
        with pytest.raises(InvalidMemoryScope, match=f"Invalid memory scope {key}") as refusal:
            make(MemoryScope.SESSION, identity)
        assert refusal.value.key == key
        assert isinstance(refusal.value, MemoryScopeError)


def test_global_needs_only_the_user() -> None:
    """Facts 18.22: a project that cannot be told does not matter there."""
    assert search_filters(MemoryScope.GLOBAL, MemoryIdentity("ada", app_id="*")) == {"user_id": "ada"}
    with pytest.raises(InvalidMemoryScope):
        search_filters(MemoryScope.GLOBAL, MemoryIdentity("**", app_id="team-tool"))


def test_identities_are_passed_on_trimmed() -> None:
    """Facts 18.23 has them checked trimmed and passed on as they came, so that they never match."""
    identity = MemoryIdentity(" ada ", "\tteam-tool\n", " run-1 ")
    assert search_filters(MemoryScope.SESSION, identity) == search_filters(MemoryScope.SESSION, ADA)
    assert add_parameters(MemoryScope.SESSION, identity) == add_parameters(MemoryScope.SESSION, ADA)


@pytest.mark.parametrize(
    ("user_id", "agent_id", "run_id", "entities"),
    [
        (" ada ", " bot ", " ", {"user_id": "ada", "agent_id": "bot"}),
        (None, None, None, {"user_id": "somebody"}),
        ("  ", "", "r1 ", {"user_id": "somebody", "run_id": "r1"}),
        (7, [], {}, {"user_id": "somebody"}),
    ],
)
def test_entities_are_trimmed_and_blank_ones_left_out(
    user_id: object, agent_id: object, run_id: object, entities: dict[str, str]
) -> None:
    """Facts 18.24."""
    found = entity_parameters(user_id=user_id, agent_id=agent_id, run_id=run_id, default_user="somebody")
    assert found == entities


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"user_id": "*"}, "user_id"),
        ({"agent_id": " ** "}, "agent_id"),
        ({"run_id": "*"}, "run_id"),
        ({"default_user": "*"}, "user_id"),
        ({"default_user": ""}, "user_id"),
    ],
)
def test_a_wildcard_is_no_entity(arguments: dict[str, str], key: str) -> None:
    """Facts 18.24 (d) and 20.28: unchecked, it widened what was searched and deleted."""
    with pytest.raises(InvalidMemoryScope) as refusal:
        entity_parameters(**{"default_user": "somebody", **arguments})
    assert refusal.value.key == key
