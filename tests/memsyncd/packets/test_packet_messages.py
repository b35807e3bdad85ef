"""What of a packet is posted: dialogue, and the evidence block (facts 2.33, 4.9 to 4.17)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memsyncd.evidence.event import Event
from memsyncd.packets.messages import messages
from memsyncd.platforms.platform import Message
from memsyncd.recall.context import HEADING

PROMPT, ANSWER = "user_prompt", "assistant_stop"
ROOT = "/srv/tree"


def _plain(text: str) -> str:
    return text


def _posted(events: Sequence[Event], redact: Callable[[str], str] = _plain) -> list[Message]:
    return list(messages(events, root=ROOT, redact=redact))


def _bash(event: Callable[..., Event], command: str = "pytest -q", kind: str = "test", **more: Any) -> Event:
    return event("tool_result", tool="Bash", command=command, kind=kind, **more)


def test_dialogue_only(event: Callable[..., Event]) -> None:
    """Prompts and answers are posted in full; starts, reads and a subagent's last words are not (facts 2.33, 4.9)."""
    prompt, answer = "p" * 42_000, "a" * 76_000
    events = [
        event("session_start", source="startup"),
        event(PROMPT, prompt),
        event("tool_result", tool="Read", path="src/secret.py", failed=False),
        event("subagent_start", agent_id="a1"),
        event("subagent_stop", "the subagent's last words", agent_id="a1"),
        event(ANSWER, answer),
        event("memory_write", "an old kind"),
        event(PROMPT, "trailing"),
    ]
    assert _posted(events) == [Message("user", prompt), Message("assistant", answer), Message("user", "trailing")]


def test_no_dialogue_no_messages(event: Callable[..., Event]) -> None:
    """Evidence without words makes no message at all (facts 2.17, 2.37)."""
    assert _posted([event("session_start"), event("memory_write", "x"), event(PROMPT, " ")]) == []


def test_what_a_plugin_recorded_is_posted_without_private_spans_and_contexts_of_ours(
    event: Callable[..., Event],
) -> None:
    """A plugin's evidence is cleaned on its way out; what is then without words is no message."""
    transcript = [{"role": "user", "content": "<private>a</private>"}, {"role": "assistant", "content": "Done."}]
    events = [
        event(PROMPT, f"Say <private>x</private>it.\n{HEADING}\n1. Known.\n"),
        event(PROMPT, "<private>all of it</private>"),
        _bash(event, "echo <private>y</private>", failed=True, result="<private>z</private>"),
        event(ANSWER, "Done.", transcript_messages=transcript),
    ]
    first, last = _posted(events)
    assert first == Message("user", "Say  it.\n")
    assert last.content.startswith("Done.\n\n") and "echo" in last.content
    assert not any(f"{letter}</private>" in last.content for letter in "ayz") and "private" not in last.content


def test_a_transcript_repeats_no_prompt(event: Callable[..., Event]) -> None:
    """A prompt that the answer's transcript has too is not added; one it lacks goes before it (facts 4.10)."""
    transcript = [
        {"role": "user", "content": "known"},
        {"role": "assistant", "content": "first"},
        {"role": "assistant", "content": "last"},
    ]
    events = [event(PROMPT, "missing"), event(PROMPT, "known"), event(ANSWER, "last", transcript_messages=transcript)]
    assert _posted(events) == [
        Message("user", "missing"),
        Message("user", "known"),
        Message("assistant", "first"),
        Message("assistant", "last"),
    ]


def test_prompts_are_compared_after_redaction(event: Callable[..., Event]) -> None:
    """The prompt as the hook told it and as the transcript has it are compared redacted (facts 4.10)."""
    secret = "hunter" + "2" * 8
    transcript = [{"role": "user", "content": f"use {secret} "}, {"role": "assistant", "content": "done"}]
    events = [event(PROMPT, "use [REDACTED]"), event(ANSWER, "done", transcript_messages=transcript)]
    posted = _posted(events, redact=lambda text: text.replace(secret, "[REDACTED]"))
    assert [message.content.strip() for message in posted] == ["use [REDACTED]", "done"]


@pytest.mark.parametrize(
    "transcript",
    [
        None,
        [],
        "odd",
        [{"role": "tool", "content": "x"}, {"role": ["user"], "content": "x"}],
        [{"role": "user"}],
        [7],
        [{"role": "assistant", "content": " "}],
    ],
)
def test_an_answer_without_a_usable_transcript(event: Callable[..., Event], transcript: object) -> None:
    """Without a usable transcript the answer's own text is said (facts 4.10, 10.10)."""
    events = [event(PROMPT, "q"), event(ANSWER, "a", transcript_messages=transcript)]
    assert _posted(events) == [Message("user", "q"), Message("assistant", "a")]


def test_half_characters_are_replaced(event: Callable[..., Event]) -> None:
    """A lone surrogate never reaches a request; a pair in two halves becomes its character (never-again 113)."""
    posted = _posted([event(PROMPT, "bad \udc80 good \ud83d\ude00"), event(ANSWER, "\ud800")])
    assert posted == [Message("user", "bad \ufffd good 😀"), Message("assistant", "\ufffd")]


def test_everything_posted_is_redacted(event: Callable[..., Event]) -> None:
    """Prompts, answers, transcripts, commands, results and paths go through redaction (facts 6.9)."""
    secret = "hunter" + "3" * 8
    transcript = [{"role": "assistant", "content": f"t {secret}"}]
    events = [
        event(PROMPT, f"p {secret}"),
        _bash(event, f"run {secret}", failed=True, result=f"r {secret}"),
        event("tool_result", tool="Write", path=f"src/{secret}.py", failed=False),
        event(ANSWER, f"a {secret}", transcript_messages=transcript),
    ]
    told = "\n".join(message.content for message in _posted(events, redact=lambda text: text.replace(secret, "#")))
    assert secret not in told
    assert told.count("#") == 5


def test_a_failed_command_is_told_with_those_around_it(event: Callable[..., Event]) -> None:
    """One failed command lists all, with status and kind, on the last answer (facts 4.11, 4.12)."""
    events = [
        event(PROMPT, "q1"),
        event(ANSWER, "a1"),
        event(PROMPT, "q2"),
        event("tool_failure", tool="Bash", command="pytest -q", kind="test", error="1 failed\n  in 3 s"),
        _bash(event, "pytest -q -x", failed=False, result="136 passed"),
        _bash(event, "ls", kind="shell"),
        event("tool_result", tool="Edit", path="src/a.py", failed=False),
        event(ANSWER, "a2"),
        event(PROMPT, "q3"),
    ]
    posted = _posted(events)
    assert [message.content for message in posted[:3]] == ["q1", "a1", "q2"]
    assert posted[3] == Message(
        "assistant",
        "a2\n\nCommands run in this session:\n[failed/test] pytest -q\n  1 failed in 3 s\n"
        "[succeeded/test] pytest -q -x\n  136 passed\n[unknown/shell] ls\nFiles changed in this session:\n- src/a.py",
    )
    assert posted[4] == Message("user", "q3")


def test_without_an_answer_the_block_is_one(event: Callable[..., Event]) -> None:
    """With no answer to append it to, the block is a message of its own (facts 4.12)."""
    posted = _posted([event(PROMPT, "q"), event("tool_result", tool="Write", path="a.py", failed=False)])
    assert posted == [Message("user", "q"), Message("assistant", "Files changed in this session:\n- a.py")]


def test_successes_alone_are_not_told(event: Callable[..., Event]) -> None:
    """Test runs that passed never reach the evidence, the changed path does (facts 4.13)."""
    events = [
        _bash(event, failed=False, result="136 passed"),
        event("tool_result", tool="Write", path="a.py", failed=False),
        event(ANSWER, "done"),
    ]
    (told,) = _posted(events)
    assert "136 passed" not in told.content
    assert told.content.endswith("- a.py")


@pytest.mark.parametrize("agent", [{"agent_role": "subagent"}, {"agent_role": "sidekick"}, {"agent_id": "a1"}])
def test_a_subagents_tools_are_left_out(event: Callable[..., Event], agent: dict[str, str]) -> None:
    """What a subagent ran or changed is no evidence of the session (facts 4.14)."""
    events = [
        _bash(event, failed=True, **agent),
        event("tool_result", tool="Write", path="a.py", failed=False, **agent),
        event(ANSWER, "done"),
    ]
    assert _posted(events) == [Message("assistant", "done")]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/../src/a.py", ""),
        (f"{ROOT}/src/a.py", "src/a.py"),
        ("/home/nobody/.agent/memory.md", ""),
        (f"{ROOT}-other/a.py", ""),
        ("../a.py", ""),
        ("~/notes.md", ""),
        ("C:\\private\\a.py", ""),
        (ROOT, ""),
    ],
)
def test_paths_are_told_relative_to_the_root(event: Callable[..., Event], path: str, told: str) -> None:
    """Paths inside the tree are relative, those outside are dropped; no root path shows (facts 4.15)."""
    events = [event("tool_result", tool="Edit", path=path, failed=False), event(ANSWER, "done")]
    (message,) = _posted(events)
    assert message.content == (f"done\n\nFiles changed in this session:\n- {told}" if told else "done")


@pytest.mark.parametrize(
    "payload",
    [{"tool": "Read"}, {"tool": "Edit", "failed": True}, {"tool": "Grep"}],
)
def test_only_successful_changes_are_changed_files(event: Callable[..., Event], payload: dict[str, Any]) -> None:
    """A file read, or an edit that failed, is no changed file (facts 4.11, 9.2)."""
    assert _posted([event("tool_result", path="a.py", **payload), event(ANSWER, "done")]) == [
        Message("assistant", "done")
    ]


def test_caps_of_the_block(event: Callable[..., Event]) -> None:
    """Twenty paths, the last thirty commands, results of 500 characters on one line, 8,000 in all (facts 4.11, 4.16)."""
    events = [event("tool_result", tool="Write", path=f"f{number:02}.py", failed=False) for number in range(25)]
    events += [
        _bash(event, f"step {number}", "shell", failed=number == 39, result="r\n" * 900 + "1 failed")
        for number in range(40)
    ]
    (message,) = _posted([*events, event(ANSWER, "done")])
    block = message.content.removeprefix("done\n\n")
    assert len(block) <= 8_000
    assert block.count("\n- f") == 20
    assert block.count("/shell] step") == 30
    assert "step 9\n" not in block
    failed = block.partition("[failed/shell] step 39\n  ")[2].partition("\n")[0]
    assert len(failed) == 500
    assert failed.startswith("r r r")
    assert failed.endswith("r r 1 failed")


def test_huge_commands_still_fit(event: Callable[..., Event]) -> None:
    """Commands over the cap go from the oldest on; the newest failure is still told (facts 4.11)."""
    events = [_bash(event, f"{number} " + "c" * 1_990, failed=True, result="r" * 500) for number in range(30)]
    (message,) = _posted([*events, event(ANSWER, "done")])
    assert len(message.content) <= 8_006
    assert "[failed/test] 29 c" in message.content
    assert "[failed/test] 0 c" not in message.content


def test_what_our_own_hook_records(event: Callable[..., Event]) -> None:
    """The payloads of our own adapters (facts 9.1 to 9.7) are read as those of plugins are."""
    shared = {"tool": "Bash", "agent_role": "main", "duration_ms": 12}
    events = [
        event(PROMPT, prompt="q"),
        event(
            "tool_failure",
            **shared,
            failed=True,
            command="make",
            kind="build",
            preview={"stdout": "x"},
            error="no rule",
        ),
        event(
            "tool_result",
            **shared,
            failed=False,
            command="make all",
            kind="build",
            preview={"stdout": "built", "stderr": "warn", "interrupted": False},
        ),
        event("tool_result", tool="Write", agent_role="main", failed=False, path=f"{ROOT}/Makefile", mutation_chars=0),
        event("subagent_stop", final_message="not told", agent_id="a1"),
        event(ANSWER, "a"),
    ]
    assert _posted(events)[1].content.split("\n")[2:] == [
        "Commands run in this session:",
        "[failed/build] make",
        "  no rule",
        "[succeeded/build] make all",
        "  built warn",
        "Files changed in this session:",
        "- Makefile",
    ]
