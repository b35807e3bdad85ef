"""Limits reached: file descriptors, memory, file watches."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.faults.limits import KILLED, FewWatches, MemoryLimit, few_descriptors, little_memory
from tests.faults.seen import AMBER, delivered, session, until_delivered, until_told, until_well

LARGE = "word 😀 " + "word " * 4_000_000
"""Twenty million characters, of which each takes four bytes because of one."""


def dead(home: Home) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(home.run("jobs", "list", "--state", "dead", "--json").stdout)["jobs"]
    return found


def test_no_file_descriptor_left(hosted: Home) -> None:
    """Status answers all the same, and says which limit to raise; then all goes on."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with few_descriptors(daemon.pid):
        session(hosted, "waits")
        session(hosted, "beside", "codex")
        until_told(hosted, "no-descriptors", "LimitNOFILE")
    until_delivered(hosted, "before", "beside", "waits")
    until_well(hosted, "no-descriptors")
    assert hosted.status()["jobs"]["dead"] == 0


def tool_output(home: Home, text: str) -> None:
    home.hook("post-tool", {"session_id": "l", "cwd": str(home.project), "tool_name": "Bash", "tool_response": text})


def until_taken_in_after_a_retry(home: Home) -> None:
    """Let a person try the one dead letter again, and wait until it is recorded."""
    (letter,) = dead(home)
    assert "MemoryMax" in letter["reason"]
    assert home.run("jobs", "retry", letter["id"]).returncode == 0
    home.until(lambda: home.status()["evidence"]["unsent_events"] == 1, "not taken in")
    assert dead(home) == []


def test_no_memory_for_a_large_handoff(hosted: Home) -> None:
    """The daemon lives and its neighbours are delivered; it is a dead letter, not corrupt, and with memory and a retry
    it is taken in."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with little_memory(daemon.pid, 40 << 20):
        tool_output(hosted, LARGE)
        session(hosted, "beside", "codex")
        session(hosted, "behind")
        until_delivered(hosted, "before", "behind", "beside")
        until_told(hosted, "dead-letters", "1 handoff", exits=AMBER)
    until_taken_in_after_a_retry(hosted)
    assert not list((hosted.spool() / "corrupt").iterdir())
    assert daemon.poll() is None


@pytest.fixture
def memory_limit() -> Iterator[MemoryLimit]:
    limit = MemoryLimit(120 << 20)
    yield limit
    limit.close()


def test_a_handoff_that_kills_the_daemon(memory_limit: MemoryLimit, hosted: Home) -> None:
    """Under a unit's MemoryMax, which kills without a word: after three deaths the neighbours are delivered first, after
    a fourth it is a dead letter with its reason, and with more memory and a retry it is taken in."""
    plain = hosted.program
    hosted.hook(
        "post-tool", {"session_id": "l", "cwd": str(hosted.project), "tool_name": "Bash", "tool_response": LARGE}
    )
    hosted.program = [*memory_limit.inside, *plain]
    for _ in range(3):
        assert hosted.start(wait=False).wait(60) == KILLED
    session(hosted, "behind")
    daemon = hosted.start()
    hosted.until(lambda: delivered(hosted) == ["behind"], "what stands behind it was not delivered")
    assert daemon.wait(60) == KILLED
    hosted.start()
    until_delivered(hosted, "behind")
    until_told(hosted, "dead-letters", "1 handoff", exits=AMBER)
    assert hosted.stop() == 0
    hosted.program = plain
    hosted.start()
    until_taken_in_after_a_retry(hosted)


@pytest.mark.parametrize(("what", "words"), [("instances", "max_user_instances"), ("watches", "max_user_watches")])
def test_no_file_can_be_watched(hosted: Home, what: str, words: str) -> None:
    """Hooks nudge and the timer scans, so all is delivered; it is told with the limit to raise, and over with it."""
    limit = Path(f"/proc/sys/fs/inotify/max_user_{what}")
    before = limit.read_text()
    few = FewWatches(what)
    hosted.program = [*few.inside, *hosted.program]
    daemon = hosted.start()
    until_told(hosted, "watcher-polling", words, exits=AMBER)
    session(hosted, "s")
    session(hosted, "beside", "codex")
    until_delivered(hosted, "beside", "s")
    few.end(daemon.pid)
    until_well(hosted, "watcher-polling")
    assert limit.read_text() == before
