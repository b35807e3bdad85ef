"""What is never recorded: private spans, and the contexts we gave an agent ourselves."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.intake import own_words as cleaning
from daemon.intake.own_words import MAX_DEPTH, own_words
from memsyncd.recall.context import HEADING, TAG
from tests.daemon.intake.ingesting import Ingesting

HIDDEN = "the launch is on the ninth"
PRIVATE = f"<private>{HIDDEN}</private>"
TOLD = f"{HEADING}\n1. Ports are in ports.toml.\n2. Releases are cut on Fridays. [learnt on branch x]\n"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def stored(at: Ingesting) -> str:
    with closing(sqlite3.connect(at.spool.evidence)) as connection:
        return "\n".join(connection.iterdump())


@pytest.mark.parametrize(
    ("action", "hook_input"),
    [
        ("user-prompt", {"prompt": f"before {PRIVATE} after"}),
        ("user-prompt", {"prompt": [{"type": "text", "text": f"before {PRIVATE} after"}]}),
        ("stop", {"last_assistant_message": f"before {PRIVATE} after"}),
        ("flush", {"last_assistant_message": f"before <PRIVATE>{HIDDEN}</private> after"}),
        ("subagent-stop", {"agent_id": "a", "agent_type": "t", "last_assistant_message": f"before {PRIVATE} after"}),
        ("post-tool", {"tool_name": "Bash", "tool_input": {"command": f"before {PRIVATE} after"}}),
        ("post-tool", {"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": f"before {PRIVATE} after"}}),
        ("post-tool-failure", {"tool_name": "X", "tool_input": {}, "error": f"before {PRIVATE} after"}),
        ("something-new", {"deep": {"er": [f"before {PRIVATE} after"]}}),
    ],
)
def test_a_private_span_is_recorded_nowhere(at: Ingesting, action: str, hook_input: dict[str, Any]) -> None:
    """Wherever a hook's JSON holds one, what stands around it is kept, and of the span not a word."""
    at.drop(action, **hook_input)
    at.scan()
    dump = stored(at)
    assert "before" in dump and "after" in dump
    assert HIDDEN not in dump


def test_a_span_is_left_out_before_anything_is_cut(at: Ingesting) -> None:
    """A span longer than what is kept of an output does not leave its middle behind; one that never ends takes the
    rest."""
    long = "x" * 40_000
    at.drop("post-tool", tool_name="Bash", tool_input={"command": f"echo <private>{long}{HIDDEN}{long}</private> end"})
    at.drop("post-tool", tool_name="Bash", tool_input={"command": f"echo <private>{long}{HIDDEN}"})
    at.scan()
    assert "echo   end" in stored(at)
    assert HIDDEN not in stored(at) and "xxx" not in stored(at)


def test_input_that_is_no_json_is_cleaned_too(at: Ingesting) -> None:
    """The text that stands for a hook's JSON where that could not be read."""
    at.drop("user-prompt", envelope={"raw": f'{{"prompt": "before {PRIVATE} after'})
    at.scan()
    assert "before" in stored(at) and HIDDEN not in stored(at)


def test_a_prompt_that_is_all_private_is_none(at: Ingesting) -> None:
    """Nothing is recorded of it, and its neighbours are."""
    at.prompt(PRIVATE)
    at.prompt("Say something.")
    assert at.scan() == 2
    assert at.events() == [("user_prompt", "Say something.")]


def test_what_we_told_the_agent_is_not_recorded_again(at: Ingesting) -> None:
    """A context of ours in a prompt, an answer or what a tool shows of the transcript goes; what is around it stays."""
    line = json.dumps({"content": f"<system-reminder>{TOLD}</system-reminder>"})
    at.prompt(f"Is this right?\n{TOLD}And this?")
    at.answer(f"<{TAG}>\n{TOLD}</{TAG}> It is.")
    at.drop("post-tool", tool_name="Bash", tool_input={"command": "tail t.jsonl"}, tool_response={"stdout": line})
    at.scan()
    assert [text.strip() for text in at.texts()[:2]] == ["Is this right?\nAnd this?", "It is."]
    assert "system-reminder" in stored(at)
    assert "ports.toml" not in stored(at) and "Fridays" not in stored(at)


def test_a_hand_written_list_under_other_words_stays() -> None:
    """Only what stands under our heading is ours."""
    text = "Noted:\n1. Ports are in ports.toml.\n"
    assert own_words(text) == text


def test_nesting_without_end_costs_one_handoff_nothing(at: Ingesting) -> None:
    """What lies deeper than any adapter looks is left out, and the event is recorded."""
    deep: Any = HIDDEN
    for _ in range(MAX_DEPTH + 5):
        deep = [deep]
    at.drop("something-new", deep=deep)
    assert at.scan() == 1
    assert [kind for kind, _ in at.events()] == ["something-new"]


@pytest.mark.parametrize(
    "text",
    [
        "<private>me</private>",
        "< PRIVATE >me",
        "<pr\u0131vate>me</private>",
        f"<{TAG}>\n{HEADING}\n1. told\n</{TAG}>",
        f"{HEADING}\n1. told",
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_what_is_to_be_cleaned_is_told_by_the_bytes_of_the_handoff(text: str, *, escaped: bool) -> None:
    written = "".join(f"\\u{ord(letter):04X}" for letter in text) if escaped else json.dumps(text)[1:-1]
    content = f'{{"hook_input": {{"prompt": "{written}"}}}}'.encode()

    assert json.loads(content)["hook_input"]["prompt"] == text
    assert own_words(text) != text
    assert cleaning.is_to_be_cleaned(content)


def test_plain_words_need_no_cleaning_and_deep_nesting_does() -> None:
    assert not cleaning.is_to_be_cleaned(b'{"hook_input": {"prompt": "mend the basket"}}')
    assert cleaning.is_to_be_cleaned(b'{"hook_input": {"prompt": ' + b"[" * 80 + b"]" * 80 + b"}}")
