"""The forget job: what goes on the platform, what does not, and what a failure means."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from jobs import forgetting
from jobs.forgetting import Forgotten
from jobs.job import Job, JobState
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from memsyncd.clock import rfc3339
from memsyncd.platforms.owned import ListingCut, OwnedMemory, Owner
from memsyncd.platforms.platform import Busy, PlatformError, Rejected
from tests.clocks import HandClock

AT = 1_800_000_000.0


def memory(identity: str, **more: object) -> OwnedMemory:
    fields: dict[str, object] = {"user_id": "ada", "app_id": "tool", "agent_id": "tool-1", "run_id": "s", **more}
    return OwnedMemory(identity, "words", created_at=rfc3339(AT - 60.0), **fields)  # type: ignore[arg-type]


PROJECT = Forgotten("ada", AT, everything=True, app_id="tool", project_id="tool-1")


@pytest.mark.parametrize(
    ("what", "listed", "goes"),
    [
        (PROJECT, memory("m"), True),
        (PROJECT, memory("m", app_id="tool/sub", agent_id="tool-sub-2"), True),
        (PROJECT, memory("m", app_id="tools"), False),
        (PROJECT, memory("m", agent_id="tool-2"), False),
        (PROJECT, memory("m", agent_id="tool"), False),
        (replace(PROJECT, legacy_id="tool"), memory("m", agent_id="tool"), True),
        (replace(PROJECT, legacy_id="tool"), memory("m", agent_id="tool", app_id="other"), False),
        (PROJECT, memory("m", agent_id=""), True),
        (PROJECT, memory("m", app_id=""), False),
        (Forgotten("ada", AT, everything=True, session_id="s"), memory("m", app_id="x"), True),
        (Forgotten("ada", AT, everything=True, session_id="t"), memory("m"), False),
        (Forgotten("ada", AT, app_id="tool", project_id="tool-1"), memory("m"), False),
        (Forgotten("ada", AT, packets=("p",)), memory("m", app_id="x", metadata={"memsyncd_packet": "p"}), True),
        (Forgotten("ada", AT, packets=("p",)), memory("m", metadata={"memsyncd_packet": "q"}), False),
        (Forgotten("ada", AT, everything=True), memory("m"), False),
    ],
)
def test_only_what_was_asked_for_goes(what: Forgotten, listed: OwnedMemory, goes: bool) -> None:
    """The project with its parts, never another that has the same short name; without a request only what was under
    way."""
    assert what.goes(listed, now=True) is goes


def test_later_looks_leave_what_was_made_since() -> None:
    """A project that goes on after it was forgotten has new memories."""
    since = OwnedMemory("m", "words", app_id="tool", agent_id="tool-1", created_at=rfc3339(AT + 60.0))
    assert PROJECT.goes(since, now=True) and not PROJECT.goes(since, now=False)


@dataclass
class Listed:
    """A platform of lists; `refuses` and `failure` are what it does to deletions."""

    kind: str = "mem0"
    destination: str = "mem0 x"
    has: dict[str, OwnedMemory] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    failure: PlatformError | None = None
    asked: list[Owner] = field(default_factory=list)
    lists_at_most: int = 1_000

    def memories_of(self, owner: Owner, *, pages: int = 50) -> Iterator[Sequence[OwnedMemory]]:
        self.asked.append(owner)
        if self.failure is not None:
            raise self.failure
        found = [each for each in self.has.values() if _is_of(each, owner)]
        yield found[: min(pages, self.lists_at_most)]
        if len(found) > self.lists_at_most:
            raise ListingCut

    def delete(self, memory_id: str) -> bool:
        if memory_id in self.refuses:
            raise Rejected("refused (400)", status=400)
        return self.has.pop(memory_id, None) is not None


def _is_of(each: OwnedMemory, owner: Owner) -> bool:
    told = {"user_id": owner.user_id, "agent_id": owner.project_id, "app_id": owner.app_id, "run_id": owner.run_id}
    return all(getattr(each, name) == wanted for name, wanted in told.items() if wanted)


@dataclass
class Ground:
    """What the job needs of a delivery."""

    platform: Listed
    hands: HandClock = field(default_factory=HandClock)

    @property
    def clock(self) -> object:
        return self.hands.clock()

    def run(self, what: Forgotten = PROJECT, *, until: float = AT + 120.0, attempts: int = 0) -> Outcome:
        new = forgetting.forget_job("k", what, self.platform.destination, until=until, delay=0.0)
        job = Job(
            new.id, new.kind, "", new.destination, JobState.CLAIMED, new.payload, 0, None, attempts, 0, "", (), AT, AT
        )
        return forgetting.forget(JobContext(job, threading.Event()), self, lambda _: 0)  # type: ignore[arg-type]


def test_it_looks_until_the_wait_is_over() -> None:
    """A memory that lands late is found by a later look."""
    ground = Ground(Listed(has={"a": memory("a")}))
    assert ground.run() == Snooze(forgetting.LOOK_SECONDS, "late memories are looked for")
    ground.platform.has["b"] = memory("b")
    ground.hands.move(121.0)
    assert ground.run() == Done("forgotten") and not ground.platform.has
    assert {owner.project_id for owner in ground.platform.asked} == {""}


def test_a_refusal_is_an_attempt_and_costs_no_other_memory() -> None:
    """After five it is a dead letter with its reason."""
    ground = Ground(Listed(has={name: memory(name) for name in "abc"}, refuses=frozenset("b")))
    assert ground.run() == Retry("1 memories could not be deleted: refused (400)")
    assert list(ground.platform.has) == ["b"]
    assert isinstance(ground.run(attempts=4), GiveUp)


def test_a_platform_that_is_away_cools_as_for_every_job() -> None:
    """No attempt is used."""
    ground = Ground(Listed(failure=Busy("busy (503)", status=503, retry_after=9.0)))
    assert ground.run() == Cool("mem0 x", "busy (503)", "busy", 9.0)


def test_shared_memories_are_listed_only_on_request() -> None:
    """By the project that owns them, and by the bare name that older versions shared under (facts 5.16)."""
    ground = Ground(Listed())
    ground.run(Forgotten("ada", AT, everything=True, shared=True, app_id="tool", project_id="tool-1", legacy_id="tool"))
    assert ground.platform.asked == [Owner(user_id="ada"), Owner(project_id="tool-1"), Owner(project_id="tool")]
    ground.platform.asked.clear()
    ground.run(Forgotten("ada", AT, everything=True, shared=True, session_id="s"))  # of a project nobody knows any more
    assert ground.platform.asked == [Owner(user_id="ada")]


@pytest.mark.parametrize(
    "what",
    [
        Forgotten("ada", AT, everything=True, session_id="s"),
        Forgotten("ada", AT, everything=True, app_id="tool", project_id="tool-1"),
        Forgotten("ada", AT, everything=True, shared=True, app_id="tool", project_id="tool-1"),
    ],
)
def test_of_an_owner_with_more_than_is_listed_the_part_is_listed_by_itself(what: Forgotten) -> None:
    """What is to go may lie behind what the platform lists: it is not called deleted before it was looked at."""
    others = {f"o{number}": memory(f"o{number}", app_id="x", agent_id="x-1", run_id="x") for number in range(9)}
    ground = Ground(Listed(has={**others, "m": memory("m")}, lists_at_most=5))
    assert isinstance(ground.run(what), Snooze)
    assert set(ground.platform.has) == set(others)


def test_where_even_the_part_is_not_listed_whole_it_is_looked_at_again_and_told() -> None:
    """What was listed goes; each look finds more of it, until it is all gone or given up with the reason."""
    ground = Ground(Listed(has={f"m{number}": memory(f"m{number}") for number in range(12)}, lists_at_most=5))
    assert ground.run() == Retry(f"some memories could not be deleted: {forgetting.LISTED_IN_PART}")
    assert len(ground.platform.has) == 7
    assert isinstance(ground.run(), Retry) and isinstance(ground.run(), Snooze)
    assert not ground.platform.has


def test_a_request_that_an_earlier_version_left_is_carried_out() -> None:
    """It names no older id."""
    ground = Ground(Listed(has={"m": memory("m")}))
    new = forgetting.forget_job("k", PROJECT, "mem0 x", until=AT, delay=0.0)
    del new.payload["what"]["legacy_id"]
    job = Job(new.id, new.kind, "", new.destination, JobState.CLAIMED, new.payload, 0, None, 0, 0, "", (), AT, AT)
    done = forgetting.forget(JobContext(job, threading.Event()), ground, lambda _: 0)  # type: ignore[arg-type]
    assert done == Done("forgotten") and not ground.platform.has
