"""Answers that no payload tells: read from the transcript at ingest, once, in their order, in the same commit."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.intake.sessions import Ended
from daemon.intake.spool import Spool
from daemon.intake.transcript_waits import LOOK_SECONDS, WAIT_SECONDS
from daemon.intake.untold_end import leave_end
from daemon.pausing import Pauses
from jobs.job import JobState
from memsyncd.clock import rfc3339
from tests.daemon.composed import composed
from tests.daemon.intake.ingesting import Ingesting

KIMI = ".kimi-code/sessions/shop_0123456789ab/s/agents/main/wire.jsonl"
PROBLEM = "transcript-unreadable"


class Talking(Ingesting):
    """An ingest whose harness is Kimi, and Kimi's transcript of session `s`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.wire = root / KIMI
        self.wire.parent.mkdir(parents=True)
        self.turns = 0

    def start(self) -> None:
        super().start()
        self.ingest.transcripts.home = self.root

    def write(self, *records: Mapping[str, Any], torn: str = "") -> None:
        with self.wire.open("ab") as file:
            for record in records:
                file.write(json.dumps({**record, "time": int(self.hands.wall_now * 1000)}).encode() + b"\n")
            file.write(torn.encode())

    def said(self, text: str) -> dict[str, Any]:
        part = {"type": "text", "text": text}
        return self.event("content.part", part=part)

    def event(self, kind: str, **event: Any) -> dict[str, Any]:
        return {
            "type": "context.append_loop_event",
            "event": {"type": kind, "turnId": str(self.turns), "step": 1, **event},
        }

    def asked(self, text: str) -> dict[str, Any]:
        self.turns += 1
        return {"type": "turn.prompt", "input": [{"type": "text", "text": text}], "origin": {"kind": "user"}}

    def exchange(self, prompt: str, answer: str) -> Sequence[Mapping[str, Any]]:
        return [self.asked(prompt), self.said(answer), self.event("step.end", finishReason="end_turn")]

    def kimi(self, action: str, reason: str = "", **hook_input: Any) -> str:
        return self.drop(action, envelope={"harness": "kimi", "reason": reason}, **hook_input)

    def talk(self, prompt: str, answer: str) -> None:
        """Let a whole exchange happen: hook, transcript, hook, a second apart."""
        self.kimi("user-prompt", prompt=[{"type": "text", "text": prompt}])
        self.hands.move(1.0)
        self.write(*self.exchange(prompt, answer))
        self.hands.move(1.0)
        self.kimi("stop")
        self.hands.move(1.0)

    def wait(self, seconds: float) -> int:
        """Let time pass in steps of a look; return how many handoffs were taken."""
        taken = 0
        for _ in range(int(seconds / LOOK_SECONDS)):
            self.hands.move(LOOK_SECONDS)
            taken += self.scan()
        return taken

    def payloads(self) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.spool.evidence)) as connection:
            return [json.loads(row[0]) for row in connection.execute("SELECT payload_json FROM events ORDER BY id")]

    def leave_end(self, why: str, harness: str = "kimi") -> bool:
        """Leave the session's end; tell whether that was done."""
        store = self.served.store(self.spool.name)
        spool = Spool(self.spool.path, harness, own=True)
        ended = Ended(self.spool.name, "s", "../e/1", why)
        return leave_end(ended, spool, store, self.ingest.clock)

    def problems(self) -> list[str]:
        return [finding.code for finding in self.findings.all()]


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Talking]:
    made = Talking(tmp_path)
    yield made
    made.close()


def test_an_answer_comes_from_the_transcript(at: Talking) -> None:
    """A stop without an answer is completed from the session's file, and nothing is left behind."""
    at.talk("why is CI red?", "A pinned wheel is gone.")
    assert at.scan() == 2
    assert at.events() == [("user_prompt", "why is CI red?"), ("assistant_stop", "A pinned wheel is gone.")]
    assert at.pending() == []


def test_a_backlog_keeps_prompts_with_their_answers(at: Talking) -> None:
    """Each stop takes what was said up to it, though the file has gone on, and equal answers stay apart."""
    for number in range(3):
        at.talk(f"step {number}", "Done.")
    at.scan()
    assert at.texts() == ["step 0", "Done.", "step 1", "Done.", "step 2", "Done."]


def test_a_growing_file_gives_each_answer_once(at: Talking) -> None:
    """Stop after stop over days and restarts reads on from the stored offset."""
    for number in range(6):
        at.talk(f"q{number}", f"a{number}")
        at.scan()
        if number % 2:
            at.restart()
    assert at.texts() == [text for number in range(6) for text in (f"q{number}", f"a{number}")]


def test_missed_stops_are_made_good(at: Talking) -> None:
    """What was said since the last read is taken with the next stop, or with the session's end."""
    at.kimi("session-start", source="startup")
    at.hands.move(1.0)
    for number in range(4):
        at.write(*at.exchange(f"q{number}", f"a{number}"))
        at.hands.move(1.0)
        if number == 1:
            at.kimi("stop")
            at.hands.move(1.0)
    at.kimi("flush", "session-end")
    at.scan()
    assert at.texts() == ["", "a0", "a1", "a2", "a3"]
    assert at.pending() == ["000003.running"]


def test_a_session_met_in_its_middle_gives_its_last_exchange(at: Talking) -> None:
    """What was said before we came is not ours."""
    at.write(*at.exchange("old", "old answer"))
    at.hands.move(60.0)
    at.talk("new", "new answer")
    at.scan()
    assert at.texts() == ["new", "new answer"]


def test_a_late_answer_is_waited_for_and_what_follows_waits_behind_it(at: Talking) -> None:
    """The stop and the flush behind it stay in the spool until the answer is there; the thread waits for nothing."""
    at.write(at.asked("q"), at.event("tool.call", name="grep"))
    at.hands.move(1.0)
    at.kimi("stop")
    at.kimi("flush", "session-end")
    at.prompt("another session's", session="t")
    assert at.scan() == 1
    assert at.jobs() == []
    look = at.ingest.transcripts.waits.next_look_seconds()
    assert look is not None and look <= LOOK_SECONDS
    at.write(at.said("a"), at.event("step.end", finishReason="end_turn"))
    assert at.scan() == 0
    at.hands.move(LOOK_SECONDS)
    assert at.scan() == 2
    assert at.texts() == ["another session's", "a"]
    (job,) = at.jobs(JobState.READY)
    assert job.payload["until"] > 0
    assert not at.ingest.transcripts.waits.is_any


def test_a_torn_line_is_waited_for(at: Talking) -> None:
    """The half of a line is no answer; the whole is."""
    whole = json.dumps({**at.said("the whole answer"), "time": int(at.hands.wall_now * 1000)})
    at.write(at.asked("q"), torn=whole[:50])
    at.kimi("stop")
    at.scan()
    assert at.events() == []
    at.write(torn=whole[50:] + "\n")
    at.write(at.event("step.end", finishReason="end_turn"))
    at.wait(LOOK_SECONDS)
    assert at.texts() == ["the whole answer"]


def test_an_answer_that_never_comes_is_waited_for_some_seconds_only(at: Talking) -> None:
    """After them the stop is taken as it is; the answer, should it come at last, goes with the session's end."""
    at.write(at.asked("q"), at.event("tool.call", name="grep"))
    at.kimi("stop")
    at.scan()
    assert at.wait(WAIT_SECONDS + 1) == 1
    assert at.events() == []
    at.write(at.said("at last"), at.event("step.end", finishReason="end_turn"))
    at.kimi("flush", "session-end")
    at.scan()
    assert at.texts() == ["at last"]


def test_a_stop_that_another_hook_has_told_is_not_waited_for(at: Talking) -> None:
    """A user's and a project's hooks, or another harness's that are run as well, tell each stop twice; a later one is
    another, whose answer is still to come."""
    at.talk("q", "a")
    at.hands.move(-1.0)
    at.kimi("stop")
    at.kimi("flush", "session-end")
    at.scan()
    assert at.texts() == ["q", "a"]
    assert [name.partition(".")[2] for name in at.pending()] == ["running"]  # the flush alone
    at.hands.move(5.0)
    at.kimi("stop")
    at.scan()
    at.write(*at.exchange("q2", "a2"))
    at.wait(1.0)
    assert at.texts() == ["q", "a", "a2"]


@pytest.mark.parametrize("why", ["process-gone", "idle"])
def test_an_end_that_no_hook_told_is_read_as_one_that_was(at: Talking, why: str) -> None:
    """The agent was killed while its model spoke: what it had said by then is in the file alone. After a silence it may
    go on, so that an exchange without an end is left to it."""
    at.talk("q", "a")
    at.scan()
    assert not at.leave_end(why)
    at.kimi("user-prompt", prompt=[{"type": "text", "text": "q2"}])
    at.write(at.asked("q2"), at.said("Half an answer"))
    at.scan()
    assert at.leave_end(why)
    assert at.leave_end(why)  # not read yet, it is left once
    assert len(at.pending()) == 1
    at.scan()
    at.wait(WAIT_SECONDS + 1)
    assert at.texts() == ["q", "a", "q2", *(["Half an answer"] if why == "process-gone" else [])]
    assert [job.payload["reason"] for job in at.queue.jobs(kind="checkpoint")] == [
        "session-end" if why == "process-gone" else "idle"
    ]


def test_an_end_whose_session_has_no_transcript_is_told_otherwise(at: Talking) -> None:
    """As one of a harness whose payloads tell the answers, or whose file is gone."""
    at.talk("q", "a")
    at.scan()
    at.write(at.asked("q2"))
    at.wire.unlink()
    assert not at.leave_end("process-gone")
    assert not at.leave_end("process-gone", harness="claude-code")


def test_what_is_old_already_is_not_waited_for(at: Talking) -> None:
    """A handoff that lay in the spool while no daemon ran has had its time."""
    at.write(at.asked("q"), at.said("a"))
    at.drop("stop", age=60.0, captured=at.hands.wall_now, envelope={"harness": "kimi"})
    assert at.scan() == 1
    assert at.texts() == ["a"]


def test_a_file_written_anew_repeats_nothing(at: Talking) -> None:
    """Another file in the transcript's place, shorter or longer, is read from its beginning, and what was taken is
    known by its name."""
    for number in range(3):
        at.talk(f"q{number}", f"a{number}")
    at.scan()
    lines = at.wire.read_bytes().splitlines(keepends=True)
    for kept in (lines, lines[3:], [b'{"type": "metadata"}\n', *lines]):
        at.wire.unlink()
        at.wire.write_bytes(b"".join(kept))
        before = at.texts()
        at.talk("more", f"more than {len(before)}")
        at.scan()
        assert at.texts() == [*before, "more", f"more than {len(before)}"]


def test_a_shrunken_file_is_read_anew(at: Talking) -> None:
    """Cut in place, as after an undo written by rewriting; what stands in it is new or known."""
    for number in range(3):
        at.talk(f"q{number}", f"a{number}")
    at.scan()
    os.truncate(at.wire, len(b"".join(at.wire.read_bytes().splitlines(keepends=True)[:3])))
    at.talk("again", "another answer")
    at.scan()
    assert at.texts()[-2:] == ["again", "another answer"]
    assert len(at.texts()) == 8


def test_what_the_model_said_on_its_way_goes_with_the_answer(at: Talking) -> None:
    """As the messages of the transcript, in order; the answer is its last word."""
    at.write(at.asked("q"), at.said("Looking."), at.event("tool.call", name="grep"))
    at.write(
        {**at.event("content.part", part={"type": "text", "text": "Found."})}
        | {"event": {**at.said("Found.")["event"], "step": 2}}
    )
    at.write(at.event("step.end", finishReason="end_turn"))
    at.kimi("stop")
    at.scan()
    (payload,) = at.payloads()
    assert payload["text"] == "Found."
    assert [line["content"] for line in payload["transcript_messages"]] == ["Looking.", "Found."]


def test_secrets_and_private_words_are_not_recorded(at: Talking) -> None:
    """A transcript's words go through what every other text goes through."""
    secret = "sk-" + "ant-" + "a1B2" * 12
    at.talk("q", f"The key is {secret}. <private>my diary</private> Done.")
    at.scan()
    stored = json.dumps(at.payloads())
    assert secret not in stored and "diary" not in stored
    assert "Done." in stored


def test_an_answer_in_the_payload_wins_and_the_transcript_is_passed_over(at: Talking) -> None:
    """It is told once, also at the session's end."""
    at.write(*at.exchange("q", "a"))
    at.kimi("stop", last_assistant_message="a, by the payload")
    at.hands.move(1.0)
    at.kimi("flush", "session-end")
    at.scan()
    assert at.texts() == ["a, by the payload"]


@pytest.mark.parametrize("kind", ["link", "fifo", "directory", "elsewhere", "relative", "missing"])
def test_a_transcript_that_may_not_be_read_is_a_problem_and_no_loss(at: Talking, kind: str) -> None:
    """Nothing of it is opened or followed, the stop is taken all the same, and the next that can be read makes it good."""
    aside = at.root / "aside.jsonl"
    at.write(*at.exchange("q", "a"))
    at.wire.rename(aside)
    named = {"elsewhere": "/etc/hostname", "relative": "wire.jsonl"}.get(kind, str(at.wire))
    if kind == "link":
        at.wire.symlink_to(aside)
    elif kind == "fifo":
        os.mkfifo(at.wire)
    elif kind == "directory":
        at.wire.mkdir()
    at.kimi("stop", transcript_path=named)
    at.scan()
    at.wait(WAIT_SECONDS + 1)
    assert at.pending() == []
    assert at.events() == []
    assert at.problems() == [PROBLEM]
    if kind == "directory":
        at.wire.rmdir()
    at.wire.unlink(missing_ok=True)
    aside.rename(at.wire)
    at.kimi("flush", "session-end")
    at.scan()
    assert at.texts() == ["a"]
    assert at.problems() == []


def test_a_harness_that_was_moved_is_followed(at: Talking, tmp_path: Path) -> None:
    """Its hook tells where to; the daemon has not the agent's environment."""
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    at.write(*at.exchange("q", "a"))
    (at.root / ".kimi-code").rename(moved)
    at.drop("stop", envelope={"harness": "kimi", "harness_home": str(moved)})
    at.hands.move(1.0)
    at.scan()
    assert at.texts() == ["a"]


def test_another_users_transcript_is_not_read(at: Talking) -> None:
    """Whoever owns the file would else put words into the user's mouth."""
    at.ingest.transcripts.owner += 1
    at.talk("q", "a")
    at.scan()
    assert at.texts() == ["q"]
    assert at.problems() == [PROBLEM]


def test_nothing_said_while_paused_or_excluded_is_taken_later(tmp_path: Path) -> None:
    """A pause holds on this path too: what the file holds of it is passed over."""
    at = Talking(tmp_path)
    at.talk("before", "a1")
    at.scan()
    at.spool.paused.touch()
    at.write(*at.exchange("while paused", "a2"))
    at.hands.move(1.0)
    at.scan()
    at.spool.paused.unlink()
    at.hands.move(1.0)
    at.talk("after", "a3")
    at.scan()
    at.ingest.transcripts.is_excluded = lambda directory: directory == "/w/shop"
    at.hands.move(1.0)
    at.write(*at.exchange("while excluded", "a4"))
    at.hands.move(1.0)
    at.kimi("stop")
    at.scan()
    at.ingest.transcripts.is_excluded = lambda _: False
    at.hands.move(1.0)
    at.talk("at last", "a5")
    at.scan()
    assert at.texts() == ["before", "a1", "after", "a3", "at last", "a5"]
    at.close()


def test_a_pause_that_ended_while_no_daemon_ran_is_passed_over_too(at: Talking) -> None:
    """Its marker is left under another name, and goes once it was seen."""
    at.hands.wall_now -= 100.0
    at.talk("before", "a1")
    at.scan()
    at.write(*at.exchange("while paused", "a2"))
    at.spool.paused.touch()
    Pauses(at.root).resume(())
    assert at.spool.resumed.exists()
    at.scan()
    at.hands.wall_now = at.spool.evidence.stat().st_mtime + 100.0
    at.talk("after", "a3")
    at.scan()
    assert at.texts() == ["before", "a1", "after", "a3"]
    assert not at.spool.resumed.exists()


def test_a_pause_with_an_end_is_passed_over_up_to_it(at: Talking) -> None:
    """Hooks go by the time in the marker, whenever somebody takes it away."""
    at.talk("before", "a1")
    at.scan()
    at.write(*at.exchange("while paused", "a2"))
    at.hands.move(10.0)
    at.spool.paused.write_text("until then")
    os.utime(at.spool.paused, (at.hands.wall_now, at.hands.wall_now))
    at.hands.move(1.0)
    at.talk("after", "a3")
    at.scan()
    assert at.texts() == ["before", "a1"]
    at.spool.paused.unlink()
    at.scan()
    assert at.texts() == ["before", "a1", "after", "a3"]


def test_a_spool_that_fails_calls_for_no_look_before_its_next_scan(
    at: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the thread would look again and again at what it cannot take."""
    at.write(at.asked("q"))
    at.kimi("stop")
    at.scan()
    at.hands.move(LOOK_SECONDS)
    assert at.ingest.transcripts.waits.next_look_seconds() == 0.0
    with monkeypatch.context() as patch:
        patch.setattr(at.served, "store", {}.__getitem__)
        at.scan()
        assert at.ingest.transcripts.waits.next_look_seconds() is None
    at.scan()
    assert at.ingest.transcripts.waits.is_any
    at.hands.move(LOOK_SECONDS)
    with monkeypatch.context() as patch:
        patch.setattr(Spool, "claim", lambda *_: False)
        at.scan()
        assert at.ingest.transcripts.waits.next_look_seconds() is None
    at.write(at.said("a"), at.event("step.end", finishReason="end_turn"))
    at.scan()
    assert at.texts() == ["a"]
    assert not at.ingest.transcripts.waits.is_any


def test_a_withdrawn_stop_holds_nobody_up(at: Talking) -> None:
    """What waited behind it is taken at its own next look."""
    at.write(at.asked("q"))
    stem = at.kimi("stop")
    at.kimi("user-prompt", prompt="the next")
    at.scan()
    (at.spool_path / "pending" / f"{stem}.json").unlink()
    at.hands.move(LOOK_SECONDS)
    at.scan()
    assert at.texts() == ["the next"]
    at.kimi("stop")
    at.served.spools()[0].pending.rename(at.root / "gone")
    at.scan()
    assert not at.ingest.transcripts.waits.is_any


def test_offsets_move_only_with_their_events(at: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a commit fails the stop is given back, and the next scan reads the same answer again."""
    store = at.served.store("claude-code")
    append = store.append
    monkeypatch.setattr(store, "append", lambda *_: (_ for _ in ()).throw(sqlite3.OperationalError("disk full")))
    at.talk("q", "a")
    assert at.scan() == 0
    monkeypatch.setattr(store, "append", append)
    at.scan()
    assert at.texts() == ["q", "a"]


def test_antigravity_gives_its_prompts_too(at: Talking) -> None:
    """No hook of it brings any."""
    file = at.root / ".gemini/antigravity-cli/brain/s/.system_generated/logs/transcript.jsonl"
    file.parent.mkdir(parents=True)
    lines = []
    for number, (source, kind, text) in enumerate(
        [
            ("USER_EXPLICIT", "USER_INPUT", "<USER_REQUEST>tidy up</USER_REQUEST>"),
            ("MODEL", "PLANNER_RESPONSE", "Tidied."),
        ]
        * 2
    ):
        moment = rfc3339(at.hands.wall_now + number)
        lines.append(
            {
                "step_index": number,
                "source": source,
                "type": kind,
                "status": "DONE",
                "created_at": moment,
                "content": text,
            }
        )
    at.drop("session-start", envelope={"harness": "antigravity"})
    at.hands.move(10.0)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    at.drop("stop", envelope={"harness": "antigravity"}, transcriptPath=str(file))
    at.scan()
    assert at.events()[1:] == [("user_prompt", "tidy up"), ("assistant_stop", "Tidied.")] * 2


def test_claude_codes_transcript_is_asked_only_where_its_payload_says_nothing(at: Talking) -> None:
    """Then for the answer to the last prompt, and for no earlier one."""
    file = at.root / ".claude/projects/-w-shop/s.jsonl"
    file.parent.mkdir(parents=True)

    def line(kind: str, name: str, text: str) -> None:
        message = {"role": kind, "id": name, "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}
        record = {"type": kind, "uuid": name, "timestamp": rfc3339(at.hands.wall_now), "message": message}
        with file.open("a") as written:
            written.write(json.dumps(record) + "\n")

    at.prompt("q1", transcript_path=str(file))
    line("user", "u1", "q1")
    line("assistant", "a1", "a1, as the transcript has it")
    at.answer("a1", transcript_path=str(file))
    at.hands.move(60.0)
    at.prompt("q2", transcript_path=str(file))
    at.drop("stop", transcript_path=str(file))
    at.scan()
    assert at.texts() == ["q1", "a1", "q2"]
    line("user", "u2", "q2")
    line("assistant", "a2", "a2")
    at.wait(LOOK_SECONDS)
    assert at.texts() == ["q1", "a1", "q2", "a2"]


def test_run_once_waits_for_an_answer_that_is_being_written(tmp_path: Path) -> None:
    """In the daemon as it is composed, with the user's own home, a stop that waits is work to be done."""
    with composed(tmp_path, MEMSYNCD_PLATFORM_KIND="local") as home:
        wire = tmp_path / KIMI
        wire.parent.mkdir(parents=True)
        prompt = {"type": "turn.prompt", "input": "q", "origin": {"kind": "user"}}
        wire.write_text(json.dumps(prompt) + "\n")
        stop = {"v": 1, "action": "stop", "captured_at": rfc3339(time.time()), "hook_input": {"session_id": "s"}}
        (home.spool("kimi") / "pending" / "1.json").write_text(json.dumps(stop))
        home.upkeep.refresh()
        assert home.parts.ingest.scan() == 0
        assert not home.upkeep.is_all_done(lambda: 0)
        with wire.open("a") as file:
            message = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
            file.write(json.dumps({"type": "context.append_message", "message": message}) + "\n")
            file.write(json.dumps({"type": "turn.ended"}) + "\n")
        time.sleep(LOOK_SECONDS)
        assert home.parts.ingest.scan() == 1
        assert home.parts.served.store("kimi").counts()["events"] == 1
        assert not home.parts.ingest.transcripts.waits.is_any
