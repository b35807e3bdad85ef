"""What people see and do of the jobs of the running daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.delivery import FLUSH, checkpoint_job
from jobs.job import NewJob
from jobs.outcomes import Done, GiveUp
from tests.daemon.composed import Composed, composed, finish


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def test_a_dead_letter_of_a_spool_that_is_gone_is_retried_and_discarded(home: Composed) -> None:
    """The job is there all the same; only its file cannot be brought back."""
    for key in ("a", "b"):
        finish(home, checkpoint_job("gone", "s", key=key, reason="manual", handoff="h"), GiveUp("refused"))
    assert home.view.retry("checkpoint:gone:a") == "done"
    assert home.view.discard("checkpoint:gone:b") == "done"


def test_a_retry_brings_the_handoff_back(home: Composed) -> None:
    """The dead letter's file waits again, and a discard deletes it."""
    spool = home.parts.served.spool("claude-code")
    for stem in ("a", "b"):
        (spool.pending / f"{stem}.running").write_text('{"hook_input": {}}')
        spool.bury(stem, "refused")
        finish(home, checkpoint_job("claude-code", "s", key=stem, reason="manual", handoff=stem), GiveUp("refused"))
    assert home.view.retry("checkpoint:claude-code:a") == "done"
    assert [waiting.stem for waiting in spool.waiting()] == ["a"]
    assert home.view.discard("checkpoint:claude-code:b") == "done"
    assert spool.dead_letters() == {}
    assert home.view.retry("unheard-of") == "unknown"
    assert home.view.discard("checkpoint:claude-code:b") == "already so"


def test_an_answer_tells_done_from_already_so_and_from_cannot(home: Composed) -> None:
    """A job that is over is neither retried nor discarded, and the answer says in which state it is."""
    finish(home, NewJob("over", FLUSH), Done("delivered"))
    assert home.view.retry("over") == "it is done"
    assert home.view.discard("over") == "it is done"
    home.parts.queue.enqueue(NewJob("ready", FLUSH))
    assert home.view.retry("ready") == "already so"
