"""The same jobs on the embedded platform: one code path serves it and the hosted one (issue 2, item 6)."""

import tempfile
from pathlib import Path

from jobs.job import JobState
from memsyncd.evidence.event import PacketStatus
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Query
from tests.clocks import HandClock
from tests.jobs.delivering import MEMORY, Delivering


def test_a_session_becomes_memories_once_across_restarts() -> None:
    """Delivered, confirmed and found; a second life of the process delivers nothing again."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        hands = HandClock()
        platform = LocalPlatform(Path(directory) / "memory.sqlite3", hands.clock())
        made = Delivering(Path(directory), platform, hands=hands)
        try:
            made.say("user_prompt", prompt="From now on we always use PostgreSQL 16 for the orders service.")
            made.say("assistant_stop", text="Understood: the orders service uses PostgreSQL 16 from now on.")
            job = made.ask()
            made.step()
            made.restart()
            made.run(60.0)
            assert made.job(job).state is JobState.DONE
            assert made.packet().status == PacketStatus.SUCCEEDED
            query = Query("which database does the orders service use", "ada", "team-tool", ("team-tool-0123",))
            found = platform.search(query)
            assert any("PostgreSQL 16" in memory.memory for memory in found)
            count = len(found)
            made.restart()
            made.ask()
            made.run(60.0)
            assert len(platform.search(query)) == count
            assert len(made.packets()) == 1
        finally:
            made.close()
            platform.close()


def test_a_backlog_is_confirmed_by_the_listing() -> None:
    """More open batches than are asked one by one: all are confirmed within seconds, not after the extraction wait."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        hands = HandClock()
        platform = LocalPlatform(Path(directory) / "memory.sqlite3", hands.clock())
        made = Delivering(Path(directory), platform, hands=hands)
        try:
            jobs = []
            for number in range(30):
                made.say("user_prompt", f"s{number}", prompt=f"From now on host{number} is restarted by the operator.")
                made.say("assistant_stop", f"s{number}", text=f"Noted for host{number}.")
                jobs.append(made.ask(f"s{number}"))
            made.run(10.0)
            assert {made.job(job).state for job in jobs} == {JobState.DONE}
            assert [packet.status for packet in made.packets()] == [PacketStatus.SUCCEEDED] * 30
            query = Query("who restarts the host", "ada", "team-tool", ("team-tool-0123",), top_k=100)
            found = [memory.memory for memory in platform.search(query)]
            assert all(any(f"host{number} is" in text for text in found) for number in range(30))
        finally:
            made.close()
            platform.close()
