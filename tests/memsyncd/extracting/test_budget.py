"""What the model may cost."""

import sqlite3
from pathlib import Path

import pytest

from memsyncd.extracting.budget import KEPT_DAYS, Budget, Limits, OverBudget, Spent, exceeded
from tests.clocks import HandClock

LIMITS = Limits(session_calls=3, session_tokens=1_000, day_calls=5, day_tokens=2_000)


@pytest.mark.parametrize(
    ("session", "day", "tokens", "word"),
    [
        (Spent(), Spent(), 1_000, ""),
        (Spent(2, 900), Spent(4, 1_900), 100, ""),
        (Spent(3, 0), Spent(3, 0), 1, "session_calls"),
        (Spent(1, 950), Spent(1, 950), 51, "session_tokens"),
        (Spent(), Spent(5, 0), 1, "day_calls"),
        (Spent(), Spent(4, 1_990), 11, "day_tokens"),
    ],
)
def test_one_more_call_must_fit_into_every_bound(session: Spent, day: Spent, tokens: int, word: str) -> None:
    """The words name the setting; 0 bounds nothing."""
    assert word in exceeded(LIMITS, session=session, day=day, tokens=tokens)
    assert bool(exceeded(LIMITS, session=session, day=day, tokens=tokens)) == bool(word)
    assert not exceeded(Limits(), session=Spent(10**9, 10**9), day=Spent(10**9, 10**9), tokens=10**9)


def test_a_session_and_a_day_are_counted_across_restarts(tmp_path: Path) -> None:
    """What one process spent, the next one knows; another session has its own, a new day begins anew."""
    hands, path = HandClock(), tmp_path / "memory.sqlite3"
    budget = Budget(path, hands.clock(), LIMITS)
    for _ in range(3):
        budget.reserve("s1", 10)
    budget.close()
    budget = Budget(path, hands.clock(), LIMITS)
    with pytest.raises(OverBudget, match="3 calls for a session"):
        budget.reserve("s1", 10)
    budget.reserve("s2", 10)
    budget.reserve("s2", 10)
    with pytest.raises(OverBudget, match="5 calls for a day"):
        budget.reserve("s3", 10)
    hands.move(86_400.0)
    budget.reserve("s3", 10)
    with pytest.raises(OverBudget, match="session"):
        budget.reserve("s1", 10)
    budget.close()


def test_an_estimate_gives_way_to_what_it_cost(tmp_path: Path) -> None:
    """Counted before the call, so that a death in the midst of it is paid for; corrected after it."""
    budget = Budget(tmp_path / "memory.sqlite3", HandClock().clock(), LIMITS)
    reserved = budget.reserve("s1", 900)
    with pytest.raises(OverBudget, match="tokens for a session"):
        budget.reserve("s1", 200)
    budget.settle(reserved, 100)
    budget.reserve("s1", 200)
    budget.close()


def test_old_costs_are_forgotten_and_tell_no_session(tmp_path: Path) -> None:
    """The table stays small, and holds no name of a session."""
    hands, path = HandClock(), tmp_path / "memory.sqlite3"
    budget = Budget(path, hands.clock(), LIMITS)
    budget.reserve("a-session-by-name", 10)
    hands.move((KEPT_DAYS + 2) * 86_400.0)
    budget.reserve("another", 10)
    budget.close()
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT session, calls, tokens FROM extractor_spending").fetchall()
    connection.close()
    assert [row[1:] for row in rows] == [(1, 10)]
    assert "another" not in str(rows)


def test_what_cannot_be_counted_is_not_spent(tmp_path: Path) -> None:
    """A damaged file means no call, not a free one."""
    path = tmp_path / "memory.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    budget = Budget(path, HandClock().clock(), LIMITS)
    with pytest.raises(OverBudget, match="cannot be counted"):
        budget.reserve("s1", 10)
    budget.close()
