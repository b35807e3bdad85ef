"""The open extraction events and when each is asked."""

from jobs.extractions import GAP_SECONDS, GROWTH, MAX_INTERVAL_SECONDS, Extractions
from memsyncd.platforms.platform import Extraction, ExtractionState
from tests.clocks import HandClock


def registry() -> tuple[Extractions, HandClock]:
    hands = HandClock()
    return Extractions(hands.clock(), first_interval_seconds=1.0), hands


def running(event_id: str) -> Extraction:
    return Extraction(event_id, ExtractionState.RUNNING)


def test_the_first_question_comes_after_the_first_interval() -> None:
    """An extraction is asked for a second after its batch was accepted."""
    extractions, hands = registry()
    extractions.register("e", "job")
    assert extractions.due() == []
    hands.move(1.0)
    assert [entry.event_id for entry in extractions.due()] == ["e"]


def test_intervals_grow_to_a_bound() -> None:
    """Each further question waits longer, and never longer than the bound under the promised 30 s."""
    extractions, hands = registry()
    extractions.register("e", "job")
    waits = []
    for _ in range(20):
        wait = extractions.wait_seconds()
        assert wait is not None
        waits.append(wait)
        hands.move(wait)
        extractions.told(running("e"))
    assert waits[1] == waits[0] * GROWTH
    assert max(waits) == MAX_INTERVAL_SECONDS < 30


def test_a_verdict_wakes_its_job_once_and_is_kept() -> None:
    """A terminal answer names the job, ends the watch and stays until the job has acted on it."""
    extractions, _ = registry()
    extractions.register("e", "job")
    assert extractions.told(Extraction("e", ExtractionState.SUCCEEDED, 3)) == "job"
    assert extractions.told(Extraction("e", ExtractionState.SUCCEEDED, 3)) is None
    verdict = extractions.verdict("e")
    assert verdict is not None and verdict.memories == 3
    extractions.forget("e")
    assert extractions.verdict("e") is None


def test_answers_about_foreign_events_are_ignored() -> None:
    """The listing tells of everybody's events; only the watched ones matter."""
    extractions, _ = registry()
    assert extractions.told(Extraction("other", ExtractionState.SUCCEEDED)) is None
    assert extractions.verdict("other") is None


def test_the_asker_is_called_only_when_it_sleeps_too_long() -> None:
    """A thousand registrations cost one wake-up, not a thousand."""
    extractions, _ = registry()
    calls: list[float] = []
    extractions.on_open = calls.append
    assert extractions.wait_seconds() is None
    for number in range(1_000):
        extractions.register(f"e{number}", "job")
    assert calls == [1.0]


def test_registering_again_keeps_the_schedule() -> None:
    """A job that looks in again does not make its event be asked more often."""
    extractions, hands = registry()
    extractions.register("e", "job")
    hands.move(1.0)
    extractions.told(running("e"))
    extractions.register("e", "job-2")
    assert extractions.wait_seconds() == GROWTH
    assert extractions.told(Extraction("e", ExtractionState.FAILED)) == "job-2"


def test_counts_tell_how_many_are_open_and_since_when() -> None:
    """Status shows the number and the age of the oldest."""
    extractions, hands = registry()
    assert extractions.counts() == (0, 0.0)
    extractions.register("e", "job")
    hands.move(30.0)
    extractions.register("f", "job")
    assert extractions.counts() == (2, 30.0)


def test_rounds_keep_a_gap_so_that_one_asks_for_many() -> None:
    """Those due within a quarter of a second of a round wait for the next; what is overdue waits for nothing."""
    extractions, hands = registry()
    extractions.register("a", "job")
    hands.move(0.1)
    extractions.register("b", "job")
    hands.move(0.9)
    assert [entry.event_id for entry in extractions.due()] == ["a"]
    extractions.told(Extraction("a", ExtractionState.SUCCEEDED))
    wait = extractions.wait_seconds()
    assert wait is not None
    assert abs(wait - GAP_SECONDS) < 1e-6
    hands.move(wait)
    assert [entry.event_id for entry in extractions.due()] == ["b"]
    assert extractions.wait_seconds() == 0.0
