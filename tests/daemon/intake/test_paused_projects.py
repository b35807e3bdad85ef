"""What a paused project's hooks drop is discarded by its own time, whenever somebody looks."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.intake.ingesting import Ingesting
from tests.daemon.intake.test_transcripts import Talking

PROJECT = ("local:/w/shop", "/w/shop")
MINUTE = 60.0


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def say(at: Ingesting, text: str) -> None:
    at.hands.move(1.0)
    at.prompt(text)
    at.hands.move(MINUTE)


def test_a_pause_that_nobody_saw_is_a_pause(at: Ingesting) -> None:
    """It began and ended before the first look; what was said before it and after it is taken in."""
    say(at, "before")
    at.pauses.pause_project(*PROJECT, None)
    say(at, "paused")
    at.pauses.resume_project(PROJECT[0])
    say(at, "after")
    at.restart()
    assert at.scan() == 3
    assert at.texts() == ["before", "after"]
    assert at.counters.snapshot()["events_excluded"] == 1


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_pause_whose_time_ran_out_unseen_is_a_pause(at: Ingesting, is_settled: bool) -> None:
    """Whether its end was written down by then or not."""
    at.pauses.pause_project(*PROJECT, MINUTE)
    say(at, "paused")
    say(at, "after")
    if is_settled:
        assert at.pauses.settle(())
        at.pauses.pause_project("another", "/w/other", None)
    at.scan()
    assert at.texts() == ["after"]


def test_what_was_captured_before_a_pause_is_not_lost_to_it(at: Ingesting) -> None:
    """Taken in while it lasts, it is recorded and waits."""
    say(at, "before")
    at.pauses.pause_project(*PROJECT, None)
    say(at, "paused")
    at.scan()
    assert at.texts() == ["before"]


def test_a_pause_that_another_end_replaced_counts_from_its_first_begin(at: Ingesting) -> None:
    """And so does one that was begun again after a resume."""
    at.pauses.pause_project(*PROJECT, None)
    say(at, "paused")
    at.pauses.pause_project(*PROJECT, 10 * MINUTE)
    say(at, "paused still")
    at.pauses.resume_project(PROJECT[0])
    say(at, "in between")
    at.pauses.pause_project(*PROJECT, None)
    say(at, "paused again")
    at.pauses.resume_project(PROJECT[0])
    at.scan()
    assert at.texts() == ["in between"]


@pytest.mark.parametrize("jump", [-10 * MINUTE, 10 * MINUTE, 86_400.0])
def test_a_clock_that_is_set_in_a_pause_lets_nothing_out(at: Ingesting, jump: float) -> None:
    """What is captured with either clock lies in it."""
    at.pauses.pause_project(*PROJECT, None)
    say(at, "paused")
    at.hands.wall_now += jump
    say(at, "paused still")
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(5 * MINUTE)
    say(at, "after")
    at.scan()
    assert at.texts() == ["after"]


def test_a_handoff_that_tells_no_time_counts_by_its_files(at: Ingesting) -> None:
    """Another program's hook may leave it out."""
    at.pauses.pause_project(*PROJECT, None)
    at.prompt("paused", envelope={"captured_at": None})
    at.hands.move(MINUTE)
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(MINUTE)
    at.prompt("after", envelope={"captured_at": None})
    at.scan()
    assert at.texts() == ["after"]


def test_another_project_has_no_part_in_it(at: Ingesting) -> None:
    """Nor one whose name begins alike."""
    at.pauses.pause_project(*PROJECT, None)
    for place in ("/w/shop-old", "/w/shop/src", "/elsewhere"):
        at.prompt(place, cwd=place)
    at.hands.move(MINUTE)
    at.pauses.resume_project(PROJECT[0])
    at.scan()
    assert at.texts() == ["/w/shop-old", "/elsewhere"]


@pytest.fixture
def talking(tmp_path: Path) -> Iterator[Talking]:
    made = Talking(tmp_path)
    yield made
    made.close()


def test_a_transcript_tells_nothing_of_a_pause_that_nobody_saw(talking: Talking) -> None:
    """With the hooks' handoffs, and without any of that time."""
    at = talking
    at.talk("before", "a1")
    at.pauses.pause_project(*PROJECT, None)
    at.hands.move(1.0)
    at.talk("paused", "a2")
    at.write(*at.exchange("paused, and no hook ran", "a3"))
    at.hands.move(1.0)
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(1.0)
    at.talk("after", "a4")
    at.scan()
    assert at.texts() == ["before", "a1", "after", "a4"]


def test_a_transcript_without_times_is_taken_up_at_its_last_exchange(talking: Talking) -> None:
    """Nothing else tells what of it was said in the pause."""
    at = talking

    def exchange(answer: str) -> None:
        with at.wire.open("ab") as file:
            file.writelines(json.dumps(each).encode() + b"\n" for each in at.exchange("q", answer))
        at.kimi("stop")
        at.hands.move(1.0)

    exchange("a1")
    at.scan()
    at.pauses.pause_project(*PROJECT, None)
    at.hands.move(1.0)
    exchange("a2")
    exchange("a3")
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(1.0)
    exchange("a4")
    at.scan()
    assert at.texts() == ["a1", "a4"]


def test_an_exchange_that_goes_on_into_a_pause_is_not_told(talking: Talking) -> None:
    """Its answer holds what was said on the way."""
    at = talking
    at.talk("before", "a1")
    at.kimi("user-prompt", prompt=[{"type": "text", "text": "half"}])
    at.write(at.asked("half"))
    at.hands.move(1.0)
    at.pauses.pause_project(*PROJECT, None)
    at.hands.move(1.0)
    at.write(at.said("in the pause"))
    at.hands.move(1.0)
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(1.0)
    at.write(at.event("step.end", finishReason="end_turn"))
    at.kimi("stop")
    at.hands.move(1.0)
    at.talk("after", "a2")
    at.scan()
    assert at.texts() == ["before", "a1", "half", "after", "a2"]


def test_the_end_that_no_hook_told_of_a_paused_projects_session_tells_nothing(talking: Talking) -> None:
    """The daemon leaves a handoff then, which says of which project it is."""
    at = talking
    at.talk("before", "a1")
    at.scan()
    at.pauses.pause_project(*PROJECT, None)
    at.hands.move(1.0)
    at.write(*at.exchange("paused", "a2"))
    at.hands.move(1.0)
    assert at.leave_end("process-gone")
    at.scan()
    assert at.texts() == ["before", "a1"]
    at.pauses.resume_project(PROJECT[0])
    at.hands.move(1.0)
    at.write(*at.exchange("after", "a3"))
    at.hands.move(1.0)
    at.kimi("flush", reason="session-end")
    at.scan()
    assert "paused" not in at.texts() and "a2" not in at.texts()
