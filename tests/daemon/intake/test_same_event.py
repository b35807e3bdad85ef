"""One event that comes twice is one record; the same words typed again are two (CONTRACT: "Same event twice")."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.intake.repeats import SAME_EVENT_SECONDS
from memsyncd.clock import rfc3339
from tests.daemon.intake.ingesting import Ingesting
from tests.memsyncd.hooks import payloads

CURSOR = payloads.of("cursor", "beforeSubmitPrompt").hook_input
COPILOT = payloads.of("copilot", "UserPromptSubmit").hook_input
CODEX = payloads.of("codex", "UserPromptSubmit").hook_input
KIMI = payloads.of("kimi", "UserPromptSubmit").hook_input
SHELL = payloads.of("cursor", "postToolUse").hook_input


class Harnesses(Ingesting):
    """An ingest with a spool for each harness that drops."""

    def tell(self, hook_input: dict[str, Any], *, spool: str, action: str = "user-prompt", **changed: Any) -> str:
        """Let a hook that was registered for the harness `spool` bring a payload."""
        pending = self.root / "spools" / spool / "pending"
        pending.mkdir(parents=True, exist_ok=True, mode=0o700)
        document = {**hook_input, **changed}
        number = next(self.numbers)
        envelope = {"v": 1, "id": f"{number:06}", "harness": spool, "action": action, "hook_input": document}
        envelope["captured_at"] = self.now()
        return self.put(f"{number:06}", json.dumps(envelope).encode(), pending=pending)

    def now(self) -> str:
        return rfc3339(self.hands.wall_now)

    def take(self) -> None:
        """Scan as the daemon's thread does: new spools are looked for between two scans."""
        for _ in range(2):
            self.served.refresh(self.findings)
            self.scan()

    def left(self, spool: str) -> list[str]:
        return sorted(path.name for path in (self.root / "spools" / spool / "pending").iterdir())


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Harnesses]:
    made = Harnesses(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("order", [("cursor", "claude-code"), ("claude-code", "cursor")])
@pytest.mark.parametrize("restarts", [False, True])
def test_cursor_running_claude_code_s_hooks_beside_its_own_is_recorded_once(
    at: Harnesses, order: tuple[str, str], restarts: bool
) -> None:
    """Both bring each event; it lies in Cursor's evidence once, and nothing of it in Claude Code's."""
    for spool in order:
        at.tell(CURSOR, spool=spool)
        at.tell(SHELL, spool=spool, action="post-tool")
        at.take()
        if restarts:
            at.restart()
        at.hands.move(0.05)
    assert [kind for kind, _ in at.events("cursor")] == ["user_prompt", "tool_result"]
    assert at.events("claude-code") == []
    assert at.left("cursor") == at.left("claude-code") == []


def test_cursor_with_claude_code_s_hooks_alone_is_recorded_as_cursor_s(at: Harnesses) -> None:
    """Its spool is made where no hook of its own has; each prompt of it is there."""
    at.tell(CURSOR, spool="claude-code")
    at.take()
    at.tell(CURSOR, spool="claude-code", prompt="And now?", generation_id="g-4")
    at.take()
    assert [text for _, text in at.events("cursor")] == [CURSOR["prompt"], "And now?"]
    assert at.counters.snapshot()["handoffs_rehomed"] == 2


def test_a_handoff_that_cannot_be_moved_is_recorded_where_it_is(at: Harnesses) -> None:
    """Something that is no directory in the other spool's place loses nothing."""
    (at.root / "spools" / "cursor").write_text("in the way")
    at.tell(CURSOR, spool="claude-code")
    at.take()
    assert [text for _, text in at.events("claude-code")] == [CURSOR["prompt"]]


def test_a_name_that_is_taken_there_loses_nothing(at: Harnesses) -> None:
    """A handoff of the same name is not overwritten: the other one is recorded where it is."""
    stem = at.tell(CURSOR, spool="claude-code")
    other = at.root / "spools/cursor/pending" / f"{stem}.running"
    other.parent.mkdir(parents=True, mode=0o700)
    other.write_text("{}")
    at.take()
    assert [text for _, text in at.events("claude-code")] == [CURSOR["prompt"]]
    assert at.left("cursor") == [other.name]


def test_copilot_running_claude_code_s_hooks_is_recorded_once(at: Harnesses) -> None:
    """Its payloads have no ids; what comes within moments with the same words is one."""
    at.tell(COPILOT, spool="claude-code")
    at.tell(COPILOT, spool="copilot")
    at.take()
    assert [text for _, text in at.events("copilot")] == [COPILOT["prompt"]]
    assert at.events("claude-code") == []


@pytest.mark.parametrize(
    ("spool", "hook_input", "new_turn"),
    [("codex", CODEX, {"turn_id": "8"}), ("cursor", CURSOR, {"generation_id": "g-4"}), ("kimi", KIMI, {})],
)
def test_two_registrations_are_one_and_the_same_words_again_are_two(
    at: Harnesses, spool: str, hook_input: dict[str, Any], new_turn: dict[str, Any]
) -> None:
    """A user's and a project's hook bring one prompt at once; typed again later it is another."""
    at.tell(hook_input, spool=spool)
    at.hands.move(0.04)
    at.tell(hook_input, spool=spool)
    at.take()
    assert len(at.events(spool)) == 1
    at.hands.move(SAME_EVENT_SECONDS + 0.1)
    at.tell(hook_input, spool=spool, **new_turn)
    at.take()
    assert len(at.events(spool)) == 2


def test_a_retry_of_the_same_file_is_one(at: Harnesses) -> None:
    """A claim that was committed and not unlinked before a death is given back, and is known."""
    stem = at.tell(CODEX, spool="codex")
    path = at.root / "spools/codex/pending" / f"{stem}.json"
    content = path.read_bytes()
    at.take()
    at.restart()
    path.write_bytes(content)
    at.take()
    assert len(at.events("codex")) == 1


def test_a_field_that_only_one_hook_tells_makes_no_second_event(at: Harnesses) -> None:
    """Fields nobody knows are kept with the event, and are not what tells it."""
    at.tell(KIMI, spool="kimi")
    at.tell(KIMI, spool="kimi", hook_number=2)
    at.take()
    assert len(at.events("kimi")) == 1


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Fix it.", "And now?"]),
            st.sampled_from([0.0, 0.5, 3.0]),
            st.integers(min_value=1, max_value=3),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_each_typed_prompt_is_one_event(
    tmp_path_factory: pytest.TempPathFactory, typed: list[tuple[str, float, int]], has_ids: bool
) -> None:
    """However often each is brought, and by whomever; without ids those of the same words must lie apart."""
    at = Harnesses(tmp_path_factory.mktemp("same"))
    try:
        expected = []
        for number, (words, pause, times) in enumerate(typed):
            at.hands.move(pause if has_ids else pause + SAME_EVENT_SECONDS + 0.1)
            expected.append(words)
            for copy in range(times):
                turn = {"generation_id": f"g-{number}"} if has_ids else {"generation_id": None}
                at.tell(CURSOR, spool="claude-code" if copy % 2 else "cursor", prompt=words, **turn)
        at.take()
        assert [text for _, text in at.events("cursor")] == expected
    finally:
        at.close()
