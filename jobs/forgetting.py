"""The forget job: deletes on the platform what was asked to be forgotten, one by one, until all of it is gone.

A request that was under way may still become memories: they are looked for until the extraction wait is over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from jobs.delivery import MAX_ATTEMPTS, Delivery
from jobs.failures import after_failure
from jobs.job import NewJob
from jobs.outcomes import Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from memsyncd.clock import from_rfc3339
from memsyncd.platforms.owned import ListingCut, Lists, OwnedMemory, Owner
from memsyncd.platforms.platform import Platform, PlatformError, Rejected

FORGET = "forget"

LOOK_SECONDS = 15.0
"""How often late memories are looked for."""

LISTED_IN_PART = "the platform lists only a part of the memories that it holds: more of these may be among the others"

CLOCK_SECONDS = 5.0
"""By how much the platform's clock may be ahead of ours when it tells what was there before the request to forget."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is to go. `everything` is a request for the platform's memories too; without it only what comes of the
    `packets` goes, which were under way. One of `session_id`, `memory_id` and `app_id` says whose; `shared` is a
    request for what a project's people share, under `project_id` and under `legacy_id`, as older versions did. `at` is
    when it was asked for, Unix seconds."""

    user_id: str
    at: float
    everything: bool = False
    shared: bool = False
    session_id: str = ""
    memory_id: str = ""
    app_id: str = ""
    project_id: str = ""
    packets: Sequence[str] = ()
    legacy_id: str = ""

    def is_whose(self, memory: OwnedMemory) -> bool:
        """Whether a memory is the session's, or the project's or of a part of it (`tool/sub`; facts 14.8)."""
        if self.session_id:
            return memory.run_id == self.session_id
        if not self.app_id:
            return False
        if memory.app_id == self.app_id:
            return memory.agent_id in (
                "",
                self.project_id,
                self.legacy_id,
            )  # another project may have the same short name
        return memory.app_id.startswith(self.app_id + "/")

    def goes(self, memory: OwnedMemory, *, now: bool) -> bool:
        """Whether a listed memory goes. Only a look that is made `now`, with the request, takes what tells no other
        time: later the project has new memories."""
        if str(memory.metadata.get("memsyncd_packet", "")) in self.packets:
            return True
        if not self.everything or not self.is_whose(memory):
            return False
        made = from_rfc3339(memory.created_at)
        return now or made is None or made <= self.at + CLOCK_SECONDS

    def narrower(self, owner: Owner) -> Sequence[Owner]:
        """Return what to list in place of an owner who has more than is listed."""
        if self.session_id:
            return [replace(owner, run_id=self.session_id)]
        projects = [each for each in (self.project_id, self.legacy_id) if each and owner.user_id]
        return [replace(owner, app_id=self.app_id), *(replace(owner, project_id=each) for each in projects)]


@dataclass(slots=True)
class Tally:
    """What became of it: memories deleted and those that were refused, and why a look was not finished."""

    deleted: int = 0
    failed: int = 0
    failure: PlatformError | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether everything that was found is gone."""
        return not self.failed and self.failure is None


def forget_job(key: str, what: Forgotten, destination: str, *, until: float, delay: float) -> NewJob:
    """Return the job that looks from `delay` seconds on, and for late memories up to the Unix time `until`."""
    payload = {name: getattr(what, name) for name in Forgotten.__dataclass_fields__}
    payload["packets"] = list(what.packets)
    return NewJob(
        id=f"{FORGET}:{key}",
        kind=FORGET,
        payload={"what": payload, "until": until},
        destination=destination,
        delay=delay,
        reason="late memories are looked for",
    )


def forget(context: JobContext, delivery: Delivery, forget_late: Callable[[Sequence[str]], object]) -> Outcome:
    """Delete what is found, and look again until the wait is over. `forget_late` does so in this machine's files."""
    payload = context.job.payload
    what = _what(payload["what"])
    try:
        forget_late(what.packets)
    except PlatformError as error:
        return Snooze(LOOK_SECONDS, error.message)
    tally = delete_remotely(delivery.platform, what, now=False)
    if tally.deleted and tally.failure is None:
        context.answered()
    if tally.failure is not None and not isinstance(tally.failure, Rejected):
        return after_failure(tally.failure, delivery.platform.destination)
    if not tally.is_whole:
        why = "; ".join(tally.reasons[:1]) or "refused"
        told = f"{tally.failed or 'some'} memories could not be deleted: {why}"
        return GiveUp(told) if context.job.attempts + 1 >= MAX_ATTEMPTS else Retry(told)
    left = float(payload["until"]) - delivery.clock.wall()
    if left > 0:
        return Snooze(min(LOOK_SECONDS, left), "late memories are looked for")
    return Done("forgotten")


def delete_remotely(
    platform: Platform, what: Forgotten, *, now: bool, on_deleted: Callable[[], object] = lambda: None
) -> Tally:
    """List what the owners have and delete what is to go, one by one by id and never by filter (facts 14.8).

    A refusal costs only its memory. Any other failure ends the look, and is told.
    """
    tally = Tally()
    try:
        if what.memory_id and what.everything:
            _delete(platform, what.memory_id, tally, on_deleted)
        for owner in _owners(what):
            # listed whole before the first goes: what is deleted moves the pages behind it
            listed, left = _listed(platform, owner, what, now=now)
            for memory_id in listed:
                _delete(platform, memory_id, tally, on_deleted)
            if left:
                raise Rejected(LISTED_IN_PART)
    except PlatformError as error:
        tally.failure = error
        tally.reasons.append(error.message)
    return tally


def _listed(platform: Platform, owner: Owner, what: Forgotten, *, now: bool) -> tuple[Sequence[str], bool]:
    """Return the memories of an owner that go, and whether there are some that were not looked at."""
    if platform.kind == "local":
        return (), False
    found, is_cut = _goes(platform, owner, what, now=now)
    if not is_cut:
        return found, False
    looks = [_goes(platform, each, what, now=now) for each in what.narrower(owner)]
    found += [each for more, _ in looks for each in more]
    return list(dict.fromkeys(found)), any(is_cut for _, is_cut in looks)


def _goes(platform: Platform, owner: Owner, what: Forgotten, *, now: bool) -> tuple[list[str], bool]:
    found: list[str] = []
    try:
        for page in cast("Lists", platform).memories_of(owner):  # every platform elsewhere lists
            found += [memory.id for memory in page if what.goes(memory, now=now)]
    except ListingCut:
        return found, True
    return found, False


def _owners(what: Forgotten) -> Sequence[Owner]:
    if what.memory_id or not (what.everything or what.packets):
        return ()
    shared = [each for each in (what.project_id, what.legacy_id) if each] if what.shared else []
    return [Owner(user_id=what.user_id), *(Owner(project_id=each) for each in shared)]


def _delete(platform: Platform, memory_id: str, tally: Tally, on_deleted: Callable[[], object]) -> None:
    try:
        if platform.delete(memory_id):
            tally.deleted += 1
            on_deleted()
    except Rejected as error:
        tally.failed += 1
        tally.reasons.append(error.message)


def _what(document: Mapping[str, Any]) -> Forgotten:
    return Forgotten(**{**document, "packets": tuple(document["packets"])})
