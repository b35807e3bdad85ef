"""Which prefix of a session's evidence is due (facts, section 3)."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.evidence.event import Event
from memsyncd.packets import checkpoint

PROMPT, ANSWER = "user_prompt", "assistant_stop"


def _exchanges(event: Callable[..., Event], count: int, characters: int = 10) -> list[Event]:
    return [
        made
        for number in range(count)
        for made in (event(PROMPT, f"question {number}"), event(ANSWER, f"{number}".ljust(characters, "x")))
    ]


def _ends(events: list[Event]) -> tuple[Event, ...]:
    return (events[0], events[-1]) if events else ()


@pytest.mark.parametrize(
    ("exchanges", "characters", "taken"),
    [(4, 10, 0), (5, 10, 10), (7, 10, 10), (3, 12_000, 0), (4, 12_000, 8), (1, 39_989, 0), (1, 39_990, 2)],
)
def test_thresholds(event: Callable[..., Event], exchanges: int, characters: int, taken: int) -> None:
    """Five answers or 40,000 characters make the first prefix that reaches them due (facts 3.1, 3.2, 3.4 to 3.6)."""
    events = _exchanges(event, exchanges, characters)
    assert checkpoint.select(events, forced=False) == _ends(events[:taken])


def test_ten_messages_with_few_answers(event: Callable[..., Event]) -> None:
    """Ten messages are due as well, but only where an answer ends them (facts 3.2, 3.3)."""
    prompts = [event(PROMPT, f"and {number}") for number in range(9)]
    answer = event(ANSWER, "done")
    more = [event(PROMPT, "one more")]
    assert checkpoint.select(prompts + more, forced=False) == ()
    assert checkpoint.select([*prompts, answer, *more], forced=False) == (prompts[0], answer)


def test_four_exchanges_and_subagents(event: Callable[..., Event]) -> None:
    """Subagent results count as messages, tool events do not, not even a subagent's (facts 3.8)."""
    subagents = [event("subagent_stop", "found it"), event("sidekick_stop", final_message="legacy one")]
    tools = [event("tool_result", command="ls", agent_id="a1", result="x" * 50_000) for _ in range(20)]
    events = _exchanges(event, 3) + subagents + tools + _exchanges(event, 1)
    assert checkpoint.select(events, forced=False) == _ends(events)


@pytest.mark.parametrize("kind", ["sidekick_stop", "subagent_stop"])
def test_one_subagent_result_is_measured(event: Callable[..., Event], kind: str) -> None:
    """A subagent result of 14 characters is no answer, one message, 14 characters (facts 3.8)."""
    tally = checkpoint.Tally().with_event(event(kind, "fourteen chars"))
    assert tally == checkpoint.Tally(answers=0, messages=1, characters=14)


def test_an_answer_is_measured_by_its_transcript(event: Callable[..., Event]) -> None:
    """Of an answer with transcript messages the joined transcript is measured, as one message (facts 3.8)."""
    answer = event(
        ANSWER,
        "short",
        transcript_messages=[{"role": "user", "content": "a" * 20_000}, {"role": "assistant", "content": "b" * 20_000}],
    )
    assert checkpoint.Tally().with_event(answer) == checkpoint.Tally(1, 1, 40_001)
    assert checkpoint.select([answer], forced=False) == (answer, answer)


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_empty_texts_count_for_nothing(event: Callable[..., Event], text: str | None) -> None:
    """Prompts and answers without words are no messages (facts 3.8)."""
    assert checkpoint.Tally().with_event(event(PROMPT, text)).with_event(event(ANSWER, text)) == checkpoint.Tally()


def test_forced_takes_everything_or_the_first_block(event: Callable[..., Event]) -> None:
    """Forced, all is taken, a trailing prompt too; but only the first block where a threshold fired (facts 3.7)."""
    few = [*_exchanges(event, 2), event(PROMPT, "trailing")]
    many = [*_exchanges(event, 6), event(PROMPT, "trailing")]
    assert checkpoint.select(few, forced=True) == _ends(few)
    assert checkpoint.select(many, forced=True) == _ends(many[:10])


def test_nothing_is_read_past_the_prefix(event: Callable[..., Event]) -> None:
    """The choice stops reading at the first prefix that is due, however long the session."""
    events = _exchanges(event, 5)

    def endless() -> Iterator[Event]:
        yield from events
        raise AssertionError("read on")

    assert checkpoint.select(endless(), forced=True) == _ends(events)


@pytest.mark.parametrize(
    ("kind", "reason", "due", "expected"),
    [
        (PROMPT, "session-end", True, True),
        (ANSWER, "session-end", False, True),
        ("session_start", "session-end", True, False),
        (PROMPT, "periodic", True, True),
        (PROMPT, "periodic", False, False),
        ("session_start", "periodic", True, False),
    ],
)
def test_continuation(event: Callable[..., Event], kind: str, reason: str, due: bool, expected: bool) -> None:
    """A delivery goes on, but not into a resumed session, and periodically only if the next is due (facts 2.27)."""
    assert checkpoint.continues(event(kind, "x"), reason, is_due=due) is expected


_KINDS = st.sampled_from([PROMPT, ANSWER, "tool_result", "subagent_stop", "session_start"])
_EVENTS = st.lists(st.tuples(_KINDS, st.integers(0, 15_000)), max_size=40)


@given(_EVENTS, st.booleans())
def test_selection_is_the_shortest_due_prefix(shapes: list[tuple[str, int]], forced: bool) -> None:
    """What is chosen is a prefix; unless forced it ends on an answer, reaches a threshold, and no shorter one does."""
    ids = itertools.count(1)
    events = [Event(next(ids), "s", kind, {"text": "x" * length}, "") for kind, length in shapes]
    chosen = checkpoint.select(events, forced=forced)
    tallies = list(itertools.accumulate(events, checkpoint.Tally.with_event, initial=checkpoint.Tally()))[1:]
    due = [event for event, tally in zip(events, tallies, strict=True) if event.kind == ANSWER and tally.is_due]
    if due:
        assert chosen == (events[0], due[0])
    else:
        assert chosen == (_ends(events) if forced else ())
