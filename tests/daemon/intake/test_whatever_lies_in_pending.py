"""Whatever bytes lie in `pending/`, every valid neighbour is recorded and delivered, and no byte is lost."""

import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from daemon.intake.grace import GRACE_SECONDS
from daemon.observer import Observer
from jobs.job import Job
from jobs.outcomes import Outcome
from jobs.queue.workers import Workers
from tests.daemon.composed import Composed, composed
from tests.daemon.intake.ingesting import Ingesting
from tests.daemon.intake.rubbish import RUBBISH, Rubbish, kept_bytes, written
from tests.jobs.delivering import MEMORY

QUIET = {"suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large], "deadline": None}
PATIENCE = 60.0


@settings(max_examples=60, **QUIET)  # type: ignore[arg-type]
@given(rubbish=RUBBISH)
def test_every_valid_neighbour_is_recorded_and_no_byte_is_lost(rubbish: Sequence[Rubbish]) -> None:
    """Before, between and behind them in the order of names; what is no handoff is kept whole, once its grace is over."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as root:
        at = Ingesting(Path(root))
        try:
            pending = at.spool_path / "pending"
            markers = [at_name(at, name) for name in ("!first", "middle", "zzz~last")]
            put = [each for each in rubbish if each.put(pending, at.hands.wall_now)]
            at.scan()
            assert sorted(text for text in at.texts() if text in markers) == sorted(markers)
            at.hands.move(GRACE_SECONDS + 1)
            at.scan()
            kept = kept_bytes(at.spool_path)
            for each in put:
                assert not each.is_waiting_file or each.is_handoff or each.content in kept, each
            assert {finding.code for finding in at.findings.all()} <= {"odd-file"}
            markers.append(at_name(at, "after"))
            at.scan()
            assert markers[-1] in at.texts()
        finally:
            at.close()


def at_name(at: Ingesting, name: str) -> str:
    """Leave a prompt under a name; return its text."""
    at.prompt(f"marker {name}", name=name, session="good")
    return f"marker {name}"


@settings(max_examples=6, **QUIET)  # type: ignore[arg-type]
@given(rubbish=RUBBISH)
def test_every_valid_neighbour_is_delivered(rubbish: Sequence[Rubbish]) -> None:
    """By the parts of the daemon as they are composed, to the embedded platform: an exchange and its session's end."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as root, composed(Path(root)) as home:
        pending = home.spool() / "pending"
        home.parts.served.refresh(home.parts.findings)
        for number, each in enumerate(rubbish):
            leave(pending, f"neighbour-{number}", number)
            each.put(pending, time.time())
        home.upkeep.start()
        home.parts.ingest.scan()
        run_jobs(home, len(rubbish))
        store = home.parts.served.store("claude-code")
        for number in range(len(rubbish)):
            assert not store.unflushed(f"good-{number}")
            assert not list(pending.glob(f"neighbour-{number}-*"))


def leave(pending: Path, name: str, number: int) -> None:
    """Leave a prompt, its answer and the session's end."""
    told = {"session_id": f"good-{number}", "cwd": "/w/shop"}
    for step, (action, hook_input) in enumerate(
        (
            ("user-prompt", told | {"prompt": f"We always use pnpm for client {number}."}),
            ("stop", told | {"last_assistant_message": "Noted."}),
            ("flush", told),
        )
    ):
        document = {
            "v": 1,
            "id": f"{name}-{step}",
            "harness": "claude-code",
            "action": action,
            "hook_input": hook_input,
        }
        (pending / f"{name}-{step}.json").write_bytes(written(document))


def run_jobs(home: Composed, sessions: int) -> None:
    """Let workers run what is due until every good session's evidence is confirmed."""
    parts, observer, changed = home.parts, Observer(home.parts), threading.Condition()

    def finished(job: Job, outcome: Outcome, seconds: float) -> None:
        observer.finished(job, outcome, seconds)
        with changed:
            changed.notify_all()

    workers = Workers(parts.queue, parts.handlers, 2, clock=parts.clock, counters=parts.counters, on_finish=finished)
    workers.start()
    try:
        with changed:
            assert changed.wait_for(lambda: parts.counters.snapshot().get("packets_delivered", 0) >= sessions, PATIENCE)
    finally:
        workers.stop(PATIENCE)
