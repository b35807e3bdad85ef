"""Several processes at one file, one killed in the middle, one forked, and one that just ends."""

import asyncio
import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memsyncd.agent_state import SqliteEpisodicMemory, SqliteMemoryProvider, SqliteProceduralMemory

Start = Callable[[str, Path, str], subprocess.Popen[str]]
REPOSITORY = Path(__file__).parents[3]

COMMON = """
import asyncio, sys
from memsyncd.agent_state import *
path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
"""

SAVE = """
async def save():
    provider, procedures = SqliteMemoryProvider(path), SqliteProceduralMemory(path)
    await procedures.store(Procedure(name, "n", "d", "t"))
    for number in range(15):
        await asyncio.gather(
            provider.save_message("u", "t", "user", f"{name}-{number}"),
            provider.upsert_fact("u", f"k{number}", name),
            procedures.record_outcome("shared", success=True),
        )
asyncio.run(save())
"""

STORE = """
async def store():
    episodes, number = SqliteEpisodicMemory(path), 0
    while True:
        await asyncio.gather(*(
            episodes.store(Episode(f"e{part}", f"word w{number} " + "x " * 500, tags=(f"w{number}", "tag")))
            for part in range(5)
        ))
        print(number, flush=True)
        number += 1
asyncio.run(store())
"""

END = """
provider = SqliteMemoryProvider(path)
asyncio.run(provider.save_message("u", "t", "user", name))
unused = SqliteMemoryProvider(path)
"""

PRIVATE = """
import os
os.umask(0)
sys.addaudithook(lambda event, _: print(event) if event == "os.chmod" else None)
provider = SqliteMemoryProvider(path)
asyncio.run(provider.ensure_user("u"))
print(oct(os.stat(path).st_mode & 0o777))
"""


@pytest.fixture(name="start")
def start_fixture() -> Iterator[Start]:
    """Return what starts a child that waits for a line; children still alive at the end are ended."""
    with ExitStack() as children:

        def start(body: str, path: Path, name: str) -> subprocess.Popen[str]:
            strictly = ("-X", "dev", "-W", "error") if body is END else ("-W", "error")
            child = children.enter_context(
                subprocess.Popen(
                    [sys.executable, *strictly, "-c", COMMON + body, str(path), name],
                    cwd=REPOSITORY,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
            children.callback(child.kill)
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            return child

        yield start


def _go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def test_processes_that_make_and_fill_a_file_at_once_lose_nothing(path: Path, start: Start, run: Any) -> None:
    """All begin at the same instant with no file there; every message, fact and count is kept, each one's in order."""
    children = [start(SAVE, path, name) for name in "abc"]
    for child in children:
        _go(child)
    assert [(child.communicate(timeout=60)[0], child.returncode) for child in children] == [("", 0)] * 3
    provider, procedures = SqliteMemoryProvider(path), SqliteProceduralMemory(path)
    found = [message.content for message in run(provider.get_messages("u", "t", 1000))]
    for name in "abc":
        assert [text for text in found if text[0] == name] == [f"{name}-{number}" for number in range(15)]
    assert len(found) == 45
    assert len(run(provider.get_facts("u"))) == 15
    assert run(procedures.count()) == 3
    provider.close()
    procedures.close()


def test_a_process_killed_in_the_middle_leaves_whole_episodes(path: Path, start: Start, run: Any) -> None:
    """What it said was kept is kept; each episode's words and tags are those of one version of it."""
    child = start(STORE, path, "a")
    _go(child)
    assert child.stdout is not None
    for _ in range(4):
        said = child.stdout.readline()
    child.kill()
    child.wait()
    episodes = SqliteEpisodicMemory(path)
    found = run(episodes.recall("word", top_k=99))
    assert len(found) == run(episodes.count()) == len(run(episodes.recall_by_tag("tag"))) == 5
    for episode in found:
        assert int(episode.tags[0][1:]) >= int(said)
        assert episode.summary.split()[1] == episode.tags[0]
        assert episode in run(episodes.recall(episode.tags[0], top_k=99))
        assert episode in run(episodes.recall_by_tag(episode.tags[0]))
    versions = {episode.tags[0] for episode in found}
    assert all(run(episodes.recall(f"w{number}")) == [] for number in range(int(said)) if f"w{number}" not in versions)
    episodes.close()


def test_a_process_that_closes_nothing_ends_clean(path: Path, start: Start, run: Any) -> None:
    """It does not hang, says nothing, and leaves one file with everything in it."""
    child = start(END, path, "kept")
    _go(child)
    assert child.communicate(timeout=60)[0] == ""
    assert child.returncode == 0
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    provider = SqliteMemoryProvider(path)
    assert run(provider.count_messages("u", "t")) == 1
    provider.close()


def test_a_new_file_is_private_from_the_moment_it_exists(path: Path, start: Start) -> None:
    """It is made so: no mode is changed afterwards, not even where the umask lets everything through."""
    child = start(PRIVATE, path, "a")
    _go(child)
    assert child.communicate(timeout=60)[0] == "0o600\n"


def test_a_provider_taken_over_a_fork_works_in_both(path: Path) -> None:
    """The child has neither the parent's thread, on which it would wait for ever, nor the right to its connection."""
    child_side, parent_side = multiprocessing.Pipe()
    provider = SqliteMemoryProvider(path)
    asyncio.run(provider.save_message("u", "t", "user", "parent"))

    def in_child() -> None:
        asyncio.run(provider.save_message("u", "t", "user", "child"))
        child_side.send(asyncio.run(provider.count_messages("u", "t")))
        provider.close()

    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    try:
        assert parent_side.poll(60)
        assert parent_side.recv() == 2
        child.join(60)
    finally:
        child.kill()
    assert child.exitcode == 0
    asyncio.run(provider.save_message("u", "t", "user", "parent again"))
    found = [message.content for message in asyncio.run(provider.get_messages("u", "t"))]
    assert found == ["parent", "child", "parent again"]
    provider.close()
