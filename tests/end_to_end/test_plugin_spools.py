"""Existing plugins' data directories, served in place by a real daemon and a fake of the hosted platform."""

import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.plugins import SHAPES, STATUSES, PluginSpool


def texts(home: Home) -> list[str]:
    assert home.api is not None
    return [text for _, text in home.api.delivered_messages()]


def sessions(home: Home) -> Counter[str]:
    assert home.api is not None
    return Counter(session for _, _, session in home.api.accepted_batches())


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_session_end_of_a_plugin_is_delivered_in_place(hosted: Home, shape: str) -> None:
    """A handoff by today's names and keys is delivered from a store of either age, which stays as the plugin knows it."""
    plugin = PluginSpool(hosted.root, tables=SHAPES[shape])
    before = plugin.columns()
    plugin.exchange("s1", 1)
    plugin.exchange("s1", 2)
    plugin.handoff("s1")
    hosted.start()
    hosted.until(lambda: plugin.statuses("s1") == ["semantic-succeeded"], "not delivered")
    assert texts(hosted) == ["question 1 of s1", "answer 1 of s1", "question 2 of s1", "answer 2 of s1"]
    hosted.until(lambda: not list(plugin.pending.iterdir()), "the handoff was kept")
    assert hosted.stop() == 0
    assert plugin.columns() == before
    assert not list(plugin.pending.iterdir())
    if "operations" in before:  # the plugin's own status tells its last operation from there (facts 2.35)
        assert plugin.run("SELECT operation, session_id, success FROM operations") == [("flush", "s1", 1)]


def test_packets_left_half_done_are_taken_up(hosted: Home) -> None:
    """Prepared is posted, queued is asked for, timed out is asked again, failed with attempts keeps them; each once."""
    api = hosted.api
    assert api is not None
    plugin = PluginSpool(hosted.root)
    left = {
        "prepared": plugin.packet("prepared", "prepared", age=900),
        "error": plugin.packet("error", "error", attempts=3, age=900),
        "spent": plugin.packet("spent", "error", attempts=5, age=900),
        "queued": plugin.packet("queued", "semantic-queued", slots=["evt-gone"], age=900),
        "bare": plugin.packet("bare", "semantic-timeout", slots="evt-old", attempts=1, age=900),
    }
    hosted.places.data.mkdir(parents=True, mode=0o700)
    hosted.places.config_file.write_text("[retry]\nfirst_delay_seconds = 0.1\n")
    hosted.start()
    hosted.until(
        lambda: {plugin.status(packet)[0] for packet in left.values()} <= {"semantic-succeeded", "gave-up"},
        "a packet stayed open",
        40,
    )
    assert {name: plugin.status(packet) for name, packet in left.items()} == {
        "prepared": ("semantic-succeeded", 0),
        "error": ("semantic-succeeded", 3),
        "spent": ("gave-up", 5),
        "queued": ("semantic-succeeded", 1),
        "bare": ("semantic-succeeded", 2),
    }
    assert sessions(hosted) == Counter({"prepared": 1, "error": 1, "queued": 1, "bare": 1})


def test_a_packet_that_moved_lately_is_left_to_its_own_worker(hosted: Home) -> None:
    """What a plugin's worker may be at is not taken from it."""
    plugin = PluginSpool(hosted.root)
    packet = plugin.packet("s1", "prepared")
    hosted.start()
    hosted.run("flush")
    hosted.exchange("other", 1)
    hosted.end("other")
    hosted.until(lambda: sessions(hosted)["other"], "the other session was not delivered")
    assert sessions(hosted)["s1"] == 0
    assert plugin.status(packet) == ("prepared", 0)


def test_a_fresh_claim_is_left_alone_and_a_stale_one_is_taken(hosted: Home) -> None:
    """A `.running` is its worker's until it is 300 s old (facts 1.12)."""
    plugin = PluginSpool(hosted.root)
    plugin.exchange("fresh")
    plugin.exchange("stale")
    fresh = plugin.handoff("fresh", suffix=".running")
    stale = plugin.handoff("stale", suffix=".running", age=301)
    hosted.start()
    hosted.until(lambda: plugin.statuses("stale") == ["semantic-succeeded"], "the stale one was not taken")
    hosted.until(lambda: not stale.exists(), "its handoff was kept")
    assert fresh.exists()
    assert plugin.statuses("fresh") == []
    assert hosted.stop() == 0
    assert fresh.exists()


def test_a_stop_leaves_what_is_held_for_the_plugin(hosted: Home) -> None:
    """After the daemon nothing is claimed, every status is legal, and the plugin's own recovery finds its handoff."""
    api = hosted.api
    assert api is not None
    api.extraction_polls = 10_000
    plugin = PluginSpool(hosted.root)
    plugin.exchange("s1")
    plugin.exchange("later")
    waiting = plugin.handoff("s1")
    idle = plugin.handoff("later", reason="idle", delay=250.0)
    hosted.start()
    hosted.until(lambda: plugin.statuses("s1") == ["semantic-queued"], "not sent")
    hosted.until(lambda: not idle.exists(), "the idle one was not taken")
    assert sorted(path.suffix for path in plugin.pending.iterdir()) == [".running"] * 2
    assert hosted.stop() == 0
    assert sorted(plugin.pending.iterdir()) == sorted([waiting, idle])
    assert plugin.statuses("s1") == ["semantic-queued"]
    assert set(plugin.statuses("s1")) <= STATUSES
    slots = json.loads(str(plugin.run("SELECT semantic_event_id FROM flushes")[0][0]))
    assert len(slots) == 1 and slots[0]
    assert plugin.statuses("later") == []


def test_a_second_program_writes_all_the_while(hosted: Home) -> None:
    """Write locks of another process are waited out on both sides; nothing is lost and nothing is sent twice."""
    plugin = PluginSpool(hosted.root)
    writer = (
        "import sqlite3, sys, time\n"
        "c = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)\n"
        "for n in range(300):\n"
        "    c.execute('BEGIN IMMEDIATE')\n"
        '    c.execute("INSERT INTO events(repo_id, app_id, session_id, created_at, kind, payload_json) VALUES"\n'
        "              \" ('r', 'a', 'busy', '2026-11-30T10:00:00Z', 'tool_result', '{}')\")\n"
        "    time.sleep(0.003)\n"
        "    c.execute('COMMIT')\n"
    )
    other = subprocess.Popen([sys.executable, "-c", writer, str(plugin.evidence)])
    try:
        hosted.start()
        for number in range(4):
            plugin.exchange(f"s{number}")
            plugin.handoff(f"s{number}")
        hosted.until(
            lambda: all(plugin.statuses(f"s{number}") == ["semantic-succeeded"] for number in range(4)),
            "not all was delivered",
        )
        assert other.wait(60) == 0
    finally:
        if other.poll() is None:
            other.kill()
            other.wait()
    assert sessions(hosted) == Counter({f"s{number}": 1 for number in range(4)})
    assert plugin.run("SELECT COUNT(*) FROM events WHERE session_id = 'busy'") == [(300,)]


def test_an_unknown_form_is_read_only_and_said_so(hosted: Home) -> None:
    """A store of a form we do not know is not written to, its handoffs wait, and `status` names it."""
    plugin = PluginSpool(hosted.root, tables=("events(id TEXT, what TEXT)",))
    handoff = plugin.handoff("s1")
    dump = _dump(plugin)
    hosted.start()
    hosted.until(lambda: any(p["code"] == "evidence-read-only" for p in hosted.status()["problems"]), "no problem told")
    hosted.until(lambda: not handoff.exists(), "the handoff was not taken")
    answer = json.loads(hosted.run("flush", "--json").stdout)
    assert answer["outcome"] == "nothing"
    (job,) = hosted.client.get("/jobs?kind=checkpoint")["jobs"]
    hosted.until(lambda: "read-only" in hosted.client.get("/jobs?kind=checkpoint")["jobs"][0]["reason"], "no reason")
    assert job["attempts"] == 0
    assert hosted.stop() == 0
    assert handoff.exists()
    assert _dump(plugin) == dump


def _dump(plugin: PluginSpool) -> list[str]:
    with closing(sqlite3.connect(plugin.evidence)) as connection:
        return list(connection.iterdump())


def test_one_spool_from_a_newer_version_sets_only_itself_aside(hosted: Home) -> None:
    """Its file stays byte-equal and its handoffs wait; the others are served (CONTRACT "Exit 78")."""
    newer = hosted.spool("codex")
    (newer / "pending").mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(newer / "evidence.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("CREATE TABLE later(a)")
        connection.commit()
    before = (newer / "evidence.sqlite3").read_bytes()
    hosted.places.data.chmod(0o700)
    hosted.hook(
        "user-prompt", {"session_id": "n", "cwd": str(hosted.project), "prompt": "for the newer"}, harness="codex"
    )
    hosted.start()
    hosted.exchange("s1", 1)
    hosted.end("s1")
    hosted.until(lambda: sessions(hosted)["s1"], "the other spool was not served")
    status = hosted.status()
    assert [p["code"] for p in status["problems"]] == ["newer-evidence"]
    assert status["state"] == "degraded"
    assert {spool["harness"]: spool["pending"] for spool in status["spools"]}["codex"] == 1
    assert hosted.stop() == 0
    assert (newer / "evidence.sqlite3").read_bytes() == before
    assert len(list((newer / "pending").glob("*.json"))) == 1


def test_without_discovery_plugins_are_left_alone(hosted: Home) -> None:
    """`discover = false`: nothing below `~/.mem0` is touched."""
    plugin = PluginSpool(hosted.root)
    plugin.exchange("s1")
    handoff = plugin.handoff("s1")
    hosted.places.data.mkdir(parents=True, mode=0o700)
    hosted.places.config_file.write_text("discover = false\n")
    hosted.start()
    hosted.exchange("own", 1)
    hosted.end("own")
    hosted.until(lambda: sessions(hosted)["own"], "our own spool was not served")
    assert handoff.exists()
    assert [spool["harness"] for spool in hosted.status()["spools"]] == ["claude-code"]
    assert sorted(path.name for path in plugin.path.iterdir() if "sqlite" not in path.name) == ["pending"]


def test_a_plugin_withdraws_its_idle_handoff_by_a_newer_one(hosted: Home) -> None:
    """The plugin deletes its older timer and writes another; one delivery comes, at the newer one's time."""
    plugin = PluginSpool(hosted.root)
    plugin.exchange("s1")
    plugin.handoff("s1", reason="idle", delay=120.0)
    hosted.start()
    hosted.until(lambda: hosted.status()["spools"][0]["running"] == 1, "not taken")
    for path in plugin.pending.iterdir():
        path.unlink()
    plugin.handoff("s1", reason="idle", delay=0.5)
    began = time.monotonic()
    hosted.until(lambda: plugin.statuses("s1") == ["semantic-succeeded"], "not delivered")
    assert time.monotonic() - began < 60
    assert sessions(hosted) == Counter({"s1": 1})
