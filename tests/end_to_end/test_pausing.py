"""Pauses with a real daemon, without one, and over its restart."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Home

MARKED = "paused"


def command(home: Home, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.run(*arguments, "--json")
    assert done.returncode == code, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def run_out_now(pauses: Path) -> None:
    """Let a project's pause have been asked for as long as it has lasted."""
    document = json.loads(pauses.read_bytes())
    pause = document["projects"][0]["pause"]
    pause["seconds"] = time.time() - pause["since"]
    pauses.write_text(json.dumps(document))


def waiting(home: Home) -> list[Path]:
    return sorted((home.spool() / "pending").glob("*.json"))


def test_a_pause_holds_capture_sending_and_search_and_a_resume_lets_all_go(hosted: Home) -> None:
    """What was captured before it is sent at once afterwards; `status` calls it paused and is well."""
    assert hosted.api is not None
    hosted.start()
    hosted.exchange("s", 0)
    hosted.until(lambda: hosted.counted("events_recorded") == 2, "it was not taken in")
    assert command(hosted, "pause")["outcome"] == "done"
    assert command(hosted, "pause")["outcome"] == "already so"
    assert (hosted.places.data / MARKED).exists() and (hosted.spool() / MARKED).exists()
    assert hosted.status()["state"] == "paused"
    hosted.exchange("s", 1)
    assert not waiting(hosted)
    hosted.run("flush", "--json")
    answer = hosted.client.post("/search", {"query": "which question was it?", "cwd": str(hosted.project)})
    assert answer["memories"] == []
    assert hosted.api.accepted_batches() == []
    assert command(hosted, "resume")["outcome"] == "done"
    hosted.until(lambda: len(hosted.api.accepted_batches()) == 1, "it was not sent")  # type: ignore[union-attr]
    assert not (hosted.places.data / MARKED).exists() and not (hosted.spool() / MARKED).exists()
    assert command(hosted, "resume")["outcome"] == "already so"


def test_a_pause_with_an_end_ends_also_while_no_daemon_runs(home: Home) -> None:
    """Hooks capture again from its end on, and the next daemon removes the markers."""
    assert command(home, "pause", "--for", "8s")["until"]
    home.exchange("s", 0)
    assert not waiting(home)
    end = (home.places.data / MARKED).stat().st_mtime
    home.until(lambda: time.time() > end, "time stands still")
    home.exchange("s", 1)
    assert len(waiting(home)) == 2
    home.start()
    home.until(lambda: home.counted("events_recorded") == 2, "it was not taken in")
    home.until(lambda: home.status()["state"] == "ok", "it is paused still")
    assert not (home.places.data / MARKED).exists()


def test_nothing_grows_old_in_a_pause(home: Home) -> None:
    """A handoff that waited a fortnight behind a pause is as new when the pause ends, daemon or not."""
    home.exchange("s", 0)
    assert len(waiting(home)) == 2
    command(home, "pause")
    for path in waiting(home):
        os.utime(path, (time.time() - 14 * 86_400,) * 2)
    command(home, "resume")
    home.start()
    home.until(lambda: home.counted("events_recorded") == 2, "it was not taken in")
    assert home.status()["spools"][0]["dead"] == 0


def test_a_marker_made_by_hand_leaves_nothing_behind_in_the_spools(home: Home) -> None:
    """And one in a spool alone, whoever made it, is told with what ends it."""
    marker, copy = home.places.data / MARKED, home.spool() / MARKED
    home.start()
    home.exchange("s", 0)
    home.until(lambda: home.counted("events_recorded") == 2, "it was not taken in")
    marker.touch()
    home.until(copy.exists, "the spool was not marked")
    marker.unlink()
    home.until(lambda: not copy.exists(), "the spool is marked still")
    assert home.status()["state"] == "ok" and not home.status()["problems"]
    home.exchange("s", 1)
    home.until(lambda: home.counted("events_recorded") == 4, "nothing is captured")
    copy.touch()
    (problem,) = home.status()["problems"]
    assert problem["code"] == "spool-paused" and "claude-code" in home.status()["summary"]
    assert "memsyncd resume" in problem["remedy"]
    assert command(home, "resume")["resumed_spools"] == ["claude-code"]
    home.until(lambda: not home.status()["problems"], "it is told still")
    home.exchange("s", 2)
    home.until(lambda: home.counted("events_recorded") == 6, "nothing is captured")


def test_what_a_paused_projects_hooks_drop_is_discarded_and_counted(home: Home) -> None:
    """Other projects go on; what the project had before waits for the resume."""
    home.start()
    other = home.root / "other"
    other.mkdir()
    (home.project / "src").mkdir()
    command(home, "pause", "--project", str(home.project))
    home.exchange("s", 0)
    home.hook("user-prompt", {"session_id": "o", "cwd": str(other), "prompt": "Another project's.", "prompt_id": "1"})
    home.until(lambda: home.status()["counters"].get("events_recorded") == 1, "the other project stands still")
    home.until(lambda: home.status()["counters"].get("events_excluded") == 2, "it was not counted")
    assert command(home, "resume")["paused_projects"] == [str(home.project.resolve())]
    command(home, "resume", "--project", str(home.project / "src"))
    home.exchange("s", 1)
    home.until(lambda: home.status()["counters"].get("events_recorded") == 3, "it did not go on")


@pytest.mark.parametrize("end", ["resume", "its time"])
def test_what_was_said_in_a_paused_project_while_no_daemon_ran_is_never_known(home: Home, end: str) -> None:
    """Neither after the pause was ended nor after it ran out; what was said before it and after it is delivered."""
    project = str(home.project)
    home.exchange("before", 0, prompt="We decided on the quokka bucket for uploads.")
    command(home, "pause", "--project", project, "--for", "1h")
    home.exchange("paused", 0, prompt="We decided on the zanzibar bucket for uploads.")
    home.end("paused")
    assert len(waiting(home)) == 5
    if end == "resume":
        command(home, "resume", "--project", project)
    else:
        run_out_now(home.places.data / "pauses.json")
    home.exchange("after", 0, prompt="We decided on the kiwi bucket for downloads.")
    for session in ("before", "after"):
        home.end(session)
    assert home.run("run", "--once").returncode == 0 and not waiting(home)
    found = command(home, "search", "which bucket did we decide on for uploads?", "--cwd", project)
    told = json.dumps(found)
    assert "quokka" in told and "zanzibar" not in told
    for file in home.places.data.rglob("*"):
        assert not file.is_file() or b"zanzibar" not in file.read_bytes(), file


def test_a_marker_file_keeps_a_project_out(home: Home) -> None:
    """`.memsyncd-ignore` in a directory above, up to the repository's root, is as an exclusion in the settings."""
    (home.project / ".memsyncd-ignore").touch()
    below = home.project / "src" / "deep"
    below.mkdir(parents=True)
    home.start()
    home.hook("user-prompt", {"session_id": "s", "cwd": str(below), "prompt": "Nobody hears it.", "prompt_id": "1"})
    home.until(lambda: home.status()["counters"].get("events_excluded") == 1, "it was captured")


def test_a_marker_file_that_is_gone_when_a_daemon_looks_has_kept_the_project_out(home: Home) -> None:
    """The hook has seen it."""
    below = home.project / "src"
    below.mkdir()
    marker = home.project / ".memsyncd-ignore"
    marker.touch()
    told = {"session_id": "s", "cwd": str(below), "prompt": "Nobody hears of zanzibar.", "prompt_id": "1"}
    home.hook("user-prompt", told, cwd=below)
    marker.unlink()
    home.hook("user-prompt", {**told, "prompt": "And now they do.", "prompt_id": "2"}, cwd=below)
    assert home.run("run", "--once").returncode == 0 and not waiting(home)
    with closing(sqlite3.connect(home.spool() / "evidence.sqlite3")) as connection:
        ((payload,),) = connection.execute("SELECT payload_json FROM events").fetchall()
    assert "And now they do." in payload


def test_excluding_a_project_purges_what_waits_of_it(home: Home) -> None:
    """Another project's waits on; nothing of the excluded one is kept or sent."""
    other = home.root / "other"
    other.mkdir()
    home.exchange("s", 0, prompt="We decided on the zanzibar bucket.")
    home.hook("user-prompt", {"session_id": "o", "cwd": str(other), "prompt": "Another project's.", "prompt_id": "1"})
    home.start()
    home.until(lambda: home.status()["counters"].get("events_recorded") == 3, "it was not taken in")
    home.stop()
    (home.places.data / "config.toml").write_text(f'exclude = ["{home.project}"]\n')
    home.start()
    home.until(lambda: home.status()["counters"].get("events_purged") == 2, "it was not purged")
    with closing(sqlite3.connect(home.spool() / "evidence.sqlite3")) as connection:
        assert connection.execute("SELECT session_id FROM events").fetchall() == [("o",)]
    assert b"zanzibar" not in (home.spool() / "evidence.sqlite3").read_bytes()
