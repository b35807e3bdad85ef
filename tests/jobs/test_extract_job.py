"""The extract job: real queue, evidence and embedded platform on disk, a fake model on loopback, a clock moved by hand."""

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.extract import extract, is_worth_waiting
from jobs.job import JobState
from jobs.left_to_model import AWAY_FAILURES, EXTRACT, Extracting, extract_job, stand
from jobs.outcomes import Snooze
from memsyncd.counters import Counters
from memsyncd.evidence.event import PacketStatus
from memsyncd.extracting.budget import Budget, Limits
from memsyncd.extracting.client import ModelClient
from memsyncd.extracting.extractor import Extractor
from memsyncd.platforms.local import deleting
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    Memory,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    Query,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings
from memsyncd.redaction import redact
from tests.clocks import HandClock
from tests.fakes import mem0_behaviours as behave
from tests.fakes.model_server import MODEL, FakeModel, says
from tests.jobs.delivering import MEMORY, Delivering
from tests.memsyncd.extracting.test_model_client import Key

WAIT = 80.0


class WithModel:
    """A delivery whose embedded platform leaves its memories to a fake model. `restart` is the process's death."""

    def __init__(self, directory: Path, fake: FakeModel, limits: Limits, call_seconds: float) -> None:
        self.fake = fake
        self.hands = HandClock()
        self.counters = Counters()
        self.told: list[str] = []
        self.held: str | None = None
        self._limits, self._call_seconds = limits, call_seconds
        self.path = directory / "memory.sqlite3"
        self.platform = LocalPlatform(self.path, self.hands.clock())
        self.made = Delivering(directory, self.platform, hands=self.hands)
        self._tie()

    def _tie(self) -> None:
        clock = self.hands.clock()
        self.client = ModelClient(self.fake.url, MODEL, Key(), HttpSettings(), clock)
        self.budget = Budget(self.path, clock, self._limits)
        self.extracting = Extracting(
            platform=self.platform,
            queue=self.made.queue,
            extractions=self.made.extractions,
            extractor=Extractor(
                self.client, self.budget, clock, redact=redact, piece_tokens=6_000, call_seconds=self._call_seconds
            ),
            clock=clock,
            counters=self.counters,
            wait_seconds=WAIT,
            hold=lambda: self.held,
            report=self.told.append,
        )
        self.platform.on_accepted = self.extracting.accepted
        self.platform.is_left = self.extracting.is_left
        self.made.handlers = {
            **self.made.handlers,
            EXTRACT: lambda context, delivery: extract(context, self.extracting),
        }
        self.extracting.resume()

    def close(self) -> None:
        self.made.close()
        self.platform.close()
        self.client.close()
        self.budget.close()

    def restart(self) -> None:
        self.close()
        self.platform = LocalPlatform(self.path, self.hands.clock())
        self.made.platform = self.platform
        self.made.open()
        self._tie()

    def say(self, text: str, session: str = "s") -> str:
        """Record an exchange and ask for its delivery; return the checkpoint's id."""
        self.made.say("user_prompt", session, prompt=text)
        self.made.say("assistant_stop", session, text="Noted.")
        return self.made.ask(session)

    def memories(
        self, question: str = "which database does the orders service use", top_k: int = 20
    ) -> Sequence[Memory]:
        return self.platform.search(Query(question, "ada", "team-tool", ("team-tool-0123",), top_k=top_k))

    def makers(self) -> set[str]:
        return {str(memory.metadata["made_by"]) for memory in self.memories()}

    def jobs(self, *states: JobState) -> list[str]:
        return [job.id for state in states for job in self.made.queue.jobs(state=state, kind=EXTRACT)]

    def counted(self, name: str) -> int:
        return self.counters.snapshot().get(name, 0)


SAID = "From now on we always use PostgreSQL 16 for the orders service."


@contextmanager
def with_model(*, limits: Limits | None = None, call_seconds: float = 60.0) -> Iterator[WithModel]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory, FakeModel() as fake:
        made = WithModel(Path(directory), fake, limits or Limits(), call_seconds)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def model() -> Iterator[WithModel]:
    with with_model() as made:
        yield made


def test_the_model_makes_the_memories_and_the_flush_hears_of_it_at_once(model: WithModel) -> None:
    """No time but the model's own passes between acceptance and delivery: nobody waits for the next question."""
    job = model.say(SAID)
    model.made.run(1.5)  # the first question is due after a second
    assert model.made.job(job).state is JobState.DONE
    assert model.made.packet().status == PacketStatus.SUCCEEDED
    assert [memory.memory for memory in model.memories()] == [SAID]
    assert model.makers() == {"model"}
    assert model.counted("extractor_batches_by_model") == 1
    assert model.told == [""]


def test_without_a_model_the_memory_says_the_rules_made_it(model: WithModel) -> None:
    """As it does where the model was no help."""
    model.fake.always(says("I cannot do that."))
    job = model.say(SAID)
    model.made.run(1.5)
    assert model.made.job(job).state is JobState.DONE
    assert model.makers() == {"rules"}
    assert model.counted("extractor_nonsense") == model.counted("extractor_batches_by_rules") == 1
    assert "cannot be used" in model.told[0]


def test_a_flush_never_waits_in_a_worker(model: WithModel) -> None:
    """The add answers at once; only the extract job is held up by the model."""
    model.say(SAID)
    while model.made.packets() == [] or not model.made.packet().slots:
        assert model.made.step()
    assert model.fake.requests() == []
    assert len(model.jobs(JobState.READY)) == 1


def test_a_model_that_is_away_costs_one_cooldown_once(model: WithModel) -> None:
    """The first batch waits for one probe, the following ones for nothing; when the model is back it makes them again."""
    model.fake.stop_listening()
    first = model.say(SAID)
    model.made.run(40.0)
    assert model.made.job(first).state is JobState.DONE
    assert model.makers() == {"rules"}
    assert model.counted("extractor_away") == 1
    for number in range(5):
        job = model.say(f"From now on host{number} is restarted by the operator.", f"t{number}")
        model.made.run(1.5)
        assert model.made.job(job).state is JobState.DONE
    assert len(model.jobs(JobState.READY, JobState.WAITING)) == 1, "its probe, and no more"
    model.fake.listen()
    model.made.run(120.0)
    assert model.jobs(JobState.READY, JobState.WAITING) == []
    assert not model.extracting.is_failing(), "a probe found it back without a batch to ask it about"
    model.say("From now on the archive lives in Frankfurt.", "u")
    model.made.run(1.5)
    assert model.counted("extractor_batches_by_model") == 1


@pytest.mark.parametrize(
    ("behaviour", "seconds", "kind"),
    [
        (behave.hang(), 1.5, "extractor_slow"),
        (behave.cut(), 60.0, "extractor_slow"),
        (behave.busy(500), 60.0, "extractor_away"),
        (behave.busy(429), 60.0, "extractor_away"),
        (behave.refuse_key(), 60.0, "extractor_away"),
        (behave.answer(200, b"not json"), 60.0, "extractor_away"),
        (behave.html(), 60.0, "extractor_away"),
        (behave.reject(400, "context length exceeded"), 60.0, "extractor_refused"),
        (says("nonsense"), 60.0, "extractor_nonsense"),
    ],
)
def test_whatever_the_model_does_the_batch_is_delivered(behaviour: behave.Behaviour, seconds: float, kind: str) -> None:
    """At once, by the rules, with a counter that says why."""
    with with_model(call_seconds=seconds) as model:
        model.fake.always(behaviour)
        job = model.say(SAID)
        model.made.run(3.0)
        assert model.made.job(job).state is JobState.DONE
        assert model.makers() == {"rules"}
        assert model.counted(kind) == model.counted("extractor_batches_by_rules") == 1
        assert model.made.packet().attempts == 0


@pytest.mark.parametrize("behaviour", [behave.busy(500), behave.busy(429, "60"), behave.refuse_key()])
def test_while_the_model_cools_for_long_no_batch_waits(model: WithModel, behaviour: behave.Behaviour) -> None:
    """The one that met the failure does not, and none of those that come after it."""
    model.fake.always(behaviour)
    for number in range(3):
        job = model.say(f"From now on host{number} is restarted by the operator.", f"t{number}")
        model.made.run(1.5)
        assert model.made.job(job).state is JobState.DONE
    assert model.counted("extractor_away") == 3
    assert len(model.fake.requests()) == 1


def test_a_slow_model_is_told_of(model: WithModel) -> None:
    """Though it is soon found to be there: the next batch will wait as long."""
    model.fake.script(behave.cut())
    model.say(SAID)
    model.made.run(20.0)
    assert not model.extracting.is_failing()
    assert "extractor.timeout_seconds" in model.told[-1]


def test_a_short_retry_after_is_worth_waiting_for(model: WithModel) -> None:
    """A model that says when it is free again makes the memories then."""
    model.fake.script(behave.busy(429, "5"))
    job = model.say(SAID)
    model.made.run(30.0)
    assert model.made.job(job).state is JobState.DONE
    assert model.makers() == {"model"}
    assert len(model.fake.requests()) == 2


def test_a_wait_has_an_end_though_nobody_runs_the_job(model: WithModel) -> None:
    """A backlog the model cannot keep up with: what has waited its time is made by the rules, in time for its flush."""
    model.made.handlers = {**model.made.handlers, EXTRACT: _never_comes}
    job = model.say(SAID)
    model.made.run(WAIT - 1.0)
    assert model.made.job(job).state is JobState.WAITING
    model.made.run(30.0)
    assert model.made.job(job).state is JobState.DONE
    assert model.makers() == {"rules"}
    assert model.counted("extractor_slow") == 1
    assert model.made.packet().attempts == 0


def _never_comes(context: object, delivery: object) -> Snooze:
    return Snooze(10.0, "another batch is with the model")


def test_an_answer_that_comes_too_late_changes_nothing(model: WithModel) -> None:
    """The rules were first: the batch has one maker."""
    model.say(SAID)
    while not model.jobs(JobState.READY):
        assert model.made.step()

    def meanwhile(piece: object) -> list[dict[str, str]]:
        waiting = model.platform.pending_batch(event)
        assert waiting is not None
        model.extracting.fall_back(event, waiting[0], "slow")
        return [{"text": SAID, "category": "results", "lane": "project"}]

    (event,) = model.platform.pending()
    model.fake.remember = meanwhile
    model.made.run(5.0)
    assert model.makers() == {"rules"}
    assert model.counted("extractor_late_answers") == 1
    assert model.counted("extractor_batches_by_model") == 0


def test_what_is_forgotten_while_the_model_thinks_stays_forgotten(model: WithModel) -> None:
    """Its answer finds no batch any more, and nothing is stored."""

    def meanwhile(piece: object) -> list[dict[str, str]]:
        deleting.delete(model.path, deleting.Whose(run_id="s"), at="2026-11-30T10:00:00.000Z")
        return [{"text": SAID, "category": "results", "lane": "project"}]

    model.fake.remember = meanwhile
    model.say(SAID)
    while not model.fake.requests():
        assert model.made.step()
    assert model.memories() == []
    assert model.platform.pending() == []
    assert model.counted("extractor_late_answers") == 1


WAYS = {
    "good": behave.NORMAL,
    "nonsense": says("no"),
    "busy": behave.busy(500),
    "soon": behave.busy(429, "3"),
    "cut": behave.cut(),
    "refused": behave.reject(400),
    "key": behave.refuse_key(),
}


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([*WAYS, "away"]), st.booleans(), st.floats(0.0, 70.0)), min_size=1, max_size=5)
)
def test_whatever_happens_each_batch_is_delivered_and_made_once(steps: list[tuple[str, bool, float]]) -> None:
    """Any answers, absences, restarts and pauses between them: no attempt is lost, and the counters add up."""
    with with_model() as model:
        asked = []
        for number, (way, dies, seconds) in enumerate(steps):
            if way == "away":
                model.fake.stop_listening()
            else:
                model.fake.listen()
                model.fake.always(WAYS[way])
            asked.append(model.say(f"From now on host{number} is restarted by the operator.", f"t{number}"))
            model.made.step()
            if dies:
                model.restart()
            model.made.run(seconds)
        model.fake.listen()
        model.fake.always(None)
        model.made.run(1_000.0)
        assert {model.made.job(job).state for job in asked} == {JobState.DONE}
        assert {packet.attempts for packet in model.made.packets()} == {0}
        found = model.memories("who restarts the host")
        assert sorted(memory.memory for memory in found) == sorted(
            f"From now on host{number} is restarted by the operator." for number in range(len(steps))
        )
        by_model = sum(memory.metadata["made_by"] == "model" for memory in found)
        assert model.counted("extractor_batches_by_model") == by_model
        assert model.counted("extractor_batches_by_rules") == len(steps) - by_model
        assert model.jobs(JobState.READY, JobState.WAITING, JobState.DEAD) == []


def test_the_process_dies_while_the_model_thinks_and_nothing_is_lost(model: WithModel) -> None:
    """The job is taken up again after the restart; the batch's memories exist once, and its packet is delivered once."""
    job = model.say(SAID)
    while not model.jobs(JobState.READY):
        assert model.made.step()
    claim = model.made.queue.claim()
    assert claim is not None
    assert claim.job.kind == EXTRACT
    event = str(claim.job.payload["event"])
    batch, _ = model.platform.pending_batch(event) or (None, 0.0)
    assert batch is not None
    model.extracting.extractor.memories(batch, 5.0, answered=lambda: None, stopping=threading.Event())
    model.restart()  # answered, and nothing of it stored
    model.made.run(10.0)
    assert model.made.job(job).state is JobState.DONE
    assert [memory.memory for memory in model.memories()] == [SAID]
    assert model.made.packet().status == PacketStatus.SUCCEEDED
    assert len(model.made.packets()) == 1


def test_a_batch_accepted_just_before_a_death_has_its_job_after_it(model: WithModel) -> None:
    """The platform is the truth: what waits there is queued at the start."""
    model.platform.on_accepted = lambda _: None
    model.say(SAID)
    while not model.platform.pending():
        assert model.made.step()
    assert model.jobs(JobState.READY) == []
    model.restart()
    assert len(model.jobs(JobState.READY)) == 1
    model.made.run(10.0)
    assert model.makers() == {"model"}


def test_a_batch_sent_again_is_asked_about_again(model: WithModel) -> None:
    """Its extraction failed and was forgotten: the finished job of the same event is opened anew."""
    model.say(SAID)
    model.made.run(5.0)
    (done,) = model.jobs(JobState.DONE)
    model.extracting.accepted(str(model.made.job(done).payload["event"]))
    assert model.jobs(JobState.READY) == [done]


def test_over_budget_the_rules_go_on(tmp_path: Path) -> None:
    """The session's bound holds, and the status can say which it was."""
    with with_model(limits=Limits(session_calls=1)) as model:
        model.say(SAID)
        model.made.run(5.0)
        job = model.say("From now on host7 is restarted by the operator.")
        model.made.run(5.0)
        assert model.made.job(job).state is JobState.DONE
        assert model.counted("extractor_over_budget") == 1
        assert "extractor.session_calls" in model.told[-1]
        assert len(model.fake.requests()) == 1


def test_while_paused_nothing_is_sent(model: WithModel) -> None:
    """A batch accepted before the pause is made by the rules, which send nothing."""
    model.held = "paused"
    job = model.say(SAID)
    model.made.run(WAIT + 25.0)
    assert model.made.job(job).state is JobState.DONE
    assert model.makers() == {"rules"}
    assert model.fake.requests() == []


def test_the_clock_set_back_makes_no_batch_wait_for_ever(model: WithModel) -> None:
    """One that seems to come from the future waits no more."""
    now = model.hands.wall_now
    assert model.extracting.seconds_left(now) == WAIT
    assert model.extracting.seconds_left(now - 30.0) == WAIT - 30.0
    assert model.extracting.seconds_left(now + 1.0) > WAIT
    assert model.extracting.seconds_left(now + 3_600.0) == 0.0


def test_jobs_of_another_model_are_cancelled_at_the_start(model: WithModel) -> None:
    """Their batches are made by the present one, or by the rules."""
    ours, other = extract_job("e1", "extractor:http://here"), extract_job("e1", "extractor:http://there")
    model.made.queue.enqueue(ours, other)
    stand(model.made.queue, "extractor:http://here")
    assert model.made.job(other.id).state is JobState.CANCELLED
    assert model.made.job(ours.id).state is JobState.READY
    stand(model.made.queue, None)
    assert model.made.job(ours.id).state is JobState.CANCELLED


def test_batches_go_to_the_model_in_their_order(model: WithModel) -> None:
    """One at a time, so that of two statements the later overrules the earlier."""
    for number in range(4):
        model.say(f"From now on host{number} is restarted by the operator.", f"s{number}")
    model.made.run(10.0)
    asked = [body["messages"][1]["content"] for body in model.fake.requests()]
    assert [next(number for number in range(4) if f"host{number}" in text) for text in asked] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("error", "is_first", "left", "worth"),
    [
        (Unreachable("no"), True, 80.0, True),
        (Unreachable("no"), False, 80.0, False),
        (Unreachable("no"), True, 0.0, False),
        (NoAnswer("no"), True, 80.0, False),
        (NotUnderstood("no"), True, 80.0, False),
        (KeyRefused("no"), True, 80.0, False),
        (Busy("no", status=503), True, 80.0, False),
        (Busy("no", status=429, retry_after=5.0), True, 80.0, True),
        (Busy("no", status=429, retry_after=5.0), True, 4.0, False),
        (Busy("no", status=429, retry_after=5.0), False, 80.0, False),
        (Busy("no", status=429, retry_after=50.0), True, 80.0, False),
    ],
)
def test_when_waiting_is_worth_it(error: PlatformError, is_first: bool, left: float, worth: bool) -> None:
    """A server that just starts, and one that names a time soon enough."""
    assert is_worth_waiting(error, is_first=is_first, left=left) == worth
    assert AWAY_FAILURES == 2
