"""A queue in plain Python, slow and simple: what every store is to do, for the state machine to compare with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from jobs.job import JobState
from jobs.outcomes import Cool, Outcome
from jobs.queue import policy
from jobs.queue.contract import Destination
from jobs.queue.policy import Policy

R, C, W = JobState.READY, JobState.CLAIMED, JobState.WAITING


@dataclass
class Row:
    """A job."""

    id: str
    seq: int
    lane: str
    destination: str
    priority: int
    state: JobState = R
    not_before: float = 0.0
    attempts: int = 0
    crashes: int = 0
    cools: int = 0
    expires: float = 0.0
    living: bool = False
    epoch: int = 0
    runs: int = 0  # claims so far: tells this one from an earlier one


@dataclass
class Place:
    """A destination."""

    is_now: Destination
    epoch: int = 0
    probe: str = ""


@dataclass
class Model:
    """The whole queue at the Unix time `now`."""

    lease: float
    now: float
    lived: float = 0.0
    settings: Policy = field(default_factory=Policy)
    rows: dict[str, Row] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)

    def place(self, name: str) -> Place:
        """Return a destination, known from now on."""
        fresh = Destination(name, None, "", "", 0, parked=False, since=None, last_success_at=None)
        return self.places.setdefault(name, Place(fresh))

    def enqueue(self, job_id: str, lane: str, destination: str, priority: int, delay: float) -> int:
        """Store a job that is new."""
        if job_id in self.rows:
            return 0
        self.place(destination)
        row = Row(job_id, len(self.rows), lane, destination, priority)
        if delay:
            row.state, row.not_before = W, self.now + delay
        self.rows[job_id] = row
        return 1

    def shown(self, row: Row) -> JobState:
        """Return the state that is told: a ready job of a cooling destination waits."""
        return W if row.state is R and self.place(row.destination).is_now.until is not None else row.state

    def claim(self) -> Row | None:
        """Take the next job; those that a young daemon leaves alone are put off."""
        while (row := self._next()) is not None:
            wait = policy.trial_wait(row.id, row.crashes, self.lived, self.settings)
            if not wait:
                break
            row.state, row.not_before = W, self.now + wait
        if row is None:
            return None
        place = self.place(row.destination)
        row.state, row.expires, row.living, row.epoch = C, self.now + self.lease, True, place.epoch
        row.runs += 1
        if place.is_now.until is not None:
            place.probe = row.id
        return row

    def _next(self) -> Row | None:
        for row in self.rows.values():
            if row.state is C and row.expires <= self.now:
                if row.living:
                    row.expires = self.now + self.lease
                else:
                    self.crash(row)
        for row in self.rows.values():
            if row.state is W and row.not_before <= self.now:
                row.state = R
        firsts = []
        for name, place in self.places.items():
            until = place.is_now.until
            if until is not None and (until > self.now or place.probe):
                continue
            heads = [row for row in self.rows.values() if row.destination == name and self._is_head(row)]
            firsts += sorted(heads, key=lambda row: (row.cools, -row.priority, row.seq))[:1]
        if not firsts:
            return None
        return min(firsts, key=lambda row: (-row.priority, row.seq))

    def _is_head(self, row: Row) -> bool:
        if row.state is not R:
            return False
        mates = [each for each in self.rows.values() if row.lane and each.lane == row.lane]
        if any(mate.state is C for mate in mates):
            return False
        return all(
            (row.priority, -row.seq) >= (mate.priority, -mate.seq)
            for mate in mates
            if mate.state is R and mate.destination == row.destination
        )

    def finish(self, row: Row, outcome: Outcome, *, answered: bool) -> None:
        """Apply the outcome of a claimed job's run."""
        verdict = policy.settle(outcome, row.attempts, self.settings, 0.5)
        place = self.place(row.destination)
        if answered:
            place.is_now = policy.replace(place.is_now, last_success_at=self.now)
            if row.epoch == place.epoch:
                self.release(row.destination)
                row.epoch = place.epoch
        self.wake(lambda each: each.id in verdict.wake)
        ended = self.rows.get(verdict.ends)
        if ended is not None and ended.state is W and row.lane and ended.lane == row.lane:
            ended.state, ended.crashes, ended.cools = JobState.DONE, 0, 0
        row.attempts, row.state, row.not_before = verdict.attempts, verdict.state, self.now + verdict.delay
        row.crashes = 0
        row.cools = row.cools + 1 if verdict.cool else 0
        if verdict.cool is not None:
            self._cool(row, verdict.cool)
        self.end_probe(row)
        if verdict.wake_lane and row.lane:
            self.wake(lambda each: each.lane == row.lane)

    def _cool(self, row: Row, cool: Cool) -> None:
        place = self.place(cool.destination)
        own = cool.destination == row.destination
        if own and row.epoch != place.epoch:
            place.is_now = policy.cooled_by_straggler(place.is_now, cool, self.settings, self.now)
        else:
            place.is_now = policy.cooled(place.is_now, cool, self.settings, self.now, 0.5)
            place.epoch += 1
        if not own and place.is_now.until is not None:
            row.state, row.not_before = W, place.is_now.until

    def release(self, name: str) -> int:
        """End a cooldown."""
        place = self.place(name)
        if place.is_now.until is None:
            return 0
        place.is_now, place.probe = policy.released(place.is_now), ""
        place.epoch += 1
        return sum(row.state is R and row.destination == name for row in self.rows.values())

    def end_probe(self, row: Row) -> None:
        """Let another be the probe."""
        if self.place(row.destination).probe == row.id:
            self.place(row.destination).probe = ""

    def crash(self, row: Row, *, daemon_died: bool = False) -> None:
        """Give a claim back whose worker is gone."""
        row.crashes += 1
        row.state, _ = policy.after_crash(row.crashes, self.settings, daemon_died=daemon_died)
        self.end_probe(row)

    def void(self) -> int:
        """Crash every claim."""
        claimed = [row for row in self.rows.values() if row.state is C]
        for row in claimed:
            self.crash(row, daemon_died=True)
        for place in self.places.values():
            place.probe = ""
        return len(claimed)

    def wake(self, which: Callable[[Row], bool]) -> int:
        """Make waiting jobs ready; return how many are not held."""
        waiting = [row for row in self.rows.values() if row.state is W and which(row)]
        for row in waiting:
            row.state = R
        return sum(self.shown(row) is R for row in waiting)

    def shift(self, seconds: float) -> None:
        """Move every time."""
        self.now += seconds
        for row in self.rows.values():
            row.not_before += seconds
            row.expires += seconds
        for place in self.places.values():
            if place.is_now.until is not None:
                place.is_now = policy.replace(place.is_now, until=place.is_now.until + seconds)
