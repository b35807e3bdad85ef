"""What programs import, and what that costs them."""

import dataclasses
import inspect
import subprocess
import sys
from typing import Any

import pytest

from memsyncd import agent_state

STORES = (
    "MessageStore", "FactStore", "SummaryStore", "GoalStore", "SessionStateStore", "UserStore", "PhaseStore", "ToolEventStore",
)  # fmt: skip

SIGNATURES = {
    "save_message": "(user_id, topic_id, role, content, tool_calls=None, *, name=None, metadata=None, content_blocks=None)",
    "get_messages": "(user_id, topic_id, limit=10)",
    "count_messages": "(user_id, topic_id)",
    "delete_messages_before": "(user_id, topic_id, keep_last=10)",
    "upsert_fact": "(user_id, key, value, topic_id=None, source='user')",
    "get_facts": "(user_id, topic_id=None)",
    "save_summary": "(user_id, topic_id, summary, messages_covered)",
    "get_summary": "(user_id, topic_id)",
    "save_goal": "(user_id, goal)",
    "get_active_goal": "(user_id, topic_id)",
    "save_session_state": "(user_id, topic_id, role_id, active_skill_ids, prompt_hash='', *, delegated_from=None, delegation_turn_count=0, pending_delegation=None, delegation_summary=None)",
    "get_session_state": "(user_id, topic_id)",
    "ensure_user": "(external_id)",
    "get_user_profile": "(user_id)",
    "save_phase_state": "(user_id, phase, notes='')",
    "get_phase_state": "(user_id)",
    "save_tool_event": "(user_id, event)",
}  # fmt: skip

RECORDS: dict[str, tuple[bool, dict[str, Any]]] = {
    "MemoryMessage": (True, {"name": None, "tool_calls": None, "metadata": None, "content_blocks": None}),
    "UserProfile": (False, {"facts": {}, "created_at": ""}),
    "GoalState": (False, {"target_amount": None, "current_amount": 0, "phase": "", "plan": None, "is_main": False}),
    "PhaseState": (False, {"phase": "", "notes": ""}),
    "ToolEvent": (True, {"input_json": None, "output_json": None, "latency_ms": 0}),
    "ProcedureStep": (True, {"args_template": {}, "expected_outcome": ""}),
    "Procedure": (True, {"steps": (), "success_count": 0, "failure_count": 0, "tags": (), "metadata": {}}),
    "SessionKey": (True, {}),
}


@pytest.mark.parametrize("kind", ["InMemoryMemoryProvider", "SqliteMemoryProvider"])
def test_a_provider_is_all_eight_stores(kind: str) -> None:
    """By the protocols' own word."""
    made = getattr(agent_state, kind)(*([":memory:"] if kind[0] == "S" else []))
    for name in (*STORES, "MemoryProvider"):
        assert isinstance(made, getattr(agent_state, name))
    assert not isinstance(object(), agent_state.MemoryProvider)


@pytest.mark.parametrize("kind", ["InMemoryMemoryProvider", "SqliteMemoryProvider", "MemoryProvider"])
@pytest.mark.parametrize("method", SIGNATURES)
def test_a_method_is_called_as_programs_call_it(kind: str, method: str) -> None:
    """Names, order and defaults of the parameters are those of facts, hooks-and-apis 7, and all are coroutines."""
    function = getattr(getattr(agent_state, kind), method)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    assert str(inspect.Signature(bare)) == SIGNATURES[method]
    assert inspect.iscoroutinefunction(function)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_its_defaults_and_is_frozen_or_not(name: str) -> None:
    """A frozen record cannot be changed, another can; what has no default must be given."""
    frozen, defaults = RECORDS[name]
    kind = getattr(agent_state, name)
    needed = [field.name for field in dataclasses.fields(kind) if field.name not in defaults]
    record = kind(*needed)
    assert dataclasses.asdict(record) == {**{field: field for field in needed}, **defaults}
    if frozen:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, needed[0], "other")
    else:
        setattr(record, needed[0], "other")
        assert getattr(record, needed[0]) == "other"
    with pytest.raises(TypeError):
        kind()


def test_an_episode_is_frozen_and_happened_now() -> None:
    """Its time is one with an offset; two made without one are not the same object's."""
    episode = agent_state.Episode("e", "s")
    assert (episode.outcome, episode.session_id, episode.tags, episode.metadata) == ("unknown", "", (), {})
    assert episode.timestamp.utcoffset() is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        episode.id = "other"  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["Episodic", "Procedural"])
def test_a_memory_is_what_its_protocol_says(kind: str) -> None:
    """In memory and in SQLite, made without arguments; so is a session backend."""
    for backend in ("InMemory", "Sqlite"):
        made = getattr(agent_state, f"{backend}{kind}Memory")()
        assert isinstance(made, getattr(agent_state, f"{kind}Memory"))
        assert isinstance(getattr(agent_state, f"{backend}SessionBackend")(), agent_state.SessionBackend)


def test_every_name_is_there_and_no_other() -> None:
    """The list, what is found, and what dir shows agree; both spellings of SQLite are one class."""
    assert sorted(set(agent_state.__all__)) == sorted(agent_state.__all__)
    assert all(getattr(agent_state, name) is not None for name in agent_state.__all__)
    assert set(agent_state.__all__) <= set(dir(agent_state))
    assert set(agent_state._MODULE_OF) | set(agent_state._ALIASES) == set(agent_state.__all__)
    assert agent_state.SQLiteMemoryProvider is agent_state.SqliteMemoryProvider
    with pytest.raises(AttributeError, match="no attribute 'PostgresMemoryProvider'"):
        _ = agent_state.PostgresMemoryProvider


def test_a_name_brings_only_its_own_part() -> None:
    """The package alone loads nothing; the records no database; nothing of it a package that is not Python's own."""
    program = """
import sys
before = set(sys.modules)
import memsyncd.agent_state
assert {name for name in sys.modules if name.startswith("memsyncd")} == {"memsyncd", "memsyncd.version", "memsyncd.agent_state"}
assert not {"sqlite3", "asyncio", "dataclasses"} & set(sys.modules)
from memsyncd.agent_state import MemoryMessage, InMemoryMemoryProvider, SessionKey
assert not {"sqlite3", "asyncio"} & set(sys.modules)
from memsyncd.agent_state import *
found = set(sys.modules) - before
assert "sqlite3" in found
foreign = {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names}
assert all(name.startswith(("memsyncd.agent_state", "memsyncd.ages", "memsyncd.clock", "memsyncd.schema_steps", "memsyncd.sqlite_transaction")) for name in foreign - {"memsyncd", "memsyncd.version"}), foreign
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
