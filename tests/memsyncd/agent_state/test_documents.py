"""Summaries, goals, session states, users, phases and tool events, on both providers."""

from typing import Any

from memsyncd.agent_state import GoalState, MemoryProvider, PhaseState, ToolEvent, UserProfile
from memsyncd.agent_state.provider import KEPT_TOOL_EVENTS, StateProvider

SESSION = {
    "role_id": "coach", "active_skill_ids": ["a", "b"], "title": None, "prompt_hash": "", "delegated_from": None,
    "delegation_turn_count": 0, "pending_delegation": None, "delegation_summary": None,
}  # fmt: skip


def test_nothing_needs_the_user_to_be_known(provider: MemoryProvider, run: Any) -> None:
    """Every store takes and gives for a user ensure_user never saw."""
    run(provider.save_message("u", "t", "user", "x"))
    run(provider.upsert_fact("u", "k", 1))
    run(provider.save_summary("u", "t", "s", 1))
    run(provider.save_goal("u", GoalState("t", "goal")))
    run(provider.save_session_state("u", "t", "r", []))
    run(provider.save_phase_state("u", "p"))
    run(provider.save_tool_event("u", ToolEvent("t", "tool")))
    assert run(provider.count_messages("u", "t")) == 1
    assert run(provider.get_user_profile("u")) == UserProfile("u", {"k": 1}, "")


def test_reading_makes_nothing(provider: MemoryProvider, run: Any) -> None:
    """Whoever only asks finds nothing, and leaves nothing behind."""
    for _ in range(2):
        assert run(provider.get_messages("u", "t")) == []
        assert run(provider.count_messages("u", "t")) == 0
        assert run(provider.delete_messages_before("u", "t", 0)) == 0
        assert run(provider.get_facts("u", "t")) == {}
        assert run(provider.get_summary("u", "t")) is None
        assert run(provider.get_active_goal("u", "t")) is None
        assert run(provider.get_session_state("u", "t")) is None
        assert run(provider.get_phase_state("u")) is None
        assert run(provider.get_user_profile("u")) == UserProfile("u")
    own = [value for value in vars(provider).values() if isinstance(value, dict)]
    assert not any(own)


def test_a_summary_replaces_the_last_with_its_count(provider: StateProvider, run: Any) -> None:
    """The text and how many messages it covers go together."""
    run(provider.save_summary("u", "t", "first", 3))
    run(provider.save_summary("u", "t", "second ä", 7))
    run(provider.save_summary("u", "other", "", 0))
    assert run(provider.get_summary("u", "t")) == "second ä"
    assert run(provider.get_messages_covered("u", "t")) == 7
    assert run(provider.get_summary("u", "other")) == ""
    assert run(provider.get_messages_covered("u", "nowhere")) is None


def test_a_goal_is_found_under_its_id_and_replaced_whole(provider: MemoryProvider, run: Any) -> None:
    """What the new goal does not say is back at its default."""
    goal = GoalState("t", "save", 10_000, 250, "start", {"steps": [1]}, is_main=True)
    run(provider.save_goal("u", goal))
    run(provider.save_goal("u", GoalState("other", "rest")))
    assert run(provider.get_active_goal("u", "t")) == goal
    run(provider.save_goal("u", GoalState("t", "save more")))
    assert run(provider.get_active_goal("u", "t")) == GoalState("t", "save more")
    assert run(provider.get_active_goal("v", "t")) is None


def test_a_goal_is_a_copy(provider: MemoryProvider, run: Any) -> None:
    """Changing the goal given or the one read changes nothing kept."""
    goal = GoalState("t", "save", plan={"steps": [1]})
    run(provider.save_goal("u", goal))
    goal.title = "spend"
    assert goal.plan is not None
    goal.plan["steps"].append(2)
    found = run(provider.get_active_goal("u", "t"))
    found.current_amount = 5
    found.plan["steps"].append(3)
    assert run(provider.get_active_goal("u", "t")) == GoalState("t", "save", plan={"steps": [1]})


def test_a_session_state_has_the_same_keys_in_both(provider: MemoryProvider, run: Any) -> None:
    """`title` too, and the defaults of delegation."""
    run(provider.save_session_state("u", "t", "coach", ["a", "b"]))
    assert run(provider.get_session_state("u", "t")) == SESSION


def test_a_session_state_is_saved_whole(provider: MemoryProvider, run: Any) -> None:
    """Delegation is a snapshot: what the next save does not give is reset."""
    run(
        provider.save_session_state(
            "u", "t", "expert", ["c"], "hash", delegated_from="coach", delegation_turn_count=2,
            pending_delegation="x", delegation_summary="why",
        )
    )  # fmt: skip
    assert run(provider.get_session_state("u", "t")) == {
        "role_id": "expert", "active_skill_ids": ["c"], "title": None, "prompt_hash": "hash", "delegated_from": "coach",
        "delegation_turn_count": 2, "pending_delegation": "x", "delegation_summary": "why",
    }  # fmt: skip
    run(provider.save_session_state("u", "t", "coach", ["a", "b"]))
    assert run(provider.get_session_state("u", "t")) == SESSION


def test_a_session_state_is_a_copy(provider: MemoryProvider, run: Any) -> None:
    """Neither list of skills is the one kept."""
    skills = ["a", "b"]
    run(provider.save_session_state("u", "t", "coach", skills))
    skills.append("c")
    run(provider.get_session_state("u", "t"))["active_skill_ids"].append("d")
    assert run(provider.get_session_state("u", "t")) == SESSION


def test_a_user_is_noted_once(provider: MemoryProvider, run: Any) -> None:
    """The id comes back as it was given, and the profile tells since when; its facts are those of no topic."""
    assert run(provider.ensure_user("ext:1")) == "ext:1"
    assert run(provider.ensure_user("ext:1")) == "ext:1"
    run(provider.upsert_fact("ext:1", "k", "v"))
    run(provider.upsert_fact("ext:1", "k", "here", "t"))
    assert run(provider.get_user_profile("ext:1")) == UserProfile("ext:1", {"k": "v"}, "2026-12-01T00:05:00.000Z")


def test_a_phase_replaces_the_last(provider: MemoryProvider, run: Any) -> None:
    """Notes are not carried over, and what was read is a copy."""
    run(provider.save_phase_state("u", "one", "notes"))
    assert run(provider.get_phase_state("u")) == PhaseState("u", "one", "notes")
    run(provider.save_phase_state("u", "two"))
    run(provider.get_phase_state("u")).phase = "changed"
    assert run(provider.get_phase_state("u")) == PhaseState("u", "two", "")


def test_tool_events_are_kept_in_order(provider: StateProvider, run: Any) -> None:
    """With all their fields, a topic's or all of a user's, the last ones."""
    arguments: dict[str, Any] = {"path": ["a"]}
    first = ToolEvent("t", "read", arguments, {"ok": True}, 12)
    run(provider.save_tool_event("u", first))
    arguments["path"].append("b")
    run(provider.save_tool_event("u", ToolEvent("other", "write")))
    run(provider.save_tool_event("u", ToolEvent("t", "list")))
    kept = ToolEvent("t", "read", {"path": ["a"]}, {"ok": True}, 12)
    assert run(provider.get_tool_events("u")) == [kept, ToolEvent("other", "write"), ToolEvent("t", "list")]
    assert run(provider.get_tool_events("u", "t")) == [kept, ToolEvent("t", "list")]
    assert run(provider.get_tool_events("u", limit=1)) == [ToolEvent("t", "list")]
    assert run(provider.get_tool_events("u", limit=0)) == run(provider.get_tool_events("v")) == []


def test_tool_events_are_bounded_and_counted(provider: StateProvider, run: Any) -> None:
    """The oldest go first, and how many went is told, for each user alone."""

    async def many() -> None:
        for number in range(KEPT_TOOL_EVENTS + 3):
            await provider._append_tool_event("u", "t", f'{{"topic_id":"t","tool_name":"{number}"}}')

    if hasattr(provider, "_database"):  # ten thousand commits would take seconds: the first come in one
        statement = (
            "INSERT INTO state_tool_events VALUES('u', ?, 't', json_object('topic_id', 't', 'tool_name', ? || ''))"
        )
        run(
            provider._database.write(
                lambda store: [store.execute(statement, (n + 1, n)) for n in range(KEPT_TOOL_EVENTS)] and None
            )
        )
        for number in range(KEPT_TOOL_EVENTS, KEPT_TOOL_EVENTS + 3):
            run(provider.save_tool_event("u", ToolEvent("t", str(number))))
    else:
        run(many())
    run(provider.save_tool_event("v", ToolEvent("t", "x")))
    events = run(provider.get_tool_events("u", limit=KEPT_TOOL_EVENTS * 2))
    assert [event.tool_name for event in events] == [str(number) for number in range(3, KEPT_TOOL_EVENTS + 3)]
    assert run(provider.dropped_tool_events("u")) == 3
    assert run(provider.dropped_tool_events("v")) == run(provider.dropped_tool_events("w")) == 0
