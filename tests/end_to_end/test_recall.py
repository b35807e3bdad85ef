"""The recall at a session's first prompt: a real daemon, the real hook line, the harness's own output form."""

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import pytest

from memsyncd.hooks.command_line import command_line
from memsyncd.recall.context import HEADING
from tests.end_to_end.conftest import Home
from tests.fakes.mem0_api import FakeMem0
from tests.fakes.mem0_behaviours import answer, busy, hang
from tests.memsyncd.hooks import payloads
from tests.standing_still import stand_still

PROMPT = "Which port does the staging database of the shop listen on?"
FACT = "The staging database of the shop listens on port 6543."

LIMIT = 2.0
"""What a recall takes at most (CONTRACT)."""

ENDED = LIMIT + 20.0
"""The same with what an interpreter takes to start on a busy machine; what is asked here would never answer."""


def say(
    home: Home,
    session: str,
    prompt: str = PROMPT,
    *,
    action: str = "user-prompt",
    harness: str = "claude-code",
    **more: Any,
) -> str:
    """Run a prompt's hook line, and return what it printed."""
    return run_line(home, {"session_id": session, "cwd": str(home.project), "prompt": prompt, **more}, action, harness)


def run_line(home: Home, hook_input: Mapping[str, Any], action: str, harness: str) -> str:
    """Run a hook line as the harness would, and return what it printed; it must exit 0 and say nothing else."""
    done = subprocess.run(
        ["/bin/sh", "-c", command_line(action, harness)],
        input=json.dumps(hook_input).encode(),
        env=home.environ,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def told(printed: str, event: str = "UserPromptSubmit") -> str:
    """Return the context in Claude Code's form."""
    document: Mapping[str, Any] = json.loads(printed)
    assert document.keys() == {"hookSpecificOutput"}
    assert document["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert document["hookSpecificOutput"]["hookEventName"] == event
    return str(document["hookSpecificOutput"]["additionalContext"])


def counted(home: Home, name: str) -> int:
    return int(home.status()["counters"].get(name, 0))


@pytest.fixture
def knowing(home: Home) -> Home:
    """Return a home whose daemon knows FACT, told in an earlier session."""
    home.start()
    home.exchange("earlier", 1, prompt=f"Remember this: {FACT}", answer=f"Understood: {FACT}")
    home.end("earlier")
    home.until(
        lambda: home.client.post("/search", {"query": PROMPT, "cwd": str(home.project)})["memories"], "no memory"
    )
    home.until_quiet()
    return home


def test_a_first_prompt_is_told_what_is_known_and_no_later_one(knowing: Home) -> None:
    """The first prompt gets the memories under the heading, in the harness's own form; the second prompt, the same one
    told twice, and a prompt after a restart of the daemon get nothing, and all are recorded."""
    context = told(say(knowing, "s1", prompt_id="p1"))
    assert context.startswith(f"{HEADING}\n1. ")
    assert "6543" in context
    assert say(knowing, "s1", prompt_id="p1") == ""
    assert say(knowing, "s1", "And which port does the production database listen on?") == ""
    assert knowing.stop() == 0
    knowing.start()
    assert say(knowing, "s1", "Once more: which port does the staging database use?") == ""
    assert "6543" in told(say(knowing, "s2"))
    knowing.until(lambda: counted(knowing, "events_recorded") >= 2, "not recorded")


def test_a_subagent_is_told_once_what_its_parent_was_shown(knowing: Home) -> None:
    """A subagent's start gets the parent's memories once; one of another session, and the harness's own, get none."""
    agent = {"agent_id": "a1", "agent_type": "explorer"}
    assert say(knowing, "s1", action="subagent-start", **agent) == ""  # the parent was shown nothing yet
    shown = told(say(knowing, "s1"))
    assert told(say(knowing, "s1", action="subagent-start", **agent), "SubagentStart") == shown
    assert say(knowing, "s1", action="subagent-start", **agent) == ""
    assert told(say(knowing, "s1", action="subagent-start", agent_id="a2", agent_type="explorer"), "SubagentStart")
    assert say(knowing, "s1", action="subagent-start", agent_id="a3", agent_type="") == ""
    assert say(knowing, "s2", action="subagent-start", agent_id="a4", agent_type="explorer") == ""


def test_a_short_first_prompt_was_the_sessions_chance(knowing: Home) -> None:
    """A first prompt below the least length is not searched for, and no later one is (facts 7.2, 7.3)."""
    assert say(knowing, "s1", "hello there") == ""
    assert say(knowing, "s1") == ""


@pytest.mark.parametrize(
    ("harness", "begins"),
    [("kimi", HEADING), ("cursor", '{"additional_context": "'), ("kimi-cli", ""), ("windsurf", ""), ("anything", "")],
)
def test_other_harnesses_are_told_in_their_own_form_or_not_at_all(knowing: Home, harness: str, begins: str) -> None:
    """What is printed is what that harness takes; for one that takes nothing nothing is printed, nor asked."""
    asked = counted(knowing, "recalls")
    printed = say(knowing, "s1", harness=harness)
    assert printed.startswith(begins) and bool(printed) == bool(begins)
    assert counted(knowing, "recalls") == asked + bool(begins)


def test_antigravity_is_told_what_its_transcript_asks(knowing: Home) -> None:
    """Its hook brings no prompt, but before the model's first call the session's file ends with it; the model's further
    calls of the turn are told nothing."""
    transcript = knowing.root / ".gemini/antigravity-cli/brain/k1/.system_generated/logs/transcript.jsonl"
    transcript.parent.mkdir(parents=True)
    line = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE", "content": PROMPT}
    transcript.write_text(json.dumps(line) + "\n")
    for number in range(3):
        payload = payloads.of("antigravity", "PreInvocation").at(knowing.project, knowing.root)
        printed = run_line(knowing, {**payload, "invocationNum": number}, "user-prompt", "antigravity")
        if number:
            assert printed == ""
        else:
            [step] = json.loads(printed)["injectSteps"]
            assert step["ephemeralMessage"].startswith(HEADING)
            assert "6543" in step["ephemeralMessage"]


def test_without_a_daemon_or_with_a_hung_one_nothing_is_printed_in_time(knowing: Home) -> None:
    """A stopped or hung daemon costs a prompt no more than the limit, prints nothing, and uses up no chance: neither
    the prompt it missed, nor the question it finds when it goes on."""
    assert knowing.daemon is not None
    stand_still(knowing.daemon.pid)
    began = time.monotonic()
    assert say(knowing, "s1") == ""
    assert LIMIT - 0.5 < time.monotonic() - began < ENDED
    knowing.daemon.send_signal(signal.SIGCONT)
    knowing.until(lambda: counted(knowing, "recalls_failed") == 1, "the late question was not seen")
    assert "6543" in told(say(knowing, "s1", "Again: which port does the staging database listen on?"))
    assert knowing.stop() == 0
    assert not (knowing.places.data / "unanswered").exists()
    assert say(knowing, "s2") == ""
    assert not (knowing.places.data / "unanswered").exists(), "it waited for the limit"
    knowing.start()
    assert "6543" in told(say(knowing, "s2", "So, which port does the staging database listen on?"))


def test_while_paused_nothing_is_recalled(knowing: Home) -> None:
    """Everything paused: the hook only looks, prints nothing, and asks nobody."""
    (knowing.places.data / "paused").touch()
    asked = counted(knowing, "recalls")
    assert say(knowing, "s1") == ""
    assert counted(knowing, "recalls") == asked


def test_a_failed_search_keeps_the_chance_and_five_memories_are_asked_for(hosted: Home, api: FakeMem0) -> None:
    """While the platform refuses or hangs, a prompt gets nothing, in time; the next one is searched for, by five. What
    a platform gives beyond five is left out, and a search that found nothing was the session's."""
    hosted.start()
    api.always("search", busy(503))
    assert say(hosted, "s1") == ""
    api.always("search", hang())
    began = time.monotonic()
    assert say(hosted, "s1") == ""
    assert time.monotonic() - began < ENDED
    found = [{"id": f"m{number}", "memory": f"Fact {number} of the shop."} for number in range(6)]
    found[1]["metadata"] = {"branch": "feat/ports"}  # type: ignore[assignment]
    api.always("search", answer(200, {"results": found}))
    context = told(say(hosted, "s1"))
    assert [line.split(". ", 1)[0] for line in context.splitlines()[1:]] == ["1", "2", "3", "4", "5"]
    assert "[learnt on branch feat/ports]" in context
    assert api.requests("search")[-1].json["top_k"] == 5
    api.always("search", answer(200, {"results": []}))
    assert say(hosted, "s2") == ""
    api.always("search", answer(200, {"results": found}))
    assert say(hosted, "s2") == ""


@pytest.mark.parametrize("by", ["memory", "session"])
def test_a_forgotten_memory_is_told_to_no_subagent_of_a_session_that_had_been_shown_it(knowing: Home, by: str) -> None:
    """What a session was shown is a copy too: it goes with the memory, and the session gets no second recall for it."""
    assert "6543" in told(say(knowing, "other"))
    (memory,) = knowing.client.post("/search", {"query": PROMPT, "cwd": str(knowing.project)})["memories"]
    chosen = {"memory": str(memory["id"]), "session": "earlier"}[by]
    done = knowing.run("forget", "--yes", f"--{by}", chosen, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["deleted"]["retrievals"] == 1
    assert say(knowing, "other", action="subagent-start", agent_id="a1", agent_type="explorer") == ""
    assert say(knowing, "other") == ""
    stores = (knowing.spool() / "evidence.sqlite3", knowing.spool() / "evidence.sqlite3-wal")
    assert by == "memory" or not any(b"6543" in path.read_bytes() for path in stores if path.exists())
