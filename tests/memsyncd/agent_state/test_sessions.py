"""Session backends and the names of their keys."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.agent_state import MemoryScope, NotJson, SessionBackend, SessionKey, scoped_key


def test_a_state_is_saved_replaced_and_deleted(sessions: SessionBackend, run: Any) -> None:
    """The key decides; deleting tells whether there was one."""
    run(sessions.save("a:b", {"n": 1, "ä": [None, {"x": True}]}))
    assert run(sessions.load("a:b")) == {"n": 1, "ä": [None, {"x": True}]}
    run(sessions.save("a:b", {}))
    assert run(sessions.load("a:b")) == {}
    assert run(sessions.load("other")) is None
    assert run(sessions.delete("a:b")) is True
    assert run(sessions.delete("a:b")) is False
    assert run(sessions.load("a:b")) is None


def test_keys_come_in_the_order_of_their_first_save(sessions: SessionBackend, run: Any) -> None:
    """A key that was deleted and saved anew comes last."""
    for key in ("c", "a", "b", "c"):
        run(sessions.save(key, {}))
    assert run(sessions.list_keys()) == ["c", "a", "b"]
    run(sessions.delete("b"))
    run(sessions.delete("c"))
    run(sessions.save("c", {}))
    assert run(sessions.list_keys()) == ["a", "c"]


def test_a_state_is_a_deep_copy(sessions: SessionBackend, run: Any) -> None:
    """Neither the state given nor the one loaded is the one kept."""
    state = {"list": [{"a": 1}]}
    run(sessions.save("k", state))
    state["list"][0]["a"] = 2
    run(sessions.load("k"))["list"].clear()
    assert run(sessions.load("k")) == {"list": [{"a": 1}]}


def test_a_state_that_is_no_json_is_refused(sessions: SessionBackend, run: Any) -> None:
    """By both, and the one before stays."""
    run(sessions.save("k", {"a": 1}))
    with pytest.raises(NotJson):
        run(sessions.save("k", {"a": object()}))
    assert run(sessions.load("k")) == {"a": 1}


def test_scopes_are_apart(sessions: SessionBackend, run: Any) -> None:
    """The same key in three scopes is three states."""

    async def all_scopes() -> list[Any]:
        await asyncio.gather(*(sessions.save(scoped_key(scope, "k"), {"scope": scope.value}) for scope in MemoryScope))
        return [await sessions.load(f"{name}:k") for name in ("global", "agent", "shared")]

    assert run(all_scopes()) == [{"scope": "global"}, {"scope": "agent"}, {"scope": "shared"}]


def test_a_scoped_key_is_the_scope_and_the_key() -> None:
    """The key is not changed, and a scope is one of three."""
    assert scoped_key(MemoryScope.AGENT, "a:b") == "agent:a:b"
    assert MemoryScope("shared") is MemoryScope.SHARED
    assert MemoryScope.GLOBAL == "global"
    with pytest.raises(ValueError):
        scoped_key("everyone", "k")  # type: ignore[arg-type]


def test_a_session_key_escapes_what_divides_it() -> None:
    """The colon, and the sign that escapes it."""
    assert str(SessionKey("u", "t")) == "u:t"
    assert str(SessionKey("a:b", "100%")) == "a%3Ab:100%25"
    assert SessionKey("u", "t") == SessionKey("u", "t")


@given(
    st.text(":%a3A25", max_size=6),
    st.text(":%a3A25", max_size=6),
    st.text(":%a3A25", max_size=6),
    st.text(":%a3A25", max_size=6),
)
def test_no_two_session_keys_share_a_text(a: str, b: str, c: str, d: str) -> None:
    """Whatever the names are."""
    assert (str(SessionKey(a, b)) == str(SessionKey(c, d))) == ((a, b) == (c, d))
