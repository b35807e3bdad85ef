"""How the end of a session is noticed."""

from pathlib import Path

from daemon.intake.sessions import GONE_GRACE_SECONDS, Sessions
from memsyncd.hooks.handoff import HarnessProcess


def process_table(tmp_path: Path, **started: int) -> Path:
    (tmp_path / "self").mkdir()
    for name, ticks in started.items():
        directory = tmp_path / name.removeprefix("pid")
        directory.mkdir()
        fields = " ".join(["S", *["0"] * 18, str(ticks), "0"])
        (directory / "stat").write_text(f"1 (a) b) {fields}")
    return tmp_path


def test_a_session_is_over_after_the_idle_time_until_that_is_told() -> None:
    """Silence for the idle time ends a session; the end is forgotten only once it is in the queue."""
    sessions = Sessions(idle_seconds=300)
    sessions.moved("s", "a", "e1", at=0.0)
    assert sessions.over(299.0) == []
    assert [ended.why for ended in sessions.over(300.0)] == ["idle"]
    (ended,) = sessions.over(9_999.0)
    sessions.told(ended)
    assert sessions.over(9_999.0) == []
    assert not sessions.knows("s", "a")


def test_a_session_that_went_on_is_watched_still() -> None:
    """An event between the look and the job takes nothing away."""
    sessions = Sessions(idle_seconds=300)
    sessions.moved("s", "a", "e1", at=0.0)
    (ended,) = sessions.over(300.0)
    sessions.moved("s", "a", "e2", at=301.0)
    sessions.told(ended)
    assert sessions.knows("s", "a")


def test_a_later_event_opens_the_session_again() -> None:
    """A session that goes on after its end has another one, named after its last event."""
    sessions = Sessions(idle_seconds=300)
    sessions.moved("s", "a", "e1", at=0.0)
    sessions.over(300.0)
    sessions.moved("s", "a", "e2", at=400.0)
    assert [ended.last_event for ended in sessions.over(700.0)] == ["e2"]


def test_a_process_that_is_gone_ends_its_session_early(tmp_path: Path) -> None:
    """A killed agent tells no end; its missing process does, after a moment for its last hooks."""
    sessions = Sessions(idle_seconds=300, proc=process_table(tmp_path))
    sessions.moved("s", "a", "e1", at=0.0, process=HarnessProcess(4242, 7))
    assert sessions.over(GONE_GRACE_SECONDS - 0.1) == []
    assert [ended.why for ended in sessions.over(GONE_GRACE_SECONDS)] == ["process-gone"]


def test_a_living_process_keeps_its_session(tmp_path: Path) -> None:
    """Same number, same start: it is the agent, and a name with a bracket in it confuses nobody."""
    sessions = Sessions(idle_seconds=300, proc=process_table(tmp_path, pid4242=7))
    sessions.moved("s", "a", "e1", at=0.0, process=HarnessProcess(4242, 7))
    assert sessions.over(200.0) == []


def test_a_reused_number_is_another_process(tmp_path: Path) -> None:
    """A process that started at another time is not the agent."""
    sessions = Sessions(idle_seconds=300, proc=process_table(tmp_path, pid4242=8))
    sessions.moved("s", "a", "e1", at=0.0, process=HarnessProcess(4242, 7))
    assert [ended.why for ended in sessions.over(10.0)] == ["process-gone"]


def test_a_process_of_a_container_is_not_judged(tmp_path: Path) -> None:
    """A number from another process-number space says nothing here, so only silence ends such a session."""
    sessions = Sessions(idle_seconds=300, proc=process_table(tmp_path))
    sessions.moved("s", "a", "e1", at=0.0, process=HarnessProcess(4242, 7, namespace="pid:[1]"))
    assert sessions.over(200.0) == []


def test_without_a_process_table_only_silence_ends_a_session(tmp_path: Path) -> None:
    """Where the system has no such table nothing is concluded from its absence."""
    sessions = Sessions(idle_seconds=300, proc=tmp_path / "none")
    sessions.moved("s", "a", "e1", at=0.0, process=HarnessProcess(4242, 7))
    assert sessions.over(299.0) == []


def test_an_idle_time_of_zero_leaves_only_gone_processes() -> None:
    """MEM0_CODE_IDLE_FLUSH_SECONDS=0 stops the daemon's own idle flush (CONTRACT)."""
    sessions = Sessions(idle_seconds=0)
    sessions.moved("s", "a", "e1", at=0.0)
    assert sessions.over(1e9) == []
