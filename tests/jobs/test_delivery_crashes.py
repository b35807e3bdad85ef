"""The process dies at every step of a delivery and comes back: each event arrives once, within its attempts."""

import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.delivery import MAX_ATTEMPTS
from jobs.job import JobState
from memsyncd.evidence.event import PacketStatus
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import ExtractionState
from tests.fakes.scripted_platform import Add, ScriptedPlatform
from tests.jobs.delivering import MEMORY, Crash, Delivering

pytestmark = pytest.mark.no_cover  # hundreds of deliveries; each step's own tests run every line

WRITES = frozenset(
    {"prepare", "begin_post", "accept_post", "refuse_post", "fail_packet", "close_packet", "forget_slot",
     "restart_wait", "reopen_packet"}
)  # fmt: skip
LONG = "x" * 50_000


class Fuse:
    """Burns at the n-th step it is told of; None: never. `burnt` names the step at which it did."""

    def __init__(self, at: int | None = None) -> None:
        self.left = at
        self.steps = 0
        self.burnt = ""

    def step(self, name: str) -> None:
        self.steps += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                self.burnt = name
                raise Crash


class FusedStore:
    """A store in which the process may die before and after each write."""

    def __init__(self, store: EvidenceStore, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        if name not in WRITES:
            return value

        def write(*arguments: Any, **named: Any) -> Any:
            self._fuse.step(f"evidence: before {name}")
            answer = value(*arguments, **named)
            self._fuse.step(f"evidence: after {name}")
            return answer

        return write


@contextmanager
def fused(fuse: Fuse, platform: ScriptedPlatform) -> Iterator[Delivering]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        made = Delivering(Path(directory), platform, wrap=lambda store: FusedStore(store, fuse))
        platform.on_call = lambda name: fuse.step(f"platform: before {name}")
        platform.on_commit = lambda: fuse.step("platform: after its commit, before its answer")
        made.before_finish = lambda job: fuse.step(f"queue: before the end of a {job.kind}")
        try:
            yield made
        finally:
            made.close()


def run_through(made: Delivering, act: Callable[[], object]) -> bool:
    """Do it; where the process dies, come back. Tell whether it died."""
    try:
        act()
    except Crash:
        made.restart()
        return True
    return False


def session(made: Delivering) -> str:
    made.say("user_prompt", prompt=f"first {LONG}")
    made.say("assistant_stop", text=f"second {LONG}")
    made.exchange(2)
    return made.ask(key="the-end", until=10_000)


def settle(made: Delivering) -> None:
    for _ in range(40):
        run_through(made, lambda: made.run(4_000.0))
        if not made.live_jobs():
            return
    raise AssertionError(f"never at an end: {made.live_jobs()}")


def assert_legal(made: Delivering) -> None:
    for packet in made.packets():
        assert packet.status in set(PacketStatus)
        assert 0 <= packet.attempts <= MAX_ATTEMPTS


SCRIPTS: dict[str, tuple[list[Add], list[ExtractionState]]] = {
    "smooth": ([], []),
    "unheard": ([Add.COMMIT_UNHEARD, Add.LOST], []),
    "failed": ([], [ExtractionState.FAILED, ExtractionState.MISSING]),
    "refused": ([Add.REJECT, Add.BUSY_503, Add.NO_ID], []),
}


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_a_crash_at_any_step_loses_and_doubles_nothing(script: str) -> None:
    """Dead before or after any write, request, commit or finish: every text is delivered once and in order."""
    adds, fates = SCRIPTS[script]
    at, steps = 0, 1
    while at < steps:
        platform = ScriptedPlatform(adds=deque(adds), fates=deque(fates))
        fuse = Fuse(at)
        with fused(fuse, platform) as made:
            job = session(made)
            settle(made)
            delivered = [text[:8] for text in platform.delivered()]
            assert Counter(delivered) == Counter(["first xx", "second x", "question", "answer 2"]), fuse.burnt
            assert made.job(job).state is JobState.DONE, fuse.burnt
            assert_legal(made)
        at, steps = at + 1, max(steps, fuse.steps)
    assert steps > 20


def test_a_crash_after_giving_up_does_not_begin_again() -> None:
    """Five tries are five, also where the process dies between the last one and its record."""
    at, steps = 0, 1
    while at < steps:
        platform = ScriptedPlatform(adds=deque([Add.REJECT] * 20))
        fuse = Fuse(at)
        with fused(fuse, platform) as made:
            made.exchange()
            job = made.ask()
            settle(made)
            assert platform.count("add") in (MAX_ATTEMPTS, MAX_ATTEMPTS + 1), fuse.burnt
            assert (made.packet().status, made.packet().attempts) == (PacketStatus.GAVE_UP, MAX_ATTEMPTS), fuse.burnt
            assert made.job(job).state is JobState.DEAD
        at, steps = at + 1, max(steps, fuse.steps)


ADDS = st.sampled_from([each for each in Add if each is not Add.KEY])
FATES = st.sampled_from(
    [ExtractionState.SUCCEEDED, ExtractionState.FAILED, ExtractionState.MISSING, ExtractionState.RUNNING]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    adds=st.lists(ADDS, max_size=12),
    fates=st.lists(FATES, max_size=6),
    crashes=st.lists(st.integers(0, 30), max_size=4),
    turns=st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_whatever_happens_each_event_arrives_once(
    adds: list[Add], fates: list[ExtractionState], crashes: list[int], turns: list[bool]
) -> None:
    """Any answers, any verdicts, deaths anywhere: what was not given up is delivered once, and nothing is left open."""
    platform = ScriptedPlatform(adds=deque(adds), fates=deque(fates))
    fuse = Fuse()
    with fused(fuse, platform) as made:
        said = 0
        for is_end in turns:
            fuse.left = crashes.pop() if crashes else None
            said += 1
            made.exchange(said)
            if is_end:
                made.ask()
            run_through(made, lambda: made.run(50.0))
        made.ask()
        fuse.left = None
        for _ in range(10):
            run_through(made, lambda: made.run(400.0))
            platform.end()
        settle(made)
        assert_legal(made)
        packets = made.packets()
        assert all(not packet.is_open for packet in packets)
        assert made.evidence.counts()["unflushed"] == 0
        given_up = {
            event.payload.get("prompt") or event.payload.get("text")
            for packet in packets
            if packet.status == PacketStatus.GAVE_UP
            for event in made.evidence.packet_events(packet.packet_id)
        }
        arrived = Counter(platform.delivered())
        expected = {text for n in range(1, said + 1) for text in (f"question {n}", f"answer {n}")}
        assert all(arrived[text] == 1 for text in expected - given_up), arrived
        assert all(count == 1 for count in arrived.values()), arrived
