"""A real daemon among spools that break, vanish and come back; what its status says, and what a flush answers."""

import json
import os
import signal
import sqlite3
from contextlib import closing

import pytest

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.standing_still import stand_still


def outcome(home: Home, *arguments: str) -> tuple[str, int, str]:
    done = home.run("flush", "--wait", "--json", *arguments)
    answer = json.loads(done.stdout)
    return answer["outcome"], done.returncode, answer["reason"]


def codes(home: Home) -> list[str]:
    return [problem["code"] for problem in home.status()["problems"]]


def delivered(home: Home) -> list[str]:
    assert home.api is not None
    return [session for _, _, session in home.api.accepted_batches()]


def test_a_spool_deleted_under_the_daemon_is_served_again(hosted: Home) -> None:
    """The next hook makes it anew, and what it drops is delivered without a restart."""
    hosted.start()
    hosted.exchange("before", 1)
    hosted.end("before")
    hosted.until(lambda: delivered(hosted) == ["before"] and hosted.is_quiet(), "not delivered")
    hosted.delete(hosted.spool())
    hosted.exchange("after", 1)
    hosted.end("after")
    hosted.until(lambda: delivered(hosted) == ["before", "after"] and hosted.is_quiet(), "not served again")
    hosted.until(lambda: hosted.status()["state"] == "ok", "it is not well again")


def test_a_harness_that_appears_is_served_at_once(hosted: Home) -> None:
    """A first hook of another agent needs no restart and no configuration."""
    hosted.start()
    hosted.hook("user-prompt", {"session_id": "c", "cwd": str(hosted.project), "prompt": "new here"}, harness="codex")
    hosted.hook("flush", {"session_id": "c", "cwd": str(hosted.project)}, reason="session-end", harness="codex")
    hosted.until(lambda: delivered(hosted) == ["c"], "not served")


def test_a_spool_that_became_a_file_hurts_no_other_and_is_told(hosted: Home) -> None:
    """Status answers, names it with what to do, and is red; the other spool is served, and the daemon lives."""
    hosted.start()
    hosted.exchange("one", 1)
    hosted.until(lambda: not any((hosted.spool() / "pending").glob("*.json")), "not taken in")
    assert hosted.daemon is not None
    stand_still(hosted.daemon.pid)  # which sees no moment without either
    hosted.delete(hosted.spool())
    hosted.spool().write_text("in the way")
    hosted.daemon.send_signal(signal.SIGCONT)
    hosted.hook("user-prompt", {"session_id": "c", "cwd": str(hosted.project), "prompt": "other"}, harness="codex")
    hosted.hook("flush", {"session_id": "c", "cwd": str(hosted.project)}, reason="session-end", harness="codex")
    hosted.until(lambda: delivered(hosted) == ["c"], "the other spool was not served")
    hosted.until(lambda: "spool-no-directory" in codes(hosted), "no problem told")
    assert hosted.status()["state"] == "degraded"
    assert hosted.stop() == 0


def test_a_locked_evidence_store_is_waited_out(hosted: Home) -> None:
    """Another program holds the write lock for a while: everything arrives once it lets go, and once only."""
    hosted.start()
    hosted.exchange("s", 1)
    hosted.until(lambda: not any((hosted.spool() / "pending").iterdir()), "not taken in")
    with closing(sqlite3.connect(hosted.spool() / "evidence.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        hosted.exchange("s", 2)
        hosted.end("s")
        assert hosted.status()["pid"]
        other.execute("ROLLBACK")
    hosted.until(lambda: delivered(hosted) == ["s"] and hosted.is_quiet(), "not delivered")
    assert hosted.api is not None
    assert len(hosted.api.delivered_messages()) == 4


def test_what_is_no_handoff_is_shown_and_kept(hosted: Home) -> None:
    """Torn bytes wait as pending, an old handoff is a dead letter with its reason; neither turns health red."""
    pending = hosted.spool() / "pending"
    pending.mkdir(parents=True, mode=0o700)
    for directory in (hosted.places.data, hosted.places.spools, hosted.spool()):
        directory.chmod(0o700)
    (pending / "torn.json").write_bytes(b'{"hook_input": ')
    (pending / "old.json").write_text('{"hook_input": {"session_id": "s"}, "reason": "session-end"}')
    os.utime(pending / "old.json", (1.0, 1.0))
    (pending / "pipe.json").mkdir()
    hosted.start()
    hosted.until(lambda: hosted.status()["spools"][0]["dead"] == 1, "not given up")
    status = hosted.status()
    assert status["spools"][0]["pending"] >= 1
    assert status["state"] == "ok"
    assert "dead-letters" in codes(hosted)
    listed = json.loads(hosted.run("jobs", "list", "--state", "dead", "--json").stdout)["jobs"]
    assert [job["reason"] for job in listed] == ["expired"]


def test_a_flush_answers_delivered_and_then_nothing(hosted: Home) -> None:
    """Two words and the same exit code 0: sent and confirmed, or there was nothing to send."""
    hosted.start()
    hosted.exchange("s", 1)
    assert outcome(hosted)[:2] == ("delivered", 0)
    assert outcome(hosted)[:2] == ("nothing", 0)
    assert outcome(hosted, "--session", "unheard-of")[:2] == ("nothing", 0)


def test_a_flush_answers_put_off_after_a_first_refusal(hosted: Home) -> None:
    """It is tried again by itself, so nothing is decided yet; given up at last, there is nothing more to send."""
    assert hosted.api is not None
    hosted.places.data.mkdir(parents=True, mode=0o700)
    hosted.places.config_file.write_text("[retry]\nfirst_delay_seconds = 0.2\n")
    hosted.api.script("add", *[behave.reject(400, "too strange")] * 5)
    hosted.start()
    hosted.exchange("s", 1)
    word, code, reason = outcome(hosted)
    assert (word, code) == ("put-off", 75)
    assert "too strange" in reason
    hosted.until(lambda: hosted.status()["jobs"]["dead"] == 2, "never given up")
    assert outcome(hosted)[:2] == ("nothing", 0)


@pytest.mark.parametrize(
    ("trouble", "word"),
    [(behave.busy(503), "busy"), (behave.refuse_key(), "key"), (behave.quota(402), "limit")],
    ids=["busy", "key", "quota"],
)
def test_a_flush_answers_put_off_while_the_platform_does_not_take_it(
    hosted: Home, trouble: behave.Behaviour, word: str
) -> None:
    """Exit code 75 and why, at once and not at the end of the waiting time."""
    assert hosted.api is not None
    hosted.api.always("*", trouble)
    hosted.start()
    hosted.exchange("s", 1)
    found = outcome(hosted)
    assert found[:2] == ("put-off", 75)
    assert word in found[2]


def test_a_flush_answers_put_off_while_paused(hosted: Home) -> None:
    """A pause of the user's holds it, and the answer says so at once."""
    hosted.start()
    hosted.exchange("s", 1)
    hosted.until(lambda: not any((hosted.spool() / "pending").iterdir()), "not taken in")
    (hosted.places.data / "paused").touch()
    assert outcome(hosted) == ("put-off", 75, "paused")
    assert delivered(hosted) == []


def test_excluding_a_project_purges_what_waits_of_it(hosted: Home) -> None:
    """What was captured before and not sent yet is gone, and never sent (never-again 74)."""
    hosted.start()
    hosted.exchange("s", 1)
    hosted.until(lambda: not any((hosted.spool() / "pending").iterdir()), "not taken in")
    assert hosted.stop() == 0
    hosted.places.config_file.write_text(f'exclude = ["{hosted.project}"]\n')
    hosted.start()
    hosted.until(lambda: hosted.status()["evidence"]["unsent_events"] == 0, "the evidence was not purged")
    assert outcome(hosted)[:2] == ("nothing", 0)


def newer(home: Home, harness: str = "codex") -> None:
    """Leave a spool whose evidence is of a newer version, with three handoffs in it."""
    spool = home.spool(harness)
    (spool / "pending").mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(spool / "evidence.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    for prompt in ("one", "two", "three"):
        home.hook("user-prompt", {"session_id": "n", "cwd": str(home.project), "prompt": prompt}, harness=harness)


ASIDE = "was written by a newer version and is left untouched"


def test_a_spool_set_aside_is_not_nothing(home: Home) -> None:
    """Of what lies in a spool from a newer version, `run --once`, a flush and a drain say that it is left, and why."""
    newer(home)
    once = home.run("run", "--once")
    assert once.returncode == 1
    assert ASIDE in once.stdout and "Upgrade memsyncd" in once.stdout and "Nothing was due" not in once.stdout
    home.start()
    found, code, reason = outcome(home)
    assert (found, code) == ("put-off", 75)
    assert ASIDE in reason
    told = home.run("flush", "--wait")
    assert told.stdout.startswith("Put off (the evidence in ") and ASIDE in told.stdout
    for words in (("drain",), ("drain", "--wait", "--timeout", "0.1")):
        done = home.run(*words)
        assert done.returncode == 75
        assert done.stdout.startswith("Still here: 3 handoffs (the evidence in ") and ASIDE in done.stdout


def test_a_spool_set_aside_hides_no_delivery_that_was_asked_for(home: Home) -> None:
    """Delivered is what was asked for by its session; asked for all, something is left."""
    newer(home)
    home.start()
    home.exchange("one", 1)
    assert outcome(home, "--session", "one")[:2] == ("delivered", 0)
    home.exchange("two", 2)
    assert outcome(home)[:2] == ("put-off", 75)
    assert outcome(home, "--session", "n")[:2] == ("put-off", 75)


def test_a_drain_without_waiting_keeps_its_help_s_word(home: Home) -> None:
    """75 while something is left here, waited for or not; 0 once nothing is."""
    home.start()
    assert home.run("drain").returncode == 0
    home.exchange("one", 1)
    home.until(lambda: home.counted("handoffs_recorded") == 2, "not taken in")
    assert home.run("pause").returncode == 0
    done = home.run("drain")
    assert done.returncode == 75
    assert done.stdout.startswith("Still here: 2 events in no packet")
    assert home.run("resume").returncode == 0
    home.until(lambda: home.run("drain").returncode == 0, "not drained")


def test_a_handoff_that_was_given_up_is_told_by_run_once(home: Home) -> None:
    """It exits with 1 for it, and says what it was, why, and what shows it."""
    home.hook("flush", {"cwd": str(home.project)}, reason="session-end")
    once = home.run("run", "--once")
    assert once.returncode == 1
    assert "Handoffs: 1 given up (" in once.stdout and "session" in once.stdout
    assert "`memsyncd jobs list --state dead`" in once.stdout
    assert "Nothing was due" not in once.stdout
    assert "given up" not in home.run("run", "--once").stdout


def test_handoffs_that_no_job_was_made_for_are_told_by_run_once(home: Home) -> None:
    """What was too old is no failure of this run, and no silence either."""
    home.hook("user-prompt", {"session_id": "s", "cwd": str(home.project), "prompt": "long ago"})
    [handoff] = (home.spool() / "pending").iterdir()
    os.utime(handoff, (1.0, 1.0))
    once = home.run("run", "--once")
    assert once.stdout.startswith("Handoffs: 1 too old. `memsyncd jobs list --state dead` shows")
    assert once.returncode == 0
