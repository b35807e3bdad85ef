"""The workers: what runs, what is told, and how they stop."""

import datetime as dt
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Cool, Done, Ended, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import Handler, JobContext
from jobs.queue.doorbell import SAFETY_SECONDS, Doorbell
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.turn import Turn
from tests.jobs.queue.test_doorbell import Waits

PATIENCE = 60.0
"""Seconds after which a test fails that waits for something which does not come."""


class Shop:
    """A queue, its workers, and all that they told."""

    def __init__(self, directory: Path) -> None:
        self.counters = Counters()
        self.clock = Clock()
        self.queue = SqliteQueue(
            directory / "queue.sqlite3", clock=self.clock, policy=Policy(), counters=self.counters, random=Random(1)
        )
        self.told: queue.Queue[tuple[Job, Outcome, float]] = queue.Queue()
        self.started: list[Job] = []
        self.workers: Workers | None = None
        self.turn: Turn | None = None

    def open(self, count: int = 1, observer: Callable[..., None] | None = None, **handlers: Handler) -> Workers:
        """Start the workers."""
        self.workers = Workers(
            self.queue,
            handlers,
            count,
            clock=self.clock,
            counters=self.counters,
            on_start=observer or self.started.append,
            on_finish=observer or (lambda *values: self.told.put(values)),
            in_turn=self.turn.taken if self.turn else nullcontext,
        )
        self.workers.start()
        return self.workers

    def next(self) -> tuple[Job, Outcome, float]:
        """Return what is told next."""
        return self.told.get(timeout=PATIENCE)

    def close(self) -> None:
        """Stop and close everything."""
        if self.workers is not None:
            self.workers.stop(PATIENCE)
        self.queue.close()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Give a shop that is closed at the end."""
    with ExitStack() as stack:
        made = Shop(tmp_path)
        stack.callback(made.close)
        yield made


def raising(error: BaseException) -> Handler:
    def handler(context: JobContext) -> Outcome:
        raise error

    return handler


def test_a_job_runs_and_is_told_of(shop: Shop) -> None:
    """The handler of its kind gets the job as claimed; observers get it before, and after as it then stands."""
    seen = []

    def flush(context: JobContext) -> Outcome:
        seen.append(context.job)
        return Done("sent")

    shop.open(flush=flush)
    shop.queue.enqueue(NewJob("a", "flush", {"packet": "p1"}))
    job, outcome, seconds = shop.next()
    assert seen == shop.started
    assert (seen[0].id, seen[0].state, seen[0].payload) == ("a", JobState.CLAIMED, {"packet": "p1"})
    assert (job.state, job.reason, outcome) == (JobState.DONE, "sent", Done("sent"))
    assert 0 <= seconds < PATIENCE
    assert job == shop.queue.get("a")


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [
        (raising(Ended(GiveUp("422"))), GiveUp("422")),
        (raising(ValueError("odd")), Retry("ValueError: odd")),
        (raising(RuntimeError("x" * 1000)), Retry("RuntimeError: " + "x" * 485 + "…")),
        (lambda context: None, Retry("the handler returned NoneType, which is no outcome")),
        (lambda context: Outcome(), Retry("the handler returned Outcome, which is no outcome")),
        (raising(Ended("done")), Retry("the handler returned str, which is no outcome")),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_handler_does_is_one_outcome(shop: Shop, handler: Handler, outcome: Outcome) -> None:
    """It returns one or raises one; anything else is a failed attempt of this job and of no other."""
    shop.open(bad=handler, good=lambda context: Done())
    shop.queue.enqueue(NewJob("a", "bad"), NewJob("b", "good"))
    assert shop.next()[1] == outcome
    assert shop.next()[0].state is JobState.DONE


def test_runs_take_turns(shop: Shop) -> None:
    """As long as each is over soon: of four workers one computes."""
    shop.turn = Turn(PATIENCE)
    inside: list[str] = []

    def work(context: JobContext) -> Outcome:
        inside.append(context.job.id)
        return Done(" ".join(inside.pop() for _ in tuple(inside)))

    shop.queue.enqueue(*(NewJob(str(number), "work") for number in range(100)))
    shop.open(4, work=work)
    ended = [shop.next()[0] for _ in range(100)]
    assert [job.reason for job in ended] == [job.id for job in ended]


def test_a_run_that_is_stuck_holds_up_no_other(shop: Shop) -> None:
    """Its turn is waited for a moment only."""
    shop.turn = Turn(0.01)
    begun, ends = threading.Event(), threading.Event()

    def stuck(context: JobContext) -> Outcome:
        begun.set()
        assert ends.wait(PATIENCE)
        return Done("late")

    shop.open(2, stuck=stuck, work=lambda context: Done("soon"))
    shop.queue.enqueue(NewJob("a", "stuck"))
    assert begun.wait(PATIENCE)
    shop.queue.enqueue(NewJob("b", "work"), NewJob("c", "work"))
    assert [shop.next()[0].reason for _ in range(2)] == ["soon", "soon"]
    ends.set()
    assert shop.next()[0].reason == "late"


def test_an_outcome_that_cannot_be_stored_is_a_failed_attempt(shop: Shop) -> None:
    """A snooze with a payload that is no JSON costs this job an attempt and takes no worker with it."""
    workers = shop.open(bad=lambda context: Snooze(1, "why", {"x": object()}), good=lambda context: Done())
    shop.queue.enqueue(NewJob("a", "bad"), NewJob("b", "good"))
    job = shop.next()[0]
    assert (job.state, job.attempts) == (JobState.WAITING, 1)
    assert job.reason.startswith("TypeError: ")
    assert shop.next()[0].id == "b"
    assert workers.dead_threads() == ()


def test_a_kind_that_nobody_handles_is_a_dead_letter(shop: Shop) -> None:
    """It is kept whole, names the kind, is counted and told of; the others go on."""
    shop.open(flush=lambda context: Done())
    shop.queue.enqueue(NewJob("a", "from-tomorrow", {"n": 1}), NewJob("b", "flush"))
    job, outcome, _ = shop.next()
    assert (job.state, job.reason, job.payload) == (
        JobState.DEAD,
        "no handler for jobs of kind 'from-tomorrow'",
        {"n": 1},
    )
    assert outcome == GiveUp(job.reason)
    assert shop.next()[0].id == "b"
    assert shop.counters.snapshot()["jobs_unknown_kind"] == 1


def test_a_failing_observer_harms_no_job(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """Its error is counted; the job is done once."""
    over = threading.Event()

    def flush(context: JobContext) -> Outcome:
        if context.job.id == "b":
            over.set()
        return Done()

    def observer(*values: object) -> None:
        raise OSError("log disk full")

    shop.open(observer=observer, flush=flush)
    shop.queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush"))
    assert over.wait(PATIENCE)
    assert shop.workers is not None
    assert shop.workers.stop(PATIENCE)
    assert shop.queue.counts().done == 2
    assert shop.counters.snapshot()["observer_failures"] == 4


def test_an_answer_releases_the_destination(shop: Shop) -> None:
    """What the context was told reaches the queue with the finish."""
    answers = iter([503])

    def flush(context: JobContext) -> Outcome:
        if next(answers, 200) == 503:  # the first run alone, for the released job may run again before the other
            raise Ended(Cool("api", "503", "busy"))
        context.answered()
        return Done()

    shop.queue.enqueue(NewJob("a", "flush", destination="api"))
    shop.open(flush=flush)
    assert isinstance(shop.next()[1], Cool)
    shop.queue.release("api")
    shop.queue.enqueue(NewJob("b", "flush", destination="api"))
    while shop.next()[0].id != "b":
        pass
    (destination,) = shop.queue.destinations()
    assert destination.last_success_at is not None


def test_lanes_hold_with_four_workers(shop: Shop) -> None:
    """Never two of a lane at once, each lane in order, every job once, and all four workers at work."""
    lock = threading.Lock()
    inside: dict[str, str] = {}
    order: dict[str, list[int]] = {}
    together = 0
    clashes = []

    def flush(context: JobContext) -> Outcome:
        nonlocal together
        lane = context.job.lane
        with lock:
            if lane in inside:
                clashes.append((lane, inside[lane], context.job.id))
            inside[lane] = context.job.id
            together = max(together, len(inside))
            order.setdefault(lane, []).append(context.job.payload["n"])
        context.stopping.wait(0.001)
        with lock:
            del inside[lane]
        return Done()

    shop.queue.enqueue(
        *(NewJob(f"{lane}-{n}", "flush", {"n": n}, lane=f"s{lane}") for n in range(30) for lane in range(8))
    )
    shop.open(4, flush=flush)
    for _ in range(240):
        shop.next()
    assert clashes == []
    assert order == {f"s{lane}": list(range(30)) for lane in range(8)}
    assert together > 1
    assert shop.queue.counts().done == 240


def test_a_delayed_job_starts_when_it_is_due_without_polling(shop: Shop) -> None:
    """The timer wakes for it; nobody looks in between."""
    timeouts: list[float | None] = []

    def condition(lock: threading.Lock) -> threading.Condition:
        class Timed(threading.Condition):
            def wait(self, timeout: float | None = None) -> bool:
                timeouts.append(timeout)
                return super().wait(timeout)

        return Timed(lock)

    shop.queue.bell = Doorbell(shop.clock.monotonic, condition)
    starts = []
    shop.queue.enqueue(NewJob("a", "flush", delay=2.0))
    due = shop.queue.get("a").not_before  # type: ignore[union-attr]

    def flush(context: JobContext) -> Outcome:
        starts.append(shop.clock.wall())
        return Done()

    shop.open(4, flush=flush)
    shop.next()
    assert due is not None
    assert due <= starts[0] < due + SAFETY_SECONDS / 2
    timed = [timeout for timeout in timeouts if timeout is not None]
    assert len(timed) <= 4
    assert 0 < timed[0] <= 2.0


def test_idle_workers_sleep(shop: Shop) -> None:
    """Of four workers on an empty queue one waits with the safety time, three without; one job wakes at most two."""
    waits = Waits()
    shop.queue.bell = Doorbell(shop.clock.monotonic, waits.condition)
    shop.open(4, flush=lambda context: Done())
    timeouts = [waits.begun.get(timeout=PATIENCE) for _ in range(4)]
    assert timeouts.count(None) == 3
    assert min(timeout for timeout in timeouts if timeout is not None) == pytest.approx(SAFETY_SECONDS, abs=5.0)
    shop.queue.enqueue(NewJob("a", "flush"))
    shop.next()
    assert waits.begun.get(timeout=PATIENCE) is None
    assert waits.begun.empty()


def test_stopping_lets_running_jobs_end_and_takes_no_more(shop: Shop) -> None:
    """The handler sees that it is to stop; its outcome counts; nothing stays claimed."""
    running = threading.Event()

    def flush(context: JobContext) -> Outcome:
        running.set()
        assert context.stopping.wait(PATIENCE)
        return Snooze(0, "stopping")

    shop.queue.enqueue(*(NewJob(str(n), "flush") for n in range(5)))
    workers = shop.open(flush=flush)
    assert running.wait(PATIENCE)
    assert workers.running() == 1
    assert workers.stop(PATIENCE)
    assert len(shop.started) == 1
    counts = shop.queue.counts()
    assert (counts.claimed, counts.ready + counts.waiting, workers.oldest_claim_age()) == (0, 5, 0.0)
    assert workers.dead_threads() == ()


def test_a_job_that_does_not_end_in_time_is_given_back(shop: Shop) -> None:
    """Its attempt does not count, and what it finishes later changes nothing."""
    running, hang, over = threading.Event(), threading.Event(), threading.Event()

    def flush(context: JobContext) -> Outcome:
        running.set()
        hang.wait(PATIENCE)
        return GiveUp("late")

    shop.queue.enqueue(NewJob("a", "flush"))
    workers = shop.open(flush=flush)
    assert running.wait(PATIENCE)
    assert workers.oldest_claim_age() >= 0
    assert workers.stop(0.05) is False
    job = shop.queue.get("a")
    assert job is not None
    assert (job.state, job.attempts, job.crashes) == (JobState.READY, 0, 0)
    hang.set()
    while shop.counters.snapshot().get("claims_lost", 0) < 1:
        over.wait(0.01)
    assert shop.queue.get("a") == job
    assert workers.stop(PATIENCE) is True


def test_a_thread_that_dies_is_named_and_leaves_its_job_behind(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """A handler that ends its thread costs the job nothing; the daemon learns which thread it was."""
    workers = shop.open(1, flush=raising(SystemExit(3)))
    assert workers.dead_threads() == ()
    shop.queue.enqueue(NewJob("a", "flush"))
    (_, thread) = workers._consumer.worker_threads[0]
    thread.join(PATIENCE)
    assert workers.dead_threads() == ("jobs-worker-1",)
    job = shop.queue.get("a")
    assert job is not None
    assert (job.state, job.attempts, job.crashes) == (JobState.READY, 0, 0)
    assert workers.running() == 0


def test_a_full_disk_delays_a_finish_and_loses_nothing(shop: Shop) -> None:
    """The worker says why, keeps its claim, and finishes the job once the disk has room."""

    def flush(context: JobContext) -> Outcome:
        shop.queue.storage.writer().execute("PRAGMA max_page_count = 1")
        return Snooze(1000, "more", {"text": "x" * 200_000})

    shop.queue.enqueue(NewJob("a", "flush"))
    workers = shop.open(flush=flush)
    while not workers.fault():
        threading.Event().wait(0.01)
    assert "full" in workers.fault()
    assert workers.running() == 1
    shop.queue.storage.writer().execute("PRAGMA max_page_count = 100000")
    job, _, _ = shop.next()
    assert (job.state, job.crashes, job.attempts) == (JobState.WAITING, 0, 0)
    assert shop.counters.snapshot()["queue_unavailable"] >= 1
    while workers.fault():
        threading.Event().wait(0.01)


def test_workers_that_never_started_can_be_stopped(shop: Shop) -> None:
    """A daemon that fails half way through its start stops all its parts alike."""
    workers = Workers(shop.queue, {}, 2, clock=shop.clock, counters=shop.counters)
    assert workers.stop(0) is True
    assert workers.dead_threads() == ()


def test_what_was_claimed_but_not_begun_is_given_back(shop: Shop) -> None:
    """A job that came with the last finish is ready again when the workers stop, as if it had not been taken."""
    telling, go_on = threading.Event(), threading.Event()

    def observer(*values: object) -> None:
        if len(values) > 1:
            telling.set()
            go_on.wait(PATIENCE)

    shop.queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush"))
    workers = shop.open(observer=observer, flush=lambda context: Done())
    assert telling.wait(PATIENCE)
    assert shop.queue.counts().claimed == 1
    assert workers.stop(0) is False
    go_on.set()
    assert workers.stop(PATIENCE) is True
    job = shop.queue.get("b")
    assert job is not None
    assert (job.state, job.attempts, job.crashes) == (JobState.READY, 0, 0)


def test_a_store_that_is_gone_kills_no_worker_and_delays_no_stop(shop: Shop) -> None:
    """While it cannot be used the workers say so and try again; told to stop they stop, and the next start takes over."""
    running, go_on = threading.Event(), threading.Event()

    def flush(context: JobContext) -> Outcome:
        running.set()
        go_on.wait(PATIENCE)
        return Done()

    shop.queue.enqueue(NewJob("a", "flush"))
    workers = shop.open(2, flush=flush)
    assert running.wait(PATIENCE)
    shop.queue.close()
    shop.queue.bell.ring(1)
    while not workers.fault():
        threading.Event().wait(0.01)
    assert workers.dead_threads() == ()
    assert workers.stop(0) is False
    go_on.set()
    assert workers.stop(PATIENCE) is True
    assert workers.running() == 0
    again = Shop(Path(shop.queue.storage.filename).parent)
    assert again.queue.void_claims() == 1
    again.close()


def test_a_claim_that_cannot_be_settled_at_all_expires(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the store's own statements leaves the claim to its lease: it is not renewed for ever."""

    def flush(context: JobContext) -> Outcome:
        shop.queue.storage.writer().execute("ALTER TABLE tally RENAME TO elsewhere")
        shop.queue.storage.writer().execute("DROP TABLE elsewhere")
        return Done()

    shop.queue.enqueue(NewJob("a", "flush"))
    workers = shop.open(flush=flush)
    while "Unhandled error" not in caplog.text:
        threading.Event().wait(0.01)
    assert workers.running() == 0
    assert workers.dead_threads() == ()
    assert shop.queue.renew() == 0


def test_huey_can_enqueue_too(shop: Shop) -> None:
    """A task of one of our kinds, enqueued the way huey does it, is a job like any other: JSON, no pickle."""
    seen: list[Any] = []

    def flush(context: JobContext) -> Outcome:
        seen.append(context.job.payload)
        return Done()

    workers = shop.open(flush=flush)
    task_class = workers._huey._registry.string_to_task("flush")
    workers._huey.enqueue(task_class(kwargs={"packet": "p1"}, id="a", priority=3))
    assert shop.next()[0].priority == 3
    workers._huey.enqueue(
        task_class(id="later", eta=dt.datetime.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(hours=1))
    )
    later = shop.queue.get("later")
    assert later is not None
    assert later.not_before == pytest.approx(shop.clock.wall() + 3600, abs=60)
    assert seen == [{"packet": "p1"}]
    assert workers._huey.serializer.serialize({"a": 1}) == b'{"a": 1}'
    assert workers._huey.serializer.deserialize(b'{"a": 1}') == {"a": 1}


def test_a_job_runs_until_its_end_is_told(shop: Shop) -> None:
    """Whoever waits for the last of them sums up what was told: a commit alone is not yet the end."""
    running: queue.Queue[int] = queue.Queue()
    workers: list[Workers] = []

    def observer(*values: object) -> None:
        if len(values) > 1:
            running.put(workers[0].running())

    workers.append(shop.open(observer=observer, flush=lambda _: Done()))
    shop.queue.enqueue(NewJob("a", "flush"))
    assert running.get(timeout=PATIENCE) == 1
